import "./booking.css"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { CalendarDays, CalendarPlus, ChevronLeft, ChevronRight } from "lucide-react"
import { lazy, Suspense, useMemo, useRef, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button, ButtonLink } from "@/kit/button"
import { clockOf, dayLongText, dayOf, dayWords, elsewhere, minutesOf, timeRange, timeText, today } from "@/kit/dates"
import { addDays, momentOf, sameMoment, wallOf } from "@/kit/wall"
import { useKeys } from "@/kit/keys"
import { late } from "@/kit/late"
import { Choice, useList, useWalk } from "@/kit/list"
import { once } from "@/kit/once"
import { Head } from "@/kit/head"
import { can, start } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { locale, t } from "@/kit/text"
import { actionsOf, whoComes, allStatuses, exceptionsQuery, type Appointment, type Status as StatusName } from "./data"
import type { Block } from "./grid"
import { Status } from "./marks"
import type { Chosen } from "./times"
import { useStaff, type Exception } from "@/team/data"

const Grid = lazy(() => import("./grid"))
const MoveDialog = late(() => import("./move").then((m) => ({ default: m.MoveDialog })))
const route = getRouteApi("/calendar")

const views = ["day", "week", "list"] as const
type View = (typeof views)[number]

const monday = (day: string) => addDays(day, -((new Date(day + "T12:00:00Z").getUTCDay() + 6) % 7))
const title = {
  day: once(() => new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })),
  week: once(() => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })),
}
const utc = (day: string) => new Date(`${day}T12:00:00Z`)

export function Calendar() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const go = useNavigate()
  const staff = useStaff()
  const narrow = matchMedia("(max-width: 640px)").matches
  const view: View = views.find((v) => v === search.view) ?? (narrow ? "list" : "day")
  const date = /^\d{4}-\d\d-\d\d$/.test(search.date ?? "") && !Number.isNaN(Date.parse(search.date!)) ? search.date! : today()
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const first = view === "day" ? date : monday(date)
  const last = view === "day" ? date : addDays(first, 6)
  const step = (n: number) => set({ date: addDays(date, view === "day" ? n : 7 * n) })
  const add = () => void go({ to: "/appointments/new", search: { staff: search.staff } })
  useKeys({
    d: () => set({ view: "day" }), w: () => set({ view: "week" }), l: () => set({ view: "list" }), t: () => set({ date: undefined }),
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ...(can("svc_manage_bookings") && { n: add }),
  })
  return (
    <>
      <Head title={t("nav.calendar")}>
        {can("svc_manage_bookings") && <ButtonLink kind="main" to="/appointments/new" search={{ staff: search.staff }} icon={<CalendarPlus aria-hidden />}>{t("booking.new")}</ButtonLink>}
      </Head>
      <div className="tools calendar-tools">
        <div className="row calendar-nav">
          <Button onClick={() => set({ date: undefined })} aria-current={date === today() ? "date" : undefined}>{t("booking.today")}</Button>
          <button className="icon-button" aria-label={t(view === "day" ? "booking.day_before" : "booking.week_before")} onClick={() => step(-1)}><ChevronLeft aria-hidden /></button>
          <button className="icon-button" aria-label={t(view === "day" ? "booking.day_after" : "booking.week_after")} onClick={() => step(1)}><ChevronRight aria-hidden /></button>
          <h2 className="calendar-title" aria-live="polite">{view === "day" ? title.day().format(utc(date)) : title.week().formatRange(utc(first), utc(last))}</h2>
        </div>
        <div className="row">
          {view === "list" && <Choice label={t("booking.any_status")} value={search.status as StatusName | undefined} options={allStatuses.map((value) => ({ value, label: t(`booking.status.${value}` as "booking.status.pending") }))} onChange={(v) => set({ status: v })} />}
          {staff.length > 1 && <Choice label={t("booking.everybody")} value={search.staff} options={staff.map((m) => ({ value: String(m.user_id), label: m.name }))} onChange={(v) => set({ staff: v })} />}
          <input className="input calendar-date" type="date" aria-label={t("booking.go_to")} value={date} onChange={(e) => e.target.value && set({ date: e.target.value })} />
          <div className="segments calendar-views" role="group" aria-label={t("booking.view")}>
            {views.map((v) => <button key={v} className="segment" aria-pressed={v === view} onClick={() => set({ view: v })}>{t(`booking.view.${v}`)}</button>)}
          </div>
        </div>
      </div>
      {view === "list" ? <Agenda from={first} to={last} staff={search.staff} status={search.status as StatusName | undefined} /> : <Times view={view} date={date} from={first} to={last} staff={search.staff} />}
    </>
  )
}

