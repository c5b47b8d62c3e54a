import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Mail as Icon, RotateCcw } from "lucide-react"
import { lazy, Suspense, useMemo, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button, ButtonLink } from "@/kit/button"
import { Checks } from "@/kit/checks"
import { agoText, momentText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Choice, List, useList, type Column } from "@/kit/list"
import { saying } from "@/kit/problem"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Frame } from "./frame"
import type { Language } from "./mail-templates"

type Mail = Schema<"SentMail">

const route = getRouteApi("/settings/mails")
const Templates = lazy(() => import("./mail-templates"))
const looks = { queued: "accent", sending: "accent", retrying: "warn", sent: "good", failed: "bad", unknown: "warn" } as const

/** The mails of the last 30 days and what became of them; or, with a kind in the address, the words of the mails to clients. */
export function Mails() {
  const { kind, language } = route.useSearch()
  const navigate = route.useNavigate()
  if (kind === undefined) return <Sent />
  return (
    <Frame at="mails" wide>
      <Suspense fallback={<Skeleton lines={8} />}>
        <Templates kind={kind} language={language as Language | undefined} onChoose={(k, l) => void navigate({ search: { kind: k, language: l }, replace: true })} />
      </Suspense>
    </Frame>
  )
}

function Sent() {
  const { status, mail: open } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useList(["mails", "list", { status }], (cursor, signal) => take(api.GET("/mails", { params: { query: { status, per_page: 50, cursor } }, signal })))
  const columns = useMemo((): Column<Mail>[] => [
    { key: "subject", label: t("settings.mail"), cell: (m) => (
      <span className="cell-main"><Link to="/settings/mails" search={(old) => ({ ...old, mail: m.id })} replace className="row-link cell-text">{m.subject}</Link><small className="cell-text">{m.to}</small></span>
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
      <p className="soft">{t("settings.mails_text")}</p>
      <div className="row mail-tools">
        <Choice label={t("settings.mail_status")} value={status} options={(Object.keys(looks) as Mail["status"][]).map((value) => ({ value, label: t(`settings.mail_status.${value}`) }))} onChange={(chosen) => void navigate({ search: chosen ? { status: chosen } : {}, replace: true })} />
        <ButtonLink to="/settings/mails" search={{ kind: "appointment.booked" }}>{t("settings.templates")}</ButtonLink>
        <Test />
      </div>
      <div className="settings-list"><List list={list} columns={columns} keeps="mails" id={(m) => m.id} name={t("nav.mails")} filtered={status !== undefined} onClear={() => void navigate({ search: {} })} empty={{ icon: Icon, title: t("settings.no_mails"), text: t("settings.no_mails_text") }} /></div>
      {open && <Read key={open} id={open} onClose={() => void navigate({ search: (old) => ({ ...old, mail: undefined }), replace: true })} />}
    </Frame>
  )
}

/** What a mail said, and once more if that is of use. */
function Read({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const query = useQuery({ queryKey: ["mails", "one", id], queryFn: () => take(api.GET("/mails/{id}", { params: { path: { id } } })) })
  const m = query.data
  const again = async () => {
    setBusy(true)
    try {
      const sent = await take(api.POST("/mails/{id}/resend", { params: { path: { id } } }))
      toast(t("settings.mail_again_now", { to: sent.to }))
      onClose()
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey: ["mails"] })
    }
  }
  return (
    <Dialog title={m?.subject ?? t("settings.mail")} onClose={onClose} size="l">
      <div className="dialog-body stack">
        {query.isPending ? <Skeleton lines={6} /> : !m ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
          <>
            <p className="row"><span className={`mark mark--${looks[m.status]}`}>{t(`settings.mail_status.${m.status}`)}</span><span>{m.to}</span><time className="soft" dateTime={m.sent_at ?? m.created_at}>{momentText(m.sent_at ?? m.created_at)}</time></p>
            {m.error && <p className="notice notice--warn">{m.error}</p>}
            {m.text === null ? <p className="soft">{t("settings.mail_no_text")}</p> : <p className="pre mail-text" tabIndex={0}>{m.text}</p>}
            {m.again !== "yes" && m.again !== "no_text" && <p className="soft">{t(`settings.mail_again.${m.again}`)}</p>}
          </>
        )}
      </div>
      <footer className="dialog-foot">
        <Button onClick={onClose}>{t("close")}</Button>
        {m?.again === "yes" && <Button kind="main" icon={<RotateCcw aria-hidden />} busy={busy} onClick={() => void again()}>{t("settings.mail_again")}</Button>}
      </footer>
    </Dialog>
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
