import "./booking.css"
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, CalendarClock, CalendarPlus, Check, CheckCheck, EyeOff, Mail, MapPin, Phone, RotateCcw, ShieldAlert, UserRoundX, X } from "lucide-react"
import { Suspense, useEffect, useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { cancelAppointment, changeAppointmentPlace, updateAppointmentNote } from "@/api/limits"
import { confirmRequest } from "@/kit/answer"
import { Button, ButtonLink } from "@/kit/button"
import { dayLongText, dayOf, dayText, durationText, elsewhere, momentText, timeRange, timeText } from "@/kit/dates"
import { confirm, Dialog } from "@/kit/dialog"
import { Effects, useEffects } from "@/kit/effects"
import { Form, SelectField, text, TextArea, TextField, useForm } from "@/kit/form"
import { useKeys } from "@/kit/keys"
import { late } from "@/kit/late"
import { Panel } from "@/kit/panel"
import { Head, initials } from "@/kit/head"
import { appointmentsOf } from "@/kit/records"
import { can, on, start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Clash, useDraft } from "@/kit/use-draft"
import { actionsOf, appointmentKey, appointmentQuery, appointmentsChanged, placeKinds, type Appointment as Record, type PlaceKind } from "./data"
import { Place, Status } from "./marks"
import { MoveDialog } from "./move"

const route = getRouteApi("/appointments/$id")
const Write = late(() => import("@/team/write"))

export function Appointment() {
  const { id } = route.useParams()
  const query = useQuery(appointmentQuery(id))
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <One key={id} a={query.data} />
}

function One({ a }: { a: Record }) {
  const c = a.contact
  const [writing, setWriting] = useState(false)
  return (
    <>
      <Head title={c.name} back={<><Link to="/calendar" search={{ date: dayOf(a.starts_at) }} className="icon-button" aria-label={t("nav.calendar")}><ArrowLeft aria-hidden /></Link><span className="avatar avatar--l" aria-hidden>{initials(c.name)}</span></>} count={<Status status={a.status} />}>
        <Actions a={a} />
      </Head>
      <div className="content record record--appointment">
        <div className="stack">
          <Panel title={t("booking.appointment")}>
            <div className="when">
              <CalendarClock aria-hidden />
              <div><b>{dayLongText(a.starts_at)}</b><span className="num">{timeRange(a.starts_at, a.ends_at)} <span className="soft">({durationText((Date.parse(a.ends_at) - Date.parse(a.starts_at)) / 60_000)})</span></span>{elsewhere() && <small className="soft">{t("booking.zone", { zone: start.zone.replaceAll("_", " ") })}</small>}</div>
            </div>
            <dl className="facts panel-body">
              {a.booked_for && <div className="fact"><dt>{t("booking.booked_for")}</dt><dd>{a.booked_for}</dd></div>}
              <div className="fact"><dt>{t("booking.service")}</dt><dd><Link to="/services/$id" params={{ id: a.service.id }} className="row-link">{a.service.name}</Link></dd></div>
              <div className="fact"><dt>{t("booking.staff")}</dt><dd>{a.staff.name}</dd></div>
              <Where a={a} />
              <div className="fact"><dt>{t("booking.booked")}</dt><dd>{momentText(a.created_at)} <span className="soft">· {tOr(`booking.source.${a.source}`, a.source)}</span></dd></div>
              {a.cancel_reason && <div className="fact"><dt>{t("booking.reason")}</dt><dd className="pre">{a.cancel_reason}<Internal /></dd></div>}
            </dl>
          </Panel>
          <Panel title={t("booking.client")}>
            <div className="panel-body stack-s">
              <Link to="/contacts/$id" params={{ id: c.id }} className="row-link">{c.name}</Link>
              {c.phone && <a className="with-icon" href={`tel:${c.phone.replaceAll(/[^+\d]/g, "")}`}><Phone aria-hidden />{c.phone}</a>}
              {c.email && <a className="with-icon" href={`mailto:${c.email}`}><Mail aria-hidden />{c.email}</a>}
              {c.email && can("svc_edit_contacts") && <div><Button small icon={<Mail aria-hidden />} onClick={() => setWriting(true)}>{t("booking.write")}</Button></div>}
              {writing && c.email && <Suspense><Write to={{ id: c.id, name: c.name, email: c.email }} appointment={a.id} subject={`${a.service.name}, ${dayText(a.starts_at)}`} onClose={() => setWriting(false)} /></Suspense>}
            </div>
          </Panel>
        </div>
        <div className="stack">
          <Panel title={t("booking.note")} beside={<Internal />}>
            <div className="panel-body"><Note a={a} /></div>
          </Panel>
          <Others a={a} />
          <History a={a} />
        </div>
      </div>
    </>
  )
}

/** The client's other appointments: what was, and what is to come. */
function Others({ a }: { a: Record }) {
  const all = useQuery(appointmentsOf(a.contact.id)).data ?? []
  const others = all.filter((x) => x.id !== a.id).reverse()
  if (others.length === 0) return null
  return (
    <Panel title={t("booking.others", { name: a.contact.name })} beside={<span className="soft num">{others.length}</span>}>
      <ul className="panel-body">
        {others.slice(0, 8).map((x) => (
          <li key={x.id} className="slot-row">
            <span className="cell-main"><Link to="/appointments/$id" params={{ id: x.id }} className="row-link cell-text">{dayText(x.starts_at)}, <span className="num">{timeText(x.starts_at)}</span></Link><small className="cell-text">{x.service.name} · {x.staff.name}</small></span>
            <Status status={x.status} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** What became of the appointment, from the client's timeline, the newest first. Who does not see the client has no such panel. */
function History({ a }: { a: Record }) {
  const query = useQuery({
    queryKey: ["contacts", "timeline", a.contact.id, "appointment", a.id, a.updated_at],
    queryFn: ({ signal }) => take(api.GET("/contacts/{id}/activities", { params: { path: { id: a.contact.id }, query: { appointment: a.id, per_page: 50 } }, signal })),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const entries = query.data?.items ?? []
  if (entries.length === 0) return null
  return (
    <Panel title={t("booking.history")}>
      <ol className="panel-body">
        {entries.map((e) => {
          const { event, appointment: then } = e.data as { event?: string; appointment?: { starts_at?: string; ends_at?: string; staff?: { name?: string } } }
          const when = then?.starts_at && then.ends_at ? `${dayText(then.starts_at)}, ${timeRange(then.starts_at, then.ends_at)}` : ""
          return (
            <li key={e.id} className="slot-row history-row">
              <span className="cell-main"><b className="cell-text">{tOr(`booking.event.${event}`, e.subject)}</b><small className="cell-text">{[when, then?.staff?.name].filter(Boolean).join(" · ")}</small></span>
              <span className="history-by soft"><time dateTime={e.created_at}>{momentText(e.created_at)}</time><span>{e.actor_label}</span></span>
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}

/** Marks what clients never get to see. */
const Internal = () => <span className="internal"><EyeOff aria-hidden />{t("booking.internal")}</span>

/** The internal note stays in its field as it was typed until it is saved. */
function Note({ a }: { a: Record }) {
  const draft = useDraft(a, appointmentKey(a.id), ({ whole, version }) => take(api.PATCH("/appointments/{id}", { params: { path: { id: a.id }, header: ifMatch(version) }, body: { notes: whole.notes } })))
  if (!can("svc_manage_bookings")) return <p className={a.notes ? "pre" : "soft"}>{a.notes || "–"}</p>
  const save = () => void draft.save().catch((e: unknown) => asFault(e).shown || toastFault(e))
  const theirs = draft.theirs("notes")
  return (
    <form className="note" onSubmit={(e) => (e.preventDefault(), save())}>
      <Clash draft={draft} />
      {theirs && <p className="pre soft">{String(theirs.value)}</p>}
      <textarea className="input" rows={6} aria-label={t("booking.note")} placeholder={t("booking.note_hint")} value={draft.mine.notes} {...updateAppointmentNote.notes} onChange={(e) => draft.set("notes", e.target.value)}
        onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && save()} />
      {draft.dirty && <span className="row"><Button small onClick={() => draft.drop()}>{t("cancel")}</Button><Button kind="main" small type="submit" busy={draft.sending}>{t("save")}</Button></span>}
    </form>
  )
}

function Where({ a }: { a: Record }) {
  const [open, setOpen] = useState(false)
  const text = a.location_type === "online" ? a.meeting_url : a.location
  return (
    <div className="fact">
      <dt>{t("booking.place")}</dt>
      <dd className="stack-s">
        <Place kind={a.location_type} />
        {text && (a.location_type === "online" && /^https?:/.test(text) ? <a href={text} target="_blank" rel="noopener noreferrer">{text}</a> : <span>{text}</span>)}
        {actionsOf(a).open && <span><Button kind="quiet" small icon={<MapPin aria-hidden />} onClick={() => setOpen(true)}>{t("booking.change_place")}</Button></span>}
        {open && <PlaceDialog a={a} onClose={() => setOpen(false)} />}
      </dd>
    </div>
  )
}

function PlaceDialog({ a, onClose }: { a: Record; onClose: () => void }) {
  const queries = useQueryClient()
  const [kind, setKind] = useState(a.location_type as PlaceKind)
  const form = useForm(async (values, key) => {
    const after = await take(api.POST("/appointments/{id}/place", {
      params: { path: { id: a.id }, header: { "Idempotency-Key": key } },
      body: { location_type: kind, ...(kind === "online" ? { meeting_url: text(values, "meeting_url") } : { location: text(values, "location") }) },
    }))
    appointmentsChanged(queries, after)
    toast(t("booking.place_changed", { name: a.contact.name }))
    onClose()
  })
  return (
    <Dialog title={t("booking.change_place")} onClose={onClose} size="s" guarded={form.dirty}>
      <Form limits={changeAppointmentPlace} form={form}>
        <div className="dialog-body">
          <SelectField name="location_type" label={t("booking.place")} value={kind} onChange={(e) => setKind(e.target.value as PlaceKind)} options={placeKinds.map((value) => ({ value, label: t(`booking.place.${value}`) }))} />
          {kind === "online" ? <TextField name="meeting_url" label={t("booking.meeting_url")} help={t("booking.meeting_url_help")} type="url" defaultValue={a.meeting_url} />
            : <TextField name="location" label={t(kind === "client" ? "booking.client_address" : "booking.location")} defaultValue={a.location} />}
          <p className="with-icon soft"><Mail aria-hidden />{t("booking.client_mailed", { name: a.contact.name })}</p>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("booking.save_and_mail")}</Button></footer>
      </Form>
    </Dialog>
  )
}

type Step = "confirm" | "complete" | "no-show" | "reopen" | "spam"

/** What can be done with an appointment: at its head, or small in a quick look. */
export function Actions({ a, small }: { a: Record; small?: boolean }) {
  const queries = useQueryClient()
  const [open, setOpen] = useState<"move" | "cancel" | "decline">()
  const [busy, setBusy] = useState<Step>()
  const [, tick] = useState(0)
  const may = actionsOf(a)
  const soon = Date.parse(a.starts_at) - Date.now()
  useEffect(() => {
    // Completing becomes possible when the appointment begins.
    if (soon <= 0 || soon > 3_600_000) return
    const timer = setTimeout(() => tick((n) => n + 1), soon + 500)
    return () => clearTimeout(timer)
  }, [soon])
  const run = async (step: Step) => {
    setBusy(step)
    try {
      const params = { params: { path: { id: a.id } } }
      const after = await (step === "confirm" ? confirmRequest(a.id)
        : take(step === "spam" ? api.POST("/appointments/{id}/spam", params) : step === "reopen" ? api.POST("/appointments/{id}/reopen", params) : step === "complete" ? api.POST("/appointments/{id}/complete", params) : api.POST("/appointments/{id}/no-show", params)))
      if (!after) return
      appointmentsChanged(queries, after)
      toast(t(`booking.done.${step}`, { name: a.contact.name }), { undo: step === "complete" || step === "no-show" ? () => void run("reopen") : undefined })
    } catch (e) {
      if (asFault(e).code === "svc_invalid_status") void queries.invalidateQueries({ queryKey: appointmentKey(a.id) })
      toastFault(e)
    } finally {
      setBusy(undefined)
    }
  }
  const spam = async () => {
    const answers = a.submission && on("forms") && can("svc_manage_forms") ? a.submission.id : undefined
    const text = <><p>{t("booking.spam_text")}</p>{answers && <p>{t("booking.spam_answers")}</p>}</>
    if (!(await confirm({ title: t("booking.spam_title", { name: a.contact.name }), text, action: t("booking.spam_do", { name: a.contact.name }), bad: true }))) return
    await run("spam")
    // The answers have a list of their own; without a right to it they stay where they are.
    if (answers) await api.POST("/submissions/{id}/spam", { params: { path: { id: answers } } }).then(() => queries.invalidateQueries({ queryKey: ["submissions"] }), toastFault)
  }
  useKeys(may.open && !small ? { m: () => setOpen("move") } : {})
  return (
    <>
      {may.open && a.source === "booking" && <Button kind="quiet" small={small} icon={<ShieldAlert aria-hidden />} busy={busy === "spam"} onClick={() => void spam()}>{t("booking.spam")}</Button>}
      {may.answer && <Button small={small} icon={<X aria-hidden />} onClick={() => setOpen("decline")}>{t("booking.decline")}</Button>}
      {may.open && !may.answer && <Button small={small} icon={<X aria-hidden />} onClick={() => setOpen("cancel")}>{t("booking.cancel")}</Button>}
      {may.open && <Button small={small} icon={<CalendarClock aria-hidden />} onClick={() => setOpen("move")}>{t("booking.move")}</Button>}
      {may.finish && <Button small={small} icon={<UserRoundX aria-hidden />} busy={busy === "no-show"} onClick={() => void run("no-show")}>{t("booking.no_show")}</Button>}
      {may.finish && <Button kind="main" small={small} icon={<CheckCheck aria-hidden />} busy={busy === "complete"} onClick={() => void run("complete")}>{t("booking.complete")}</Button>}
      {may.answer && <Button kind="main" small={small} icon={<Check aria-hidden />} busy={busy === "confirm"} onClick={() => void run("confirm")}>{t("booking.confirm")}</Button>}
      {may.reopen && <Button small={small} icon={<RotateCcw aria-hidden />} busy={busy === "reopen"} onClick={() => void run("reopen")}>{t("booking.reopen", { status: tOr(`booking.status.${a.status}`, a.status) })}</Button>}
      {may.again && <ButtonLink small={small} to="/appointments/new" search={{ contact: a.contact.id, service: a.service.id }} icon={<CalendarPlus aria-hidden />}>{t("booking.book_again")}</ButtonLink>}
      {open === "move" && <MoveDialog a={a} onClose={() => setOpen(undefined)} />}
      {(open === "cancel" || open === "decline") && <EndDialog a={a} how={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

/** Cancels or declines, with a reason that stays in the team. */
export function EndDialog({ a, how, onClose }: { a: Pick<Record, "id" | "starts_at" | "ends_at" | "contact" | "service">; how: "cancel" | "decline"; onClose: () => void }) {
  const queries = useQueryClient()
  const { rehearsal } = useEffects(["appointments", how, a.id], (headers) => {
    const call = { params: { path: { id: a.id } }, body: {}, headers }
    return how === "cancel" ? api.POST("/appointments/{id}/cancel", call) : api.POST("/appointments/{id}/decline", call)
  })
  const form = useForm(async (values, key) => {
    const call = { params: { path: { id: a.id }, header: { "Idempotency-Key": key } }, body: { reason: text(values, "reason") } }
    const after = await take(how === "cancel" ? api.POST("/appointments/{id}/cancel", call) : api.POST("/appointments/{id}/decline", call))
    appointmentsChanged(queries, after)
    toast(t(`booking.done.${how}`, { name: a.contact.name }))
    onClose()
  }, (f) => {
    if (f.code === "svc_invalid_status") void queries.invalidateQueries({ queryKey: appointmentKey(a.id) })
    return false
  })
  return (
    <Dialog title={t(`booking.${how}_title`, { name: a.contact.name })} onClose={onClose} size="s" guarded={form.dirty}>
      <Form limits={cancelAppointment} form={form}>
        <div className="dialog-body">
          <p>{a.service.name}, {dayLongText(a.starts_at)}, <span className="num nowrap">{timeRange(a.starts_at, a.ends_at)}</span></p>
          <TextArea name="reason" label={t("booking.reason")} help={<Internal />} rows={2} />
          <Effects of={rehearsal} label={(field) => tOr(field === "status" ? "booking.appointment" : `booking.${field}`, field)} value={(field, v) => (field === "status" ? tOr(`booking.status.${String(v)}`, String(v)) : v)} />
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("booking.keep")}</Button><Button kind="bad" type="submit" busy={form.busy}>{t(`booking.${how}_and_mail`)}</Button></footer>
      </Form>
    </Dialog>
  )
}