/** What is not to be worked in, day by day: the rest of the day, time off and closures with their words. */
function useBlocks(view: "day" | "week", calendar: Schema<"Calendar"> | undefined, off: Exception[], from: string, to: string) {
  return useMemo(() => {
    const out: Block[] = []
    if (!calendar) return { blocks: out, min: "08:00", max: "18:00" }
    let [min, max] = [24 * 60, 0]
    const days: string[] = []
    for (let d = from; d <= to; d = addDays(d, 1)) days.push(d)
    const wall = (day: string, minutes: number) => (minutes >= 1440 ? `${addDays(day, 1)}T00:00:00` : `${day}T${clockOf(minutes)}:00`)
    for (const [i, person] of calendar.staff.entries()) {
      for (const day of person.days) for (const [a, b] of day.hours) [min, max] = [Math.min(min, minutesOf(a!)), Math.max(max, minutesOf(b!))]
      if (view === "week" && i > 0) continue
      for (const day of days) {
        // A week shows the time in which nobody works.
        const hours = (view === "week" ? calendar.staff : [person]).flatMap((p) => p.days.find((x) => x.date === day)?.hours ?? []).map(([a, b]) => [minutesOf(a!), minutesOf(b!)] as const).sort((x, y) => x[0] - y[0])
        let at = 0
        for (const [a, b] of [...hours, [1440, 1440] as const]) {
          if (a > at) out.push({ id: `free-${person.user_id}-${day}-${at}`, start: wall(day, at), end: wall(day, a), staff: person.user_id, label: "", look: "off", lines: [], background: true })
          at = Math.max(at, b)
        }
      }
    }
    for (const e of off) {
      if (e.type === "extra") continue
      for (const day of days) {
        if (day < e.date_from || day > e.date_to) continue
        for (const person of calendar.staff) {
          if (e.user_id !== null && e.user_id !== person.user_id) continue
          if (view === "week" && e.user_id === null && person !== calendar.staff[0]) continue
          // In a week of several people, a day off of one is no day off of all: it is named above.
          const several = view === "week" && e.user_id !== null && calendar.staff.length > 1
          if (several && !e.start) continue
          const words = (several ? `${person.name}: ` : "") + (e.label || t(e.user_id === null ? "booking.closed" : "booking.time_off"))
          out.push({ id: `off-${e.id}-${person.user_id}-${day}`, start: wall(day, e.start ? minutesOf(e.start) : 0), end: wall(day, e.end ? minutesOf(e.end) : 1440), staff: person.user_id, label: words, look: e.start ? "away" : "away away--day", lines: e.start ? [words] : [], background: true })
        }
      }
    }
    const together = view === "week" && calendar.staff.length > 1
    for (const person of calendar.staff) for (const { starts_at, ends_at } of person.busy) {
      const words = (together ? `${person.name}: ` : "") + t("booking.busy")
      out.push({ id: `busy-${person.user_id}-${starts_at}`, start: wallOf(starts_at), end: wallOf(ends_at), staff: person.user_id, label: words, look: "away", lines: [words], background: true })
    }
    for (const a of calendar.appointments) {
      const [s, e] = [wallOf(a.starts_at), wallOf(a.ends_at)]
      const short = Date.parse(a.ends_at) - Date.parse(a.starts_at) < 45 * 60_000
      const state = t(`booking.status.${a.status as StatusName}`)
      out.push({
        id: a.id, start: s, end: e, staff: a.staff.user_id, look: `appointment appointment--${a.status}${Date.parse(a.ends_at) < Date.now() ? " appointment--past" : ""}${short ? " appointment--short" : ""}`,
        label: `${state}${a.conflict ? `, ${t("booking.conflict")}` : ""}, ${dayLongText(a.starts_at)}, ${timeRange(a.starts_at, a.ends_at)}, ${a.service.name}, ${a.staff.name}`,
        lines: short ? [whoComes(a), timeText(a.starts_at)] : [whoComes(a), timeRange(a.starts_at, a.ends_at), together ? `${a.service.name} · ${a.staff.name}` : a.service.name],
        sign: a.conflict ? "!" : signs[a.status as StatusName], movable: actionsOf(a).open,
      })
    }
    if (max <= min) [min, max] = [8 * 60, 18 * 60]
    return { blocks: out, min: clockOf(Math.max(0, Math.floor(min / 60) * 60 - 60)), max: clockOf(Math.min(1440, Math.ceil(max / 60) * 60 + 60)) }
  }, [view, calendar, off, from, to])
}

const none: Exception[] = []

/** Beside the colour: what needs an answer, what is done, who did not come. */
const signs: Partial<Record<StatusName, string>> = { pending: "?", completed: "✓", no_show: "✕", pending_payment: "€" }

