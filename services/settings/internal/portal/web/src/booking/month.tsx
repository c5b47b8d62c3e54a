// A month: how much there is on each day, and the first of it.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Suspense, useMemo, useRef, useState, type KeyboardEvent } from "react"
import { api, take, type Schema } from "@/api/client"
import { dayWords, timeText, today, weekdayWords } from "@/kit/dates"
import { late } from "@/kit/late"
import { servicesQuery } from "@/kit/records"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { dayByKey, weeksOf } from "@/kit/wall"
import { useStaff } from "@/team/data"
import { Agenda } from "./agenda"
import { signs } from "./blocks"
import { tonesBy } from "./choices"
import { exceptionsQuery, whoComes, type Status } from "./data"

const Look = late(() => import("./look").then((m) => ({ default: m.Look })))

/** onDay goes to a day: open asks for its own view. A narrow window has dots, and the chosen day as a list below them. */
export default function Month({ date, narrow, staff, service, colour, onDay }: { date: string; narrow: boolean; staff?: string; service?: string; colour?: string; onDay: (day: string, open: boolean) => void }) {
  const weeks = weeksOf(date)
  const [from, to] = [weeks[0]![0]!, weeks.at(-1)![6]!]
  const query = useQuery({
    queryKey: ["calendar", "days", from, to, staff ?? "", service ?? ""],
    queryFn: async ({ signal }) => (await take(api.GET("/calendar/days", { params: { query: { from, to, ...(staff && { staff }), ...(service && { service }) } }, signal }))).items,
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  const closed = useQuery(exceptionsQuery(from, to, staff)).data?.filter((e) => e.type === "closed" && e.start === null) ?? []
  const services = useQuery(servicesQuery(false)).data
  const team = useStaff()
  const tones = useMemo(() => tonesBy(colour, services ?? [], team), [colour, services, team])
  const followed = useRef(false)
  const [look, setLook] = useState<{ id: string; at: HTMLElement }>()
  if (query.isPending) return <Skeleton lines={12} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  const of = new Map(query.data.map((d) => [d.date, d]))
  const looked = look && query.data.flatMap((d) => d.appointments).find((a) => a.id === look.id)
  const press = (e: KeyboardEvent, day: string) => {
    const next = dayByKey(day, e.key)
    if (!next || e.altKey || e.ctrlKey || e.metaKey) return
    e.preventDefault()
    followed.current = true
    onDay(next, false)
  }
  const follow = (el: HTMLButtonElement | null) => {
    // The focus goes along with the day, also into another month.
    if (!el || !followed.current) return
    followed.current = false
    el.focus()
  }
  return (
    <div className={query.isPlaceholderData ? "calendar list--old" : "calendar"}>
      <table className="month" role="grid" aria-label={t("booking.view.month")}>
        <thead><tr>{weeks[0]!.map((day) => <th key={day} scope="col"><abbr title={weekdayWords(day, "long")}>{weekdayWords(day, narrow ? "narrow" : "short")}</abbr></th>)}</tr></thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => {
                const d = of.get(day)
                const off = closed.filter((e) => e.date_from <= day && e.date_to >= day)
                const shut = off.some((e) => e.user_id === null)
                return (
                  <td key={day} role="gridcell" onClick={() => !narrow && onDay(day, true)} aria-selected={day === date} className={`month-cell${day.slice(0, 7) === date.slice(0, 7) ? "" : " month-cell--other"}${day === today() ? " month-cell--today" : ""}${shut ? " month-cell--off" : ""}`}>
                    <button ref={day === date ? follow : undefined} type="button" className="month-day" tabIndex={day === date ? 0 : -1} onKeyDown={(e) => press(e, day)} onClick={() => narrow && onDay(day, false)}
                      aria-label={[dayWords(day), t("booking.appointments", { n: d?.total ?? 0 }), d && d.pending > 0 && t("booking.requests", { n: d.pending }), ...off.map((e) => e.label || t(e.user_id === null ? "booking.closed" : "booking.time_off"))].filter(Boolean).join(", ")}>
                      <b className="num">{Number(day.slice(8))}</b>
                      {narrow && d && <span className="month-dots" aria-hidden>{d.appointments.slice(0, 3).map((a) => <i key={a.id} className={tones?.(a)} />)}</span>}
                    </button>
                    {!narrow && d && <span className="month-count num" aria-hidden>{d.total}</span>}
                    {!narrow && <Firsts d={d} off={off} toneOf={tones} chosen={day === date} onLook={(id, at) => setLook({ id, at })} />}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {narrow && <Agenda from={date} to={date} staff={staff} service={service} />}
      <Suspense>{looked && <Look key={looked.id} a={looked} at={look.at} onClose={() => setLook(undefined)} />}</Suspense>
    </div>
  )
}

/**
 * The first appointments of a day, and why it is closed. Those of the chosen day come after it by the Tab key; the day itself says to readers of
 * a screen how much there is.
 */
function Firsts({ d, off, toneOf, chosen, onLook }: { d: Schema<"CalendarDay"> | undefined; off: Schema<"Exception">[]; toneOf: ReturnType<typeof tonesBy>; chosen: boolean; onLook: (id: string, at: HTMLElement) => void }) {
  const more = d ? d.total - d.appointments.length : 0
  return (
    <div className="month-firsts">
      {off.slice(0, 1).map((e) => <span key={e.id} className="tag tag--away month-off" aria-hidden>{e.label || t(e.user_id === null ? "booking.closed" : "booking.time_off")}</span>)}
      {d?.appointments.map((a) => (
        <button key={a.id} type="button" aria-haspopup="dialog" tabIndex={chosen ? 0 : -1} className={`month-first appointment--${a.status}${toneOf ? ` ${toneOf(a)}` : ""}`} onClick={(e) => (e.stopPropagation(), onLook(a.id, e.currentTarget))}><span className="num">{timeText(a.starts_at)}</span> <span aria-hidden>{signs[a.status as Status]}</span> {whoComes(a)}<span className="sr">, {t(`booking.status.${a.status as Status}`)}</span></button>
      ))}
      {more > 0 && <span className="soft small" aria-hidden>{t("booking.more", { n: more })}</span>}
    </div>
  )
}
