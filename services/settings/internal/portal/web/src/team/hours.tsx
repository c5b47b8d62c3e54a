import "./team.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { CalendarDays, CalendarOff, Copy, List as ListIcon, PartyPopper, Plus, Store, Trash2, TriangleAlert, Users } from "lucide-react"
import { lazy, Suspense, useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { numberOf } from "@/api/version"
import { addStaffException, updateStaff } from "@/api/limits"
import { Button } from "@/kit/button"
import { clockOf, dayText, durationText, minutesOf, periodWords, timeText, today, weekdayWords } from "@/kit/dates"
import { Inline } from "@/kit/detail"
import { Dialog } from "@/kit/dialog"
import { Form, SaveBar, SelectField, text, TextField, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { saying } from "@/kit/problem"
import { Head, initials } from "@/kit/head"
import { can, kept, me } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Clash } from "@/kit/use-draft"
import { Calendars } from "./calendars"
import { CalendarFeed } from "./feed"
import { useMemberDraft } from "./member"
import { closuresQuery, mayChange, mayLink, staffQuery, timeOffQuery, timesChanged, type Exception, type Member } from "./data"

const Holidays = lazy(() => import("./holidays"))
const OffCalendar = lazy(() => import("./off-calendar"))
const route = getRouteApi("/hours")
const dayNames = Array.from({ length: 7 }, (_, i) => weekdayWords(`2024-01-0${i + 1}`, "long"))

export function Hours() {
  const search = route.useSearch()
  const query = useQuery(staffQuery)
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  const team = query.data.filter((m) => m.hours !== undefined)
  const shown = search.staff === "business" ? undefined : team.find((m) => String(m.user_id) === search.staff) ?? team.find((m) => m.user_id === me.user_id) ?? team[0]
  return (
    <>
      <Head title={t("nav.hours")} />
      {team.length === 0 ? <Blank icon={Users} title={t("team.nobody")} text={t("team.nobody_text")} /> : (
        <div className="content hours">
          <nav className="hours-people" aria-label={t("team.whose")}>
            {team.map((m) => (
              <Link key={m.user_id} to="/hours" search={{ staff: String(m.user_id) }} className={m === shown ? "person-tab person-tab--on" : "person-tab"} aria-current={m === shown ? "page" : undefined}>
                <span className="avatar" aria-hidden>{initials(m.name)}</span><span className="cell-main"><b className="cell-text">{m.name}</b><small className="cell-text">{weekText(m.hours)}</small></span>
              </Link>
            ))}
            <Link to="/hours" search={{ staff: "business" }} className={!shown ? "person-tab person-tab--on" : "person-tab"} aria-current={!shown ? "page" : undefined}>
              <span className="avatar" aria-hidden><Store /></span><span className="cell-main"><b>{t("team.business")}</b><small>{t("team.closures")}</small></span>
            </Link>
          </nav>
          <div className="stack">
            {shown ? (
              <>
                <Week key={shown.user_id} m={shown} />
                <TimeOff key={`off-${shown.user_id}`} user={shown.user_id} name={shown.name} />
                <Online key={`link-${shown.user_id}`} m={shown} />
                {mayLink(shown.user_id) && <Calendars key={`calendars-${shown.user_id}`} m={shown} />}
                {mayLink(shown.user_id) && <CalendarFeed key={`feed-${shown.user_id}`} m={shown} />}
              </>
            ) : <TimeOff user={null} name={t("team.business")} />}
          </div>
        </div>
      )}
    </>
  )
}

/** Midnight at the end of a block is the end of the day, which no field for a time can show. */
const endOf = (typed: string) => (typed === "00:00" ? "24:00" : typed)

type Blocks = [string, string][]
type WeekOf = Record<number, Blocks>
const total = (week: WeekOf) => Object.values(week).flat().reduce((sum, [a, b]) => sum + Math.max(0, minutesOf(b) - minutesOf(a)), 0)
const read = (hours: Member["hours"]): WeekOf => Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((d) => [d, (hours?.[d] ?? []).map(([a, b]) => [a!, b!] as [string, string])]))
export const weekText = (hours: Member["hours"]) => {
  const sum = total(read(hours))
  return sum === 0 ? t("team.no_hours") : t("team.week_total", { time: durationText(sum) })
}

