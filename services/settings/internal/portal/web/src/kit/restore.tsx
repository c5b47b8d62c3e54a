import { useQueryClient } from "@tanstack/react-query"
import { RotateCcw } from "lucide-react"
import { useState } from "react"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { can, type Capability } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"

/** Takes a record with this name out of the trash by send, says how that went, and answers whether it is back. Queries that begin with noun load again. */
export function useRestore(noun: string) {
  const queries = useQueryClient()
  return async (name: string, send: () => Promise<unknown>) => {
    try {
      await send()
    } catch (e) {
      toastFault(e)
      return false
    }
    void queries.invalidateQueries({ queryKey: [noun] })
    toast(t("trash.restored", { name }))
    return true
  }
}

/** Since when a record is in the trash, and the way back for who has the permission. */
export function Restore({ noun, name, at, permission, send }: { noun: string; name: string; at: string; permission: Capability; send: () => Promise<unknown> }) {
  const back = useRestore(noun)
  const [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    if (!(await back(name, send))) setBusy(false)
  }
  return (
    <span className="restore">
      <time className="soft nowrap" dateTime={at} title={momentText(at)}>{agoText(at)}</time>
      {can(permission) && <Button small busy={busy} icon={<RotateCcw aria-hidden />} aria-label={t("trash.restore_one", { name })} onClick={() => void restore()}>{t("trash.restore")}</Button>}
    </span>
  )
}
