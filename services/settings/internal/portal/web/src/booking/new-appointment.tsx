// Booking for a client on the phone: type the name, then Enter four times: the client, the service, the first free time, book.
import "./booking.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { CalendarPlus, CircleAlert, EyeOff, TriangleAlert, UserRoundPlus } from "lucide-react"
import { useEffect, useId, useRef, useState, type ReactNode } from "react"
import { Keys } from "@/api/attempts"
import { api, take, type Schema } from "@/api/client"
import { asFault, type Fault } from "@/api/fault"
import { bookAppointment, createContact } from "@/api/limits"
import { Button } from "@/kit/button"
import { useCombobox } from "@/kit/combobox"
import { dayLongText, dayText, durationText, timeRange, timeText } from "@/kit/dates"
import { momentOf, sameMoment } from "@/kit/wall"
import { Form, text, TextField, useForm } from "@/kit/form"
import { latest } from "@/kit/latest"
import { saying } from "@/kit/problem"
import { Head, initials } from "@/kit/head"
import { can, kept } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useUnsavedGuard } from "@/kit/use-draft"
import { appointmentsChanged, priceText, type Service, type Slot } from "./data"
import { Place } from "./marks"
import { arrows, Times, type Chosen } from "./times"
import { servicesQuery } from "@/kit/records"
import { why } from "@/kit/why"
import { useStaff } from "@/team/data"

const route = getRouteApi("/appointments/new")

type Client = { id: string; name: string; email: string; phone: string }
const clientOf = (c: Schema<"Contact">): Client => ({ id: c.id, name: `${c.first_name} ${c.last_name}`.trim() || c.email || c.phone, email: c.email, phone: c.phone })

export function NewAppointment() {
  const search = route.useSearch()
  const given = useQuery({ queryKey: ["contacts", "one", search.contact], queryFn: () => take(api.GET("/contacts/{id}", { params: { path: { id: search.contact! } } })), enabled: !!search.contact })
  const services = useQuery(servicesQuery(false))
  return (
    <>
      <Head title={t("nav.new_appointment")} />
      {services.isPending || (search.contact && given.isPending) ? <Skeleton lines={8} /> : !services.data ? <Failed error={services.error} retry={() => void services.refetch()} />
        : services.data.length === 0 ? <Blank icon={CalendarPlus} title={t("booking.no_services")} text={t("booking.no_services_text")} />
        : <Booking services={services.data} given={given.data ? clientOf(given.data) : undefined} />}
    </>
  )
}