/** Several blocks a day; a day can be copied to others. */
export function Week({ m }: { m: Member }) {
  const queries = useQueryClient()
  const fixed = !mayChange(m.user_id)
  const draft = useMemberDraft(m, async ({ whole, version }) => {
    const hours = Object.fromEntries(Object.entries(read(whole.hours)).filter(([, b]) => b.length > 0).map(([d, b]) => [d, [...b].sort((x, y) => minutesOf(x[0]) - minutesOf(y[0]))]))
    const after = await take(api.PUT("/staff/{user}/hours", { params: { path: { user: m.user_id }, header: ifMatch(version) }, body: { hours } }))
    timesChanged(queries)
    return { ...whole, hours: after as Member["hours"], version: numberOf(after) }
  })
  const [problem, setProblem] = useState("")
  const [copying, setCopying] = useState<number>()
  const week = read(draft.mine.hours)
  const set = (day: number, blocks: Blocks) => (draft.set(`hours.${day}`, blocks.length > 0 ? blocks : undefined), setProblem(""))
  const add = (day: number) => {
    const last = week[day]!.at(-1)
    const from = last ? Math.min(minutesOf(last[1]) + 60, 23 * 60) : 9 * 60
    set(day, [...week[day]!, [clockOf(from), clockOf(Math.min(from + (last ? 240 : 480), 1440))]])
  }
  const wrong = (day: number, i: number) => {
    const [a, b] = week[day]![i]!
    if (!a || !b || minutesOf(a) >= minutesOf(b)) return t("team.end_after_start")
    return week[day]!.some(([x, y], j) => j !== i && minutesOf(x) < minutesOf(b) && minutesOf(a) < minutesOf(y)) ? t("team.blocks_overlap") : ""
  }
  const bad = Object.entries(week).some(([d, blocks]) => blocks.some((_, i) => wrong(Number(d), i)))
  const save = async () => {
    try {
      await draft.save()
      toast(t("team.hours_saved", { name: m.name }))
    } catch (e) {
      const f = asFault(e)
      if (!f.shown) setProblem(f.details.hours?.message ?? saying(f))
    }
  }
  return (
    <Panel title={t("team.week_of", { name: m.name })} beside={<span className="soft num">{total(week) > 0 ? t("team.week_total", { time: durationText(total(week)) }) : ""}</span>}>
      <ol className="week">
        {dayNames.map((name, i) => {
          const day = i + 1
          const blocks = week[day]!
          return (
            <li key={day} className={blocks.length > 0 ? "week-day" : "week-day week-day--off"}>
              <h3 className="week-name" id={`weekday-${day}`}>{name}</h3>
              <div className="week-blocks">
                {blocks.length === 0 && <span className="soft">{t("team.day_off")}</span>}
                {blocks.map(([a, b], j) => (
                  <div key={j} className="week-block">
                    {fixed ? <span className="num">{a} – {b}</span> : (
                      <>
                        <input className="input" type="time" aria-label={t("team.from_of", { day: name, n: String(j + 1) })} value={a} aria-invalid={wrong(day, j) ? true : undefined} onChange={(e) => set(day, blocks.map((x, k) => (k === j ? [e.target.value, x[1]] : x)))} />
                        <span aria-hidden>–</span>
                        <input className="input" type="time" aria-label={t("team.to_of", { day: name, n: String(j + 1) })} value={b === "24:00" ? "00:00" : b} aria-invalid={wrong(day, j) ? true : undefined} onChange={(e) => set(day, blocks.map((x, k) => (k === j ? [x[0], endOf(e.target.value)] : x)))} />
                        {b === "24:00" && <span className="soft small">{t("team.midnight")}</span>}
                        <button className="icon-button" aria-label={t("team.remove_block", { day: name, time: `${a} – ${b}` })} onClick={() => set(day, blocks.filter((_, k) => k !== j))}><Trash2 aria-hidden /></button>
                        {wrong(day, j) && <span className="problem" role="alert">{wrong(day, j)}</span>}
                      </>
                    )}
                  </div>
                ))}
              </div>
              {!fixed && (
                <div className="week-actions">
                  <button className="icon-button" aria-label={t("team.add_block", { day: name })} title={t("team.add_block", { day: name })} onClick={() => add(day)}><Plus aria-hidden /></button>
                  <button className="icon-button" aria-label={t("team.copy_day", { day: name })} title={t("team.copy_day", { day: name })} disabled={blocks.length === 0} onClick={() => setCopying(day)}><Copy aria-hidden /></button>
                </div>
              )}
            </li>
          )
        })}
      </ol>
      {problem && <div className="panel-body"><p className="problem" role="alert">{problem}</p></div>}
      {!fixed && draft.dirty && <form onSubmit={(e) => (e.preventDefault(), bad || void save())}>{draft.clashes.length > 0 && <div className="panel-body"><Clash draft={draft} /></div>}<SaveBar draft={draft} busy={draft.sending} className="save-bar save-bar--in" disabled={bad} /></form>}
      {copying && <CopyDialog day={copying} onClose={() => setCopying(undefined)} onCopy={(days) => (days.forEach((d) => set(d, week[copying]!)), setCopying(undefined))} />}
    </Panel>
  )
}

