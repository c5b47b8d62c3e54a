import { getRouteApi } from "@tanstack/react-router"
import { Mail as Icon } from "lucide-react"
import { useMemo, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { Checks } from "@/kit/checks"
import { agoText, momentText } from "@/kit/dates"
import { Choice, List, useList, type Column } from "@/kit/list"
import { saying } from "@/kit/problem"
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
      <Checks only={["mail"]} />
      <div className="row between">
        <p className="soft">{t("settings.mails_text")}</p>
        <Test />
        <Choice label={t("settings.mail_status")} value={search.status} options={(Object.keys(looks) as Mail["status"][]).map((value) => ({ value, label: t(`settings.mail_status.${value}`) }))} onChange={(status) => void navigate({ search: status ? { status } : {}, replace: true })} />
      </div>
      <div className="settings-list"><List list={list} columns={columns} keeps="mails" id={(m) => m.id} name={t("nav.mails")} filtered={search.status !== undefined} onClear={() => void navigate({ search: {} })} empty={{ icon: Icon, title: t("settings.no_mails"), text: t("settings.no_mails_text") }} /></div>
    </Frame>
  )
}

/** Sends the person one mail, and shows what the server said to it. */
function Test() {
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState<{ sent: boolean; title: string; answer: string }>()
  const send = async () => {
    setBusy(true)
    try {
      const { sent, server, answer } = await take(api.POST("/settings/mail-test", {}))
      setSaid({ sent, answer, title: server === "" ? t("settings.mail_test_none") : t(sent ? "settings.mail_test_sent" : "settings.mail_test_refused", { server }) })
    } catch (e) {
      setSaid({ sent: false, title: t("settings.mail_test_failed"), answer: saying(asFault(e)) })
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button busy={busy} onClick={() => void send()}>{t("settings.mail_test")}</Button>
      <div role="status" className="mail-test">
        {said && <p className={said.sent ? "notice" : "notice notice--bad"}><span><b>{said.title}</b><br /><code>{said.answer}</code></span></p>}
      </div>
    </>
  )
}