function Booking({ services, given }: { services: Service[]; given?: Client }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const team = useStaff()
  const [client, setClient] = useState(given)
  const [service, setService] = useState<Service | undefined>(() => services.find((s) => s.id === search.service))
  const [staff, setStaff] = useState<number | null>(search.staff ? Number(search.staff) : null)
  const [chosen, setChosen] = useState<Chosen>()
  // Minutes that were marked in the calendar. They count only where somebody says so.
  const marked = search.at && search.until ? Math.round((Date.parse(momentOf(search.until)) - Date.parse(momentOf(search.at))) / 60_000) : 0
  const [drawn, setDrawn] = useState(false)
  const [note, setNote] = useState("")
  const [status, setStatus] = useState<"confirmed" | "pending">("confirmed")
  const [address, setAddress] = useState("")
  const [busy, setBusy] = useState(false)
  const [done, setDone] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const book = useRef<HTMLButtonElement>(null)
  const placeField = useRef<HTMLInputElement>(null)
  const [keys] = useState(() => new Keys())
  const [choose] = useState(latest)
  const people = team.filter((m) => service?.staff.includes(m.user_id))
  const asMarked = drawn && marked > 0
  const who = people.some((m) => m.user_id === staff) ? staff : null
  const needsAddress = service?.location_type === "client"
  const needsLink = service?.location_type === "online" && chosen !== undefined && !people.filter((m) => chosen.staff === null || m.user_id === chosen.staff).every((m) => m.meeting_url)
  useUnsavedGuard(!done && (note !== "" || (client !== undefined && client !== given)))

  const ready = useRef(false)
  useEffect(() => {
    // After a choice the focus is on what comes next.
    if (!ready.current || !chosen) return
    ready.current = false
    if (needsAddress && !address) placeField.current?.focus()
    else book.current?.focus()
  })
  const pick = (c: Chosen) => {
    choose()
    setChosen(c)
    setFault(undefined)
    ready.current = true
  }
  const pickService = async (s: Service) => {
    const stands = choose()
    setService(s)
    setFault(undefined)
    kept.set("last-service", s.id)
    const at = search.at && !chosen ? momentOf(search.at) : chosen?.starts_at
    setChosen(undefined)
    if (!at) return
    // The time that was pressed in the calendar stays: as a free time, or marked as one that is not.
    const mine = staff !== null && s.staff.includes(staff) ? staff : null
    const day = search.at?.slice(0, 10) ?? at.slice(0, 10)
    const free = await queries.query({ queryKey: ["slots", s.id, mine, day, day], queryFn: async () => (await take(api.GET("/slots", { params: { query: { service: s.id, from: day, to: day, ...(mine !== null && { staff: mine }) } } }))).items }).catch(() => [] as Slot[])
    // Whoever has meanwhile chosen another service, person or time wants that one.
    if (stands()) pick({ starts_at: at, staff: mine, outside: !free.some((f) => sameMoment(f.starts_at, at)) })
  }
  const send = async (c = chosen) => {
    if (!client || !service || !c || busy) return
    const body = {
      contact: client.id, service: service.id, starts_at: c.starts_at, staff: c.staff, outside_hours: c.outside, status, notes: note.trim(), ...(asMarked && { duration_min: marked }),
      ...(needsAddress && { location_type: "client" as const, location: address.trim() }), ...(needsLink && address.trim() && { location_type: "online" as const, meeting_url: address.trim() }),
    }
    const words = JSON.stringify(body)
    setBusy(true)
    setFault(undefined)
    try {
      const made = await take(api.POST("/appointments", { params: { header: { "Idempotency-Key": keys.of(words) } }, body }))
      appointmentsChanged(queries, made)
      setDone(true)
      toast(t(status === "confirmed" ? "booking.made" : "booking.made_request", { name: client.name, day: dayText(made.starts_at), time: timeText(made.starts_at) }))
      void navigate({ to: "/appointments/$id", params: { id: made.id }, ignoreBlocker: true })
    } catch (e) {
      const f = asFault(e)
      if (!f.passing) keys.settle(words)
      setFault(f)
      if (f.code === "svc_slot_taken") void queries.invalidateQueries({ queryKey: ["slots"] })
      if (f.details.location || f.details.meeting_url) placeField.current?.focus()
    } finally {
      setBusy(false)
    }
  }
  const taken = fault?.code === "svc_slot_taken"
  const nearest = taken ? ((fault.data.alternatives as Slot[] | undefined) ?? []) : []
  const end = chosen && service && new Date(Date.parse(chosen.starts_at) + (asMarked ? marked : service.duration_min) * 60_000).toISOString()
  const placeProblem = fault?.details.location ?? fault?.details.meeting_url
  return (
    <div className="content booking">
      <div className="steps">
        <Step n={1} title={t("booking.client")} done={client && <><span className="avatar" aria-hidden>{initials(client.name)}</span><span className="cell-main"><b>{client.name}</b><small>{[client.phone, client.email].filter(Boolean).join(" · ")}</small></span></>} onChange={() => setClient(undefined)}>
          <FindClient onPick={setClient} />
        </Step>
        {client && (
          <Step n={2} title={t("booking.service")} done={service && <span className="cell-main"><b>{service.name}</b><small>{durationText(service.duration_min)}{service.price && ` · ${priceText(service.price)}`}</small></span>} onChange={() => (choose(), setService(undefined), setChosen(undefined))}>
            <ChooseService services={services} onPick={(s) => void pickService(s)} />
          </Step>
        )}
        {client && service && (
          <Step n={3} title={t("booking.time")} done={chosen && end && <span className="cell-main"><b>{dayLongText(chosen.starts_at)}</b><small className="num">{timeRange(chosen.starts_at, end)}</small></span>} onChange={() => setChosen(undefined)}>
            {people.length > 1 && (
              <div className="segments staff-choice" role="radiogroup" aria-label={t("booking.staff")}>
                {[{ user_id: null, name: t("booking.whoever") }, ...people].map((m) => (
                  <label key={m.user_id ?? 0} className="segment"><input type="radio" className="sr" name="staff" checked={who === m.user_id} onChange={() => (choose(), setStaff(m.user_id))} />{m.name}</label>
                ))}
              </div>
            )}
            <Times key={`${service.id} ${who}`} what={{ service: service.id }} staff={who} from={search.at?.slice(0, 10)} value={chosen} onPick={pick} focus={who === null || people.length === 1 || String(who) === search.staff} />
          </Step>
        )}
      </div>
      <section className="panel summary" aria-labelledby="summary">
        <div className="panel-head"><h2 id="summary">{t("booking.summary")}</h2></div>
        <form className="panel-body stack" onSubmit={(e) => (e.preventDefault(), void send())}>
          <dl className="facts">
            <div className="fact"><dt>{t("booking.client")}</dt><dd>{client?.name ?? <span className="soft">–</span>}</dd></div>
            <div className="fact"><dt>{t("booking.service")}</dt><dd>{service?.name ?? <span className="soft">–</span>}</dd></div>
            <div className="fact"><dt>{t("booking.when")}</dt><dd>{chosen && end ? <>{dayLongText(chosen.starts_at)}<br /><span className="num">{timeRange(chosen.starts_at, end)}</span></> : <span className="soft">–</span>}</dd></div>
            {service && <div className="fact"><dt>{t("booking.staff")}</dt><dd>{people.find((m) => m.user_id === (chosen?.staff ?? who))?.name ?? t("booking.whoever")}</dd></div>}
            {service && <div className="fact"><dt>{t("booking.place")}</dt><dd><Place kind={service.location_type} />{service.location_details && !needsAddress && <div className="soft">{service.location_details}</div>}</dd></div>}
          </dl>
          {service && marked > 0 && marked <= 1440 && marked !== service.duration_min && (
            <fieldset className="field">
              <legend className="label">{t("booking.length_which")}</legend>
              {[false, true].map((own) => <label key={String(own)} className="check"><input type="radio" name="length" checked={drawn === own} onChange={() => setDrawn(own)} /><span>{t(own ? "booking.length_marked" : "booking.length_service", { time: durationText(own ? marked : service.duration_min) })}</span></label>)}
            </fieldset>
          )}
          {(needsAddress || needsLink) && (
            <label className="field">
              <span className="label">{t(needsAddress ? "booking.client_address" : "booking.meeting_url")}</span>
              <input ref={placeField} className="input" type={needsAddress ? "text" : "url"} value={address} {...bookAppointment[needsAddress ? "location" : "meeting_url"]} aria-invalid={placeProblem ? true : undefined} onChange={(e) => setAddress(e.target.value)} />
              {placeProblem && <span className="problem"><CircleAlert aria-hidden />{why(placeProblem)}</span>}
            </label>
          )}
          <label className="field">
            <span className="label row between">{t("booking.note")}<span className="internal"><EyeOff aria-hidden />{t("booking.internal")}</span></span>
            <textarea className="input" rows={2} value={note} {...bookAppointment.notes} onChange={(e) => setNote(e.target.value)} />
          </label>
          <label className="check"><input type="checkbox" checked={status === "pending"} onChange={(e) => setStatus(e.target.checked ? "pending" : "confirmed")} /><span>{t("booking.as_request")}</span></label>
          {chosen?.outside && !taken && <p className="notice notice--warn"><TriangleAlert aria-hidden /><span>{t("booking.outside_text")}</span></p>}
          {taken && (
            <div className="notice notice--warn" role="alert">
              <TriangleAlert aria-hidden />
              <div>
                <p><b>{t("booking.taken")}</b> {nearest.length > 0 ? t("booking.taken_text") : t("booking.taken_none")}</p>
                <div className="times-grid times-grid--wide">{nearest.map((s) => <button key={s.starts_at} type="button" className="time" onClick={() => pick({ starts_at: s.starts_at, staff: who, outside: false })}>{dayText(s.starts_at)} <b className="num">{timeText(s.starts_at)}</b></button>)}</div>
                {chosen && !chosen.outside && <Button small onClick={() => (pick({ ...chosen, outside: true }), void send({ ...chosen, outside: true }))}>{t("booking.outside_anyway", { time: timeText(chosen.starts_at) })}</Button>}
              </div>
            </div>
          )}
          {fault && !taken && !placeProblem && <div className="notice notice--bad" role="alert"><CircleAlert aria-hidden /><div><p>{saying(fault)}</p></div></div>}
          <Button ref={book} kind="main" type="submit" busy={busy} disabled={!client || !service || !chosen || taken}>{t(status === "confirmed" ? "booking.book_and_mail" : "booking.book_request")}</Button>
        </form>
      </section>
    </div>
  )
}

