import { getRouteApi } from "@tanstack/react-router"
import { Mail as Icon } from "lucide-react"
import { useMemo } from "react"
import { api, take, type Schema } from "@/api/client"
import { agoText, momentText } from "@/kit/dates"
import { Choice, List, useList, type Column } from "@/kit/list"
import { t } from "@/kit/text"
import { Frame } from "./frame"

type Mail = Schema<"SentMail">

const route = getRouteApi("/settings/mails")
const looks = { queued: "accent", sending: "accent", retrying: "warn", sent: "good", failed: "bad", unknown: "warn" } as const

/** The mails of the last 30 days, and what became of them. */
export function Mails() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useList(["mails", "list", search], (cursor, signal) => take(api.GET("/mails", { params: { query: { ...search, per_page: 50, cursor } }, signal })))
  const columns = useMemo((): Column<Mail>[] => [
    { key: "subject", label: t("settings.mail"), cell: (m) => (
      <span className="cell-main"><b className="cell-text">{m.subject}</b><small className="cell-text">{m.to}</small></span>
    ) },
    { key: "status", label: t("settings.mail_status"), width: 14, under: true, cell: (m) => (
      <span className="cell-main">
        <span><span className={`mark mark--${looks[m.status]}`}>{t(`settings.mail_status.${m.status}`)}</span></span>
        {m.error && <small className="cell-text" title={m.error}>{m.error}</small>}
      </span>
    ) },
    { key: "attempts", label: t("settings.mail_attempts"), width: 7, hides: 2, end: true, cell: (m) => m.attempts },
    { key: "at", label: t("settings.mail_at"), hides: 1, end: true, cell: (m) => <time className="soft nowrap" dateTime={m.sent_at ?? m.created_at} title={momentText(m.sent_at ?? m.created_at)}>{agoText(m.sent_at ?? m.created_at)}</time> },
  ], [])
  return (
    <Frame at="mails" wide>
      <div className="row between">
        <p className="soft">{t("settings.mails_text")}</p>
        <Choice label={t("settings.mail_status")} value={search.status} options={(Object.keys(looks) as Mail["status"][]).map((value) => ({ value, label: t(`settings.mail_status.${value}`) }))} onChange={(status) => void navigate({ search: status ? { status } : {}, replace: true })} />
      </div>
      <div className="settings-list"><List list={list} columns={columns} keeps="mails" id={(m) => m.id} name={t("nav.mails")} filtered={search.status !== undefined} onClear={() => void navigate({ search: {} })} empty={{ icon: Icon, title: t("settings.no_mails"), text: t("settings.no_mails_text") }} /></div>
    </Frame>
  )
}