function CopyDialog({ day, onCopy, onClose }: { day: number; onCopy: (days: number[]) => void; onClose: () => void }) {
  const [days, setDays] = useState([1, 2, 3, 4, 5].filter((d) => d !== day))
  return (
    <Dialog title={t("team.copy_day", { day: dayNames[day - 1]! })} onClose={onClose} size="s">
      <form onSubmit={(e) => (e.preventDefault(), onCopy(days))}>
        <fieldset className="dialog-body">
          <legend className="sr">{t("team.copy_to")}</legend>
          <div className="stack-s">
            {dayNames.map((name, i) => i + 1 !== day && (
              <label key={name} className="check"><input type="checkbox" checked={days.includes(i + 1)} onChange={(e) => setDays(e.target.checked ? [...days, i + 1] : days.filter((d) => d !== i + 1))} /><span>{name}</span></label>
            ))}
          </div>
        </fieldset>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" disabled={days.length === 0}>{t("team.copy")}</Button></footer>
      </form>
    </Dialog>
  )
}

/** The link that stands in the mails of appointments online. */
export function Online({ m }: { m: Member }) {
  const draft = useMemberDraft(m)
  return (
    <Panel title={t("team.online_place")}>
      <dl className="facts panel-body"><Inline label={t("team.meeting_url")} name="meeting_url" type="url" draft={draft} limits={updateStaff} readOnly={!mayChange(m.user_id)} /></dl>
    </Panel>
  )
}