function Times({ view, date, from, to, staff }: { view: "day" | "week"; date: string; from: string; to: string; staff: string | undefined }) {
  const go = useNavigate()
  const [moving, setMoving] = useState<{ a: Appointment; to: Chosen }>()
  const query = useQuery({
    queryKey: ["calendar", from, to, staff ?? ""],
    queryFn: ({ signal }) => take(api.GET("/calendar", { params: { query: { from, to, ...(staff && { staff }) } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  const people = query.data?.staff ?? []
  const all = useQuery(exceptionsQuery(from, to, staff)).data ?? none
  const { blocks, min, max } = useBlocks(view, query.data, all, from, to)
  if (query.isPending) return <Skeleton lines={12} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (people.length === 0) return <Blank icon={CalendarDays} title={t("booking.nobody")} text={t("booking.nobody_text")}>{can("svc_manage_bookings") && <ButtonLink to="/hours">{t("nav.hours")}</ButtonLink>}</Blank>
  const find = (id: string) => query.data.appointments.find((a) => a.id === id)
  const closed = all.filter((e) => e.type === "closed" && e.start === null && e.date_from <= to && e.date_to >= from)
  const now = Number(wallOf(Date.now()).slice(11, 13))
  return (
    <div className={query.isPlaceholderData ? "calendar list--old" : "calendar"}>
      {(elsewhere() || closed.length > 0) && (
        <p className="calendar-notes soft small">
          {closed.map((e) => <span key={e.id} className="tag tag--away">{e.user_id === null ? "" : `${people.find((p) => p.user_id === e.user_id)?.name}: `}{e.label || t(e.user_id === null ? "booking.closed" : "booking.time_off")}</span>)}
          {elsewhere() && <span>{t("booking.zone", { zone: start.zone.replaceAll("_", " ") })}</span>}
        </p>
      )}
      <Suspense fallback={<Skeleton lines={12} />}>
        <Grid view={view} date={date} people={people.map((p) => ({ id: p.user_id, name: p.name }))} blocks={blocks} from={min} to={max} scroll={date === today() ? clockOf(Math.max(0, now - 1) * 60) : min}
          onOpen={(id) => void go({ to: "/appointments/$id", params: { id } })}
          onMove={(id, wall, user) => {
            const a = find(id)
            if (a && (!sameMoment(momentOf(wall), a.starts_at) || user !== a.staff.user_id)) setMoving({ a, to: { starts_at: momentOf(wall), staff: user, outside: false } })
          }}
          onFree={can("svc_manage_bookings") ? (wall, user) => void go({ to: "/appointments/new", search: { at: wall.slice(0, 16), staff: user ? String(user) : staff } }) : undefined} />
      </Suspense>
      <Suspense>{moving && <MoveDialog a={moving.a} to={moving.to} onClose={() => setMoving(undefined)} />}</Suspense>
    </div>
  )
}

/** A week as a list: what readers of a screen and small screens use. */
function Agenda({ from, to, staff, status }: { from: string; to: string; staff: string | undefined; status: StatusName | undefined }) {
  const list = useList(["appointments", "list", { from, to, staff, status }], (cursor, signal) =>
    take(api.GET("/appointments", { params: { query: { from, to, cursor, per_page: 100, ...(staff && { staff }), ...(status && { status: [status] }) } }, signal })))
  const body = useRef<HTMLDivElement>(null)
  useWalk(body)
  if (list.isPending) return <Skeleton lines={10} />
  if (list.isError && list.items.length === 0) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (list.items.length === 0) return <Blank icon={CalendarDays} title={t("booking.none")} text={t("booking.none_text")}>{can("svc_manage_bookings") && <ButtonLink kind="main" to="/appointments/new" icon={<CalendarPlus aria-hidden />}>{t("booking.new")}</ButtonLink>}</Blank>
  const days = [...new Set(list.items.map((a) => dayOf(a.starts_at)))]
  return (
    <div ref={body} className={list.isPlaceholderData ? "content agenda-list list--old" : "content agenda-list"}>
      {days.map((d) => (
        <section key={d} aria-labelledby={`day-${d}`}>
          <h3 id={`day-${d}`} className={d === today() ? "agenda-day agenda-day--today" : "agenda-day"}>{dayWords(d)}</h3>
          <ul>
            {list.items.filter((a) => dayOf(a.starts_at) === d).map((a) => (
              <li key={a.id} className={`slot-row${Date.parse(a.ends_at) < Date.now() ? " slot-row--past" : ""}`}>
                <span className="slot-time num">{timeText(a.starts_at)}<small>{timeText(a.ends_at)}</small></span>
                <span className="cell-main"><Link to="/appointments/$id" params={{ id: a.id }} className="row-link cell-text">{whoComes(a)}</Link><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
                <Status status={a.status} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {list.hasNextPage && <div><Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>{t("list.more")}</Button></div>}
    </div>
  )
}
