import { useQueryClient } from "@tanstack/react-query"
import { RotateCcw } from "lucide-react"
import { useState } from "react"
import { api } from "@/api/client"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"

/** Since when a record is in the trash, and the way back. */
export function Restore({ kind, id, name, at }: { kind: "contacts" | "organizations"; id: string; name: string; at: string }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    try {
      await api.POST(`/${kind}/{id}/restore`, { params: { path: { id } } })
      void queries.invalidateQueries({ queryKey: [kind] })
      toast(t("contacts.restored", { name }))
    } catch (e) {
      toastFault(e)
      setBusy(false)
    }
  }
  return (
    <span className="restore">
      <time className="soft nowrap" dateTime={at} title={momentText(at)}>{agoText(at)}</time>
      {can("svc_delete_contacts") && <Button small busy={busy} icon={<RotateCcw aria-hidden />} aria-label={t("contacts.restore_one", { name })} onClick={() => void restore()}>{t("contacts.restore")}</Button>}
    </span>
  )
}