/** Time off and extra hours of a person, or the closures of the business, with the appointments that fall into them. */
export function TimeOff({ user, name }: { user: number | null; name: string }) {
  const queries = useQueryClient()
  const query = useQuery(user === null ? closuresQuery : (timeOffQuery(user) as unknown as typeof closuresQuery))
  const [adding, setAdding] = useState<string>()
  const [year, setYear] = useState(kept.get("time-off") === "year")
  const [holidays, setHolidays] = useState(false)
  const [past, setPast] = useState(false)
  const may = user === null ? can("svc_manage_crm") && can("svc_manage_bookings") : mayChange(user)
  const all = query.data ?? []
  const shown = all.filter((e) => past || e.date_to >= today())
  const hidden = all.length - all.filter((e) => e.date_to >= today()).length
  const send = (e: Pick<Exception, "date_from" | "date_to" | "start" | "end" | "type" | "label">) => {
    const body = { date_from: e.date_from, date_to: e.date_to, start: e.start, end: e.end, type: e.type as "closed", label: e.label }
    return user === null ? take(api.POST("/closures", { body })) : take(api.POST("/staff/{user}/exceptions", { params: { path: { user } }, body }))
  }
  const remove = async (e: Exception) => {
    try {
      await api.DELETE("/exceptions/{id}", { params: { path: { id: e.id } } })
      toast(t("team.off_removed", { what: wordsOf(e) }), { undo: () => void send(e).catch(toastFault).finally(() => timesChanged(queries)) })
    } catch (x) {
      toastFault(x)
    } finally {
      timesChanged(queries)
    }
  }
  return (
    <Panel title={t(user === null ? "team.closures" : "team.times_off")} beside={<span className="row">
      <Button small kind="quiet" icon={year ? <ListIcon aria-hidden /> : <CalendarDays aria-hidden />} onClick={() => (setYear(!year), kept.set("time-off", year ? "" : "year"))}>{t(year ? "team.as_list" : "team.as_year")}</Button>
      {may && user === null && <Button small icon={<PartyPopper aria-hidden />} onClick={() => setHolidays(true)}>{t("team.holidays")}</Button>}
      {may && <Button small icon={<CalendarOff aria-hidden />} onClick={() => setAdding(today())}>{t(user === null ? "team.add_closure" : "team.add_off")}</Button>}
    </span>}>
      {query.isPending ? <Skeleton lines={3} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : year ? <Suspense fallback={<Skeleton lines={8} />}><OffCalendar all={all} wordsOf={wordsOf} onDay={may ? setAdding : undefined} /></Suspense> : shown.length === 0 ? <p className="panel-body soft">{t(user === null ? "team.no_closures" : "team.no_off")}</p> : (
        <ul className="off-list">
          {shown.map((e) => (
            <li key={e.id} className={e.date_to < today() ? "off-row off-row--past" : "off-row"}>
              <span className="cell-main">
                <b>{periodWords(e.date_from, e.date_to)}{e.start && <span className="num"> · {e.start} – {e.end}</span>}</b>
                <small>{wordsOf(e)}</small>
                {e.appointments.length > 0 && e.type === "closed" && (
                  <span className="touched"><span className="with-icon warn"><TriangleAlert aria-hidden />{t("team.touched", { n: e.appointments.length })}</span>{e.appointments.slice(0, 8).map((a) => <Link key={a.id} to="/appointments/$id" params={{ id: a.id }} className="tag num">{dayText(a.starts_at)}, {timeText(a.starts_at)}</Link>)}{e.appointments.length > 8 && <span className="soft small">+{e.appointments.length - 8}</span>}</span>
                )}
              </span>
              {may && <button className="icon-button" aria-label={t("team.remove_off", { what: `${wordsOf(e)}, ${periodWords(e.date_from, e.date_to)}` })} onClick={() => void remove(e)}><Trash2 aria-hidden /></button>}
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && !past && !year && <div className="panel-body"><Button kind="quiet" small onClick={() => setPast(true)}>{t("team.show_past", { n: hidden })}</Button></div>}
      {adding && <OffDialog user={user} name={name} day={adding} onSend={send} onClose={() => setAdding(undefined)} />}
      <Suspense>{holidays && <Holidays onClose={() => setHolidays(false)} />}</Suspense>
    </Panel>
  )
}

const wordsOf = (e: Exception) => e.label || t(e.type === "extra" ? "team.extra" : e.user_id === null ? "team.closed" : "team.time_off")

function OffDialog({ user, name, day, onSend, onClose }: { user: number | null; name: string; day: string; onSend: (e: Pick<Exception, "date_from" | "date_to" | "start" | "end" | "type" | "label">) => Promise<Exception>; onClose: () => void }) {
  const queries = useQueryClient()
  const [type, setType] = useState("closed")
  const [whole, setWhole] = useState(true)
  const [from, setFrom] = useState(day)
  const allDay = whole && type === "closed"
  const form = useForm(async (values) => {
    const made = await onSend({
      date_from: text(values, "date_from"), date_to: text(values, "date_to") || text(values, "date_from"), type, label: text(values, "label"),
      start: allDay ? null : text(values, "start"), end: allDay ? null : endOf(text(values, "end")),
    })
    timesChanged(queries)
    onClose()
    const touched = type === "closed" ? made.appointments.length : 0
    toast(touched > 0 ? t("team.off_made_touched", { n: touched }) : t("team.off_made", { what: wordsOf(made) }))
  })
  return (
    <Dialog title={t(user === null ? "team.add_closure" : "team.add_off_for", { name })} onClose={onClose} guarded={form.dirty}>
      <Form limits={addStaffException} form={form}>
        <div className="dialog-body">
          <div className="fields">
            {user !== null && <SelectField name="type" label={t("team.kind")} wide value={type} onChange={(e) => setType(e.target.value)} options={[{ value: "closed", label: t("team.time_off") }, { value: "extra", label: t("team.extra") }]} />}
            <TextField name="date_from" label={t("team.first_day")} type="date" value={from} onChange={(e) => setFrom(e.target.value)} />
            <TextField name="date_to" label={t("team.last_day")} type="date" key={from} defaultValue={from} min={from} />
            {type === "closed" && <label className="check field--wide"><input type="checkbox" checked={whole} onChange={(e) => setWhole(e.target.checked)} /><span>{t("team.whole_day")}</span></label>}
            {!allDay && <TextField name="start" label={t("team.from")} type="time" defaultValue="09:00" />}
            {!allDay && <TextField name="end" label={t("team.to")} type="time" defaultValue="12:00" />}
            <TextField name="label" label={t("team.label")} help={t("team.label_help")} wide />
          </div>
          <p className="soft">{t(type === "extra" ? "team.extra_text" : "team.off_text")}</p>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("team.add")}</Button></footer>
      </Form>
    </Dialog>
  )
}
