import { useQueryClient } from "@tanstack/react-query"
import { RotateCcw } from "lucide-react"
import { useState } from "react"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { can, type Capability } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"

/** Since when a record is in the trash, and the way back for who has the permission. Queries that begin with noun load again. */
export function Restore({ noun, name, at, permission, send }: { noun: string; name: string; at: string; permission: Capability; send: () => Promise<unknown> }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    try {
      await send()
      void queries.invalidateQueries({ queryKey: [noun] })
      toast(t("trash.restored", { name }))
    } catch (e) {
      toastFault(e)
      setBusy(false)
    }
  }
  return (
    <span className="restore">
      <time className="soft nowrap" dateTime={at} title={momentText(at)}>{agoText(at)}</time>
      {can(permission) && <Button small busy={busy} icon={<RotateCcw aria-hidden />} aria-label={t("trash.restore_one", { name })} onClick={() => void restore()}>{t("trash.restore")}</Button>}
    </span>
  )
}
