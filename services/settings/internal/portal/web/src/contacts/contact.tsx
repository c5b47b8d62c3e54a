import "./contacts.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { ArrowLeft, CalendarPlus, Eraser, GitMerge, Printer, RotateCcw, Trash2 } from "lucide-react"
import { Suspense, useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { updateContact } from "@/api/limits"
import { Button, ButtonLink } from "@/kit/button"
import { dateText, momentText } from "@/kit/dates"
import { Inline } from "@/kit/detail"
import { confirm } from "@/kit/dialog"
import { typedNumber } from "@/kit/draft"
import { late } from "@/kit/late"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Head, initials } from "@/kit/head"
import { can, on } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { Appointments, Submissions } from "./booked"
import { Consents } from "./consents"
import { membersOrNone, statuses, useFieldsPending, type Contact as Record } from "./data"
import { CustomFields } from "./fields"
import { Links } from "./links"
import { Status } from "./marks"
import { Reach } from "./reach"
import { Merge } from "./merge"
import { Tags } from "./tags"
import { Tasks } from "./task"
import { History } from "./history"
import { timelineKey } from "./timeline"
import { contactKey, contactQuery, nameOf } from "@/kit/records"
import { useTeam } from "@/team/data"

const route = getRouteApi("/contacts/$id")
const Write = late(() => import("@/team/write"))

export function Contact() {
  const { id } = route.useParams()
  const query = useQuery(contactQuery(id))
  const pending = useFieldsPending("contact")
  if (query.isPending || (query.data && pending)) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Person key={id} c={query.data} />
}

type Change = { first_name?: string; last_name?: string; email?: string; phone?: string; status?: Record["status"]; source?: string; owner_user_id?: number | null; tags?: string[]; fields?: { [key: string]: unknown } }

/** A draft of a contact, each of whose values is saved where it stands. */
function useContactDraft(c: Record) {
  const queries = useQueryClient()
  return useDraft(c, contactKey(c.id), async ({ change, version }) => {
    const after = await take(api.PATCH("/contacts/{id}", { params: { path: { id: c.id }, header: ifMatch(version) }, body: { mode: "overwrite", ...(change as Change) } }))
    void queries.invalidateQueries({ queryKey: timelineKey("contacts", c.id) })
    void queries.invalidateQueries({ queryKey: ["contacts", "list"] })
    return after
  })
}

function Person({ c }: { c: Record }) {
  const draft = useContactDraft(c)
  const team = useTeam()
  const [writing, setWriting] = useState(false)
  const fixed = !can("svc_edit_contacts") || c.deleted_at !== null
  const text = (name: "first_name" | "last_name" | "email" | "phone" | "source") => ({ name, label: t(`contacts.${name}`), draft, readOnly: fixed })
  return (
    <>
      <Head title={nameOf(c)} back={<><Link to="/contacts" className="icon-button" aria-label={t("nav.contacts")}><ArrowLeft aria-hidden /></Link><span className="avatar avatar--l" aria-hidden>{initials(nameOf(c))}</span></>} count={<Status status={c.status} />}>
        <Commands c={c} />
      </Head>
      {c.deleted_at && <div className="content"><p className="notice notice--warn">{t("trash.since", { date: momentText(c.deleted_at) })}</p></div>}
      <div className="content record">
        <div className="stack">
          <Panel title={t("contacts.about")}>
            <Reach email={c.email} phone={c.phone} onWrite={fixed ? undefined : () => setWriting(true)} />
            {writing && <Suspense><Write to={{ id: c.id, name: nameOf(c), email: c.email }} onClose={() => setWriting(false)} /></Suspense>}
            <dl className="facts panel-body">
              <Inline {...text("first_name")} limits={updateContact} />
              <Inline {...text("last_name")} limits={updateContact} />
              <Inline {...text("email")} type="email" limits={updateContact} />
              <Inline {...text("phone")} type="tel" limits={updateContact} />
              <Inline label={t("contacts.status")} name="status" draft={draft} show={(v) => <Status status={v as Record["status"]} />} options={statuses()} readOnly={fixed} />
              <Inline label={t("contacts.owner")} name="owner_user_id" draft={draft} readOnly={fixed} parse={(v) => typedNumber(v)} options={membersOrNone(team)} />
              <Inline {...text("source")} limits={updateContact} />
              <div className="fact"><dt>{t("contacts.since")}</dt><dd>{dateText(c.created_at)}</dd></div>
            </dl>
          </Panel>
          <Panel title={t("contacts.tags")}>
            <div className="panel-body"><Tags tags={draft.mine.tags} readOnly={fixed} onChange={(tags) => void draft.change("tags", tags)} /></div>
          </Panel>
          <Tasks about={{ contact: c.id }} readOnly={fixed} owner={c.owner_user_id} />
          <CustomFields entity="contact" draft={draft} readOnly={fixed} />
          {on("booking") && <Appointments contact={c.id} />}
          {on("forms") && <Submissions contact={c.id} />}
          <Links side="contacts" id={c.id} readOnly={fixed} />
          <Consents c={c} readOnly={fixed} />
        </div>
        <Panel title={t("contacts.timeline")}>
          <History kind="contacts" id={c.id} readOnly={fixed} />
        </Panel>
      </div>
    </>
  )
}

function Commands({ c }: { c: Record }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const [merging, setMerging] = useState(false)
  const name = nameOf(c)
  const again = () => {
    for (const key of [contactKey(c.id), timelineKey("contacts", c.id), ["contacts", "list"]]) void queries.invalidateQueries({ queryKey: key })
  }
  const run = async (f: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await f()
      again()
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  const restore = () => run(() => take(api.POST("/contacts/{id}/restore", { params: { path: { id: c.id } } })))
  const trash = () => run(async () => {
    await api.DELETE("/contacts/{id}", { params: { path: { id: c.id } } })
    toast(t("trash.now", { name }), { undo: () => void restore() })
  })
  const erase = async () => {
    if (!(await confirm({ title: t("contacts.erase_title", { name }), text: t("contacts.erase_text"), action: t("contacts.erase_do", { name }), bad: true, word: c.email }))) return
    await run(async () => {
      await take(api.POST("/privacy/erase", { body: { email: c.email } }))
      toast(t("contacts.erased", { name }))
      queries.removeQueries({ queryKey: contactKey(c.id) })
      await navigate({ to: "/contacts" })
    })
  }
  const live = c.deleted_at === null && can("svc_delete_contacts")
  return (
    <>
      {c.deleted_at && can("svc_delete_contacts") && <Button busy={busy} icon={<RotateCcw aria-hidden />} onClick={() => void restore()}>{t("trash.restore")}</Button>}
      {on("booking") && can("svc_manage_bookings") && c.deleted_at === null && <ButtonLink to="/appointments/new" search={{ contact: c.id }} kind="main" icon={<CalendarPlus aria-hidden />}>{t("contacts.book")}</ButtonLink>}
      <Actions actions={[
        { id: "print", label: t("contacts.print"), icon: Printer, run: () => print() },
        ...(live ? [{ id: "merge", label: t("contacts.merge"), icon: GitMerge, run: () => setMerging(true) }, { id: "trash", label: t("trash.move"), icon: Trash2, run: () => void trash() }] : []),
        ...(can("svc_manage_crm") && c.email ? [{ id: "erase", label: t("contacts.erase"), icon: Eraser, bad: true, run: () => void erase() }] : []),
      ]} />
      {merging && <Merge kind="contacts" id={c.id} name={name} onClose={() => setMerging(false)} />}
    </>
  )
}