function Step({ n, title, done, onChange, children }: { n: number; title: string; done: ReactNode; onChange: () => void; children: ReactNode }) {
  const id = useId()
  return (
    <section className={done ? "step step--done" : "step"} aria-labelledby={id}>
      <h2 className="step-title" id={id}><span className="step-n" aria-hidden>{n}</span>{title}</h2>
      {done ? <div className="step-chosen">{done}<Button small kind="quiet" aria-label={t("booking.change_one", { what: title })} onClick={onChange}>{t("booking.change")}</Button></div> : children}
    </section>
  )
}

/** Finds a contact by parts of name, address or number; who is not there is made on the spot. */
function FindClient({ onPick }: { onPick: (c: Client) => void }) {
  const [words, setWords] = useState("")
  const [making, setMaking] = useState(false)
  const eager = useRef(false)
  const asked = words.trim()
  const found = useQuery({
    queryKey: ["contacts", "find", asked],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return signal.aborted ? [] : (await take(api.GET("/contacts", { params: { query: { search: asked, per_page: 6 } }, signal }))).items.map(clientOf)
    },
    enabled: asked.length >= 2,
    staleTime: 10_000,
  })
  const hits = (asked.length >= 2 && found.data) || []
  const mayMake = can("svc_edit_contacts") && asked.length >= 2
  const count = hits.length + (mayMake ? 1 : 0)
  const box = useCombobox(count, (i) => {
    if (asked.length >= 2 && !found.data) eager.current = true
    else if (hits[i]) onPick(hits[i])
    else if (mayMake) setMaking(true)
  })
  useEffect(() => {
    // Enter that came before the answer: one hit is the client.
    if (!eager.current || !found.data) return
    eager.current = false
    if (found.data.length === 1) onPick(found.data[0]!)
  })
  if (making) return <MakeClient words={asked} onPick={onPick} onClose={() => setMaking(false)} />
  return (
    <div className="finder">
      <input className="input" {...box.input} aria-label={t("booking.find_client")} placeholder={t("booking.find_client")} value={words} maxLength={100} autoFocus
        onChange={(e) => (setWords(e.target.value), box.begin(), (eager.current = false))} />
      <div className="finder-list" {...box.list} aria-label={t("booking.client")} hidden={count === 0}>
        {hits.map((c, i) => (
          <div key={c.id} {...box.option(i)} className="palette-hit">
            <span className="avatar" aria-hidden>{initials(c.name)}</span><span className="palette-name">{c.name}</span><span className="palette-detail">{c.phone || c.email}</span>
          </div>
        ))}
        {mayMake && (
          <div {...box.option(hits.length)} className="palette-hit">
            <UserRoundPlus aria-hidden /><span className="palette-name">{t("booking.new_client", { words: asked })}</span>
          </div>
        )}
      </div>
      <p className="help" role="status">{found.isError ? saying(asFault(found.error)) : asked.length >= 2 && found.data?.length === 0 ? t("booking.no_client") : t("booking.find_help")}</p>
    </div>
  )
}

