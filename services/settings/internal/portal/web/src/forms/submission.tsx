import "./forms.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, CalendarClock, CircleAlert, ExternalLink, ShieldAlert, ShieldCheck, Trash2 } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { dayText, momentText, timeText } from "@/kit/dates"
import { confirm } from "@/kit/dialog"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { appointmentsOf } from "@/kit/records"
import { can, on } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { answerText, formQuery, humane, nameOf, submissionKey, targetText, useFields, type Submission as Record } from "./data"
import { spamReason, SubmissionStatus } from "./marks"

const route = getRouteApi("/submissions/$id")

export function Submission() {
  const { id } = route.useParams()
  const query = useQuery({ queryKey: submissionKey(id), queryFn: () => take(api.GET("/submissions/{id}", { params: { path: { id } } })) })
  // Its labels are those of the form, which may be in the trash: then keys speak for themselves.
  const form = useQuery({ ...formQuery(query.data?.form.id ?? 0), enabled: !!query.data, retry: false })
  if (query.isPending || (query.data && form.isPending)) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <One key={id} s={query.data} />
}

function One({ s }: { s: Record }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const [busy, setBusy] = useState(false)
  const may = can("svc_manage_forms")
  const name = s.contact?.name || t("forms.submission_of", { form: s.form.name })
  const changed = () => {
    for (const noun of [["submissions", "list"], ["submissions", "weeks"], ["forms", "list"], ["overview"]]) void queries.invalidateQueries({ queryKey: noun })
  }
  const mark = async (spam: boolean) => {
    setBusy(true)
    try {
      const again = s.spam_reason === "team"
      queries.setQueryData(submissionKey(s.id), await take(api.POST(spam ? "/submissions/{id}/spam" : "/submissions/{id}/not-spam", { params: { path: { id: s.id } } })))
      changed()
      if (spam) toast(t("forms.is_spam_done"), { undo: () => void mark(false) })
      else toast(t(again ? "forms.not_spam_again" : "forms.not_spam_done"))
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  const remove = async () => {
    if (!(await confirm({ title: t("forms.submission_delete_title", { name }), text: t("forms.submission_delete_text"), action: t("forms.submission_delete"), bad: true }))) return
    try {
      await api.DELETE("/submissions/{id}", { params: { path: { id: s.id } } })
      changed()
      toast(t("forms.submission_deleted", { name }))
      void navigate({ to: "/submissions" })
    } catch (e) {
      toastFault(e)
    }
  }
  return (
    <>
      <Head title={name} back={<Link to="/submissions" className="icon-button" aria-label={t("nav.submissions")}><ArrowLeft aria-hidden /></Link>} count={<SubmissionStatus s={s} />}>
        {may && <Button icon={<Trash2 aria-hidden />} onClick={() => void remove()}>{t("delete")}</Button>}
        {may && s.status === "spam" && <Button kind="main" busy={busy} icon={<ShieldCheck aria-hidden />} onClick={() => void mark(false)}>{t("forms.not_spam")}</Button>}
        {may && s.status === "received" && <Button busy={busy} icon={<ShieldAlert aria-hidden />} onClick={() => void mark(true)}>{t("forms.is_spam")}</Button>}
      </Head>
      <div className="content stack">
        {s.status === "spam" && <div className="notice notice--warn"><ShieldAlert aria-hidden /><div><p><b>{t("forms.spam_because", { why: spamReason(s.spam_reason ?? "") })}</b></p><p>{t("forms.spam_text")}</p></div></div>}
        {s.error && <div className="notice notice--bad"><CircleAlert aria-hidden /><div><p><b>{t("forms.error_title")}</b></p><p>{s.error}</p></div></div>}
        <div className="submission">
          <Panel title={t("forms.values")}><Answers s={s} /></Panel>
          <div className="stack">
            <Panel title={t("forms.about")}>
              <dl className="facts panel-body">
                <div className="fact"><dt>{t("forms.sent")}</dt><dd>{momentText(s.created_at)}</dd></div>
                <div className="fact"><dt>{t("forms.form")}</dt><dd><Link to="/forms/$id" params={{ id: String(s.form.id) }}>{s.form.name}</Link></dd></div>
                {s.page && <div className="fact"><dt>{t("forms.page")}</dt><dd><a href={s.page} target="_blank" rel="noreferrer" className="with-mark">{s.page.replace(/^https?:\/\//, "")}<ExternalLink aria-hidden /><span className="sr">{t("forms.new_tab")}</span></a></dd></div>}
                <div className="fact"><dt>{t("forms.contact")}</dt><dd>{s.contact ? (on("contacts") ? <Link to="/contacts/$id" params={{ id: s.contact.id }}>{s.contact.name}</Link> : s.contact.name) : <span className="soft">{t(s.result.contact === "pending" ? "forms.contact_pending" : "forms.contact_none")}</span>}</dd></div>
                {s.contact && <div className="fact"><dt>{t("forms.result")}</dt><dd>{t(`forms.result.${s.result.contact}`)}</dd></div>}
                {s.organization && <div className="fact"><dt>{t("forms.organization")}</dt><dd>{on("contacts") ? <Link to="/organizations/$id" params={{ id: s.organization.id }}>{s.organization.name}</Link> : s.organization.name}</dd></div>}
              </dl>
              {s.contact && on("contacts") && <div className="panel-body"><Link to="/submissions" search={{ contact: s.contact.id }}>{t("forms.all_of_person")}</Link></div>}
            </Panel>
            {s.contact && on("booking") && <Booked s={s} contact={s.contact.id} />}
          </div>
        </div>
      </div>
    </>
  )
}

/** The values that were sent, under the present labels of the form. */
function Answers({ s }: { s: Record }) {
  const form = useQuery({ ...formQuery(s.form.id), retry: false }).data
  const fields = useFields()
  const label = (key: string) => {
    const e = form?.definition.elements.find((x) => x.id === key || x.target === key)
    return e ? nameOf(e, fields) : targetText(key) || humane(key.replace(/^.*\./, ""))
  }
  const order = (key: string) => form?.definition.elements.findIndex((x) => x.id === key || x.target === key) ?? 0
  const values = Object.entries(s.values).sort(([a], [b]) => order(a) - order(b))
  if (values.length === 0) return <p className="panel-none soft">{t("forms.values_none")}</p>
  return <dl className="answers">{values.map(([key, v]) => <div key={key}><dt>{label(key)}</dt><dd className="pre">{answerText(v) || "–"}</dd></div>)}</dl>
}

/** The appointment that these details belong to. */
function Booked({ s, contact }: { s: Record; contact: string }) {
  const found = useQuery({ ...appointmentsOf(contact), staleTime: 60_000 }).data
  const a = found?.find((x) => x.submission?.id === s.id)
  if (!a) return null
  return (
    <Panel title={t("forms.appointment")}>
      <div className="panel-body"><Link to="/appointments/$id" params={{ id: a.id }} className="with-mark"><CalendarClock aria-hidden />{`${a.service.name} · ${dayText(a.starts_at)}, ${timeText(a.starts_at)}`}</Link></div>
    </Panel>
  )
}