function MakeClient({ words, onPick, onClose }: { words: string; onPick: (c: Client) => void; onClose: () => void }) {
  const queries = useQueryClient()
  const isMail = words.includes("@")
  const isPhone = /^[+\d][\d\s/.()-]*$/.test(words)
  const [firstName, ...rest] = isMail || isPhone ? [""] : words.split(/\s+/)
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/contacts", { params: { header: { "Idempotency-Key": key } }, body: { first_name: text(values, "first_name"), last_name: text(values, "last_name"), email: text(values, "email"), phone: text(values, "phone") } }))
    void queries.invalidateQueries({ queryKey: ["contacts", "list"] })
    onPick(clientOf(made))
  })
  const known = form.fault?.code === "svc_duplicate" && typeof form.fault.data.id === "string" ? form.fault.data.id : undefined
  const pickKnown = (id: string) => take(api.GET("/contacts/{id}", { params: { path: { id } } })).then((c) => onPick(clientOf(c)), toastFault)
  return (
    <Form limits={createContact} form={form} className="stack">
      {known && <div className="notice" role="status"><div><p>{t("booking.known")}</p><span><Button small onClick={() => void pickKnown(known)}>{t("booking.use_known")}</Button></span></div></div>}
      <div className="fields">
        <TextField name="first_name" label={t("booking.first_name")} defaultValue={firstName} autoFocus />
        <TextField name="last_name" label={t("booking.last_name")} defaultValue={rest.join(" ")} />
        <TextField name="phone" label={t("booking.phone")} type="tel" defaultValue={isPhone ? words : ""} />
        <TextField name="email" label={t("booking.email")} type="email" defaultValue={isMail ? words : ""} help={t("booking.email_help")} />
      </div>
      <div className="row"><Button kind="main" type="submit" busy={form.busy}>{t("booking.make_client")}</Button><Button onClick={onClose}>{t("back")}</Button></div>
    </Form>
  )
}

function ChooseService({ services, onPick }: { services: Service[]; onPick: (s: Service) => void }) {
  const list = useRef<HTMLDivElement>(null)
  const last = kept.get("last-service")
  useEffect(() => {
    // The service that was booked last is the likeliest.
    const buttons = [...list.current!.querySelectorAll<HTMLElement>("button")]
    ;(buttons[services.findIndex((s) => s.id === last)] ?? buttons[0])?.focus()
  }, [])
  return (
    <div ref={list} className="service-list" onKeyDown={arrows}>
      {services.map((s) => (
        <button key={s.id} type="button" className="service-choice" onClick={() => onPick(s)}>
          <span className="cell-main"><b>{s.name}</b><small><Place kind={s.location_type} /></small></span>
          <span className="service-facts num">{durationText(s.duration_min)}<small>{priceText(s.price)}</small></span>
        </button>
      ))}
    </div>
  )
}
