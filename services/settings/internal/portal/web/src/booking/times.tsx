// Free times of a service, or of an appointment that is to be moved: a strip of seven days, the times of one of them, and a time outside all that.
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { ChevronLeft, ChevronRight, TriangleAlert } from "lucide-react"
import { useEffect, useRef, useState, type KeyboardEvent } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { dayLongText, dayOf, dayWords, elsewhere, monthWords, ofDay, timeText, today, weekdayWords } from "@/kit/dates"
import { addDays, momentOf, sameMoment, wallOf } from "@/kit/wall"
import { start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"

/** A time that somebody chose. staff is null for whoever is free; outside is a time that the free times do not list. */
export type Chosen = { starts_at: string; staff: number | null; outside: boolean }

/** What times are for: a new appointment, or one that is moved and keeps what it was booked on. */
export type For = { service: string } | { appointment: string }

const slotsQuery = (what: For, staff: number | null, from: string, to: string) =>
  queryOptions({
    queryKey: ["slots", what, staff, from, to],
    queryFn: async ({ signal }) => (await take(api.GET("/slots", { params: { query: { ...what, from, to, ...(staff !== null && { staff }) } }, signal }))).items,
    staleTime: 10_000,
  })

const dayNumber = ofDay({ day: "numeric" })

export function Times({ what, staff, from = today(), value, onPick, focus }: {
  what: For
  staff: number | null
  /** The day that is shown first. */
  from?: string
  value?: Chosen
  onPick: (chosen: Chosen) => void
  /** Gives the focus to the first free time once it is there. */
  focus?: boolean
}) {
  const [first, setFirst] = useState(from)
  const [day, setDay] = useState<string>()
  const [moved, setMoved] = useState(false)
  const [other, setOther] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const focused = useRef(!focus)
  const week = useQuery({ ...slotsQuery(what, staff, first, addDays(first, 6)), placeholderData: keepPreviousData })
  const empty = week.isSuccess && !week.isPlaceholderData && week.data.length === 0
  const next = useQuery({ ...slotsQuery(what, staff, addDays(first, 7), addDays(first, 67)), enabled: empty })
  const nextDay = next.data?.[0] && dayOf(next.data[0].starts_at)
  useEffect(() => {
    // Nobody wants to look for the first free day.
    if (empty && nextDay && !moved) setFirst(nextDay)
  }, [empty, nextDay, moved])
  const days = Array.from({ length: 7 }, (_, i) => addDays(first, i))
  const slots = week.data ?? []
  const count = (d: string) => slots.filter((s) => dayOf(s.starts_at) === d).length
  const shown = day && days.includes(day) && count(day) > 0 ? day : days.find((d) => count(d) > 0)
  const times = slots.filter((s) => dayOf(s.starts_at) === shown)
  useEffect(() => {
    if (focused.current || times.length === 0) return
    focused.current = true
    list.current?.querySelector<HTMLElement>("button")?.focus()
  })
  const go = (n: number) => {
    const to = addDays(first, n)
    setMoved(true)
    setFirst(to < today() ? today() : to)
  }
  const part = (hour: (h: number) => boolean) => times.filter((s) => hour(Number(wallOf(s.starts_at).slice(11, 13))))
  const parts = [
    { name: t("booking.morning"), items: part((h) => h < 12) },
    { name: t("booking.afternoon"), items: part((h) => h >= 12 && h < 17) },
    { name: t("booking.evening"), items: part((h) => h >= 17) },
  ].filter((p) => p.items.length > 0)
  return (
    <div className="times">
      <div className="row between">
        <span className="times-month">{monthWords(first)}</span>
        <span className="row">
          <button type="button" className="icon-button" aria-label={t("booking.week_before")} disabled={first <= today()} onClick={() => go(-7)}><ChevronLeft aria-hidden /></button>
          <button type="button" className="icon-button" aria-label={t("booking.week_after")} onClick={() => go(7)}><ChevronRight aria-hidden /></button>
        </span>
      </div>
      <div className="strip" role="group" aria-label={t("booking.day")} onKeyDown={arrows}>
        {days.map((d) => (
          <button key={d} type="button" className="strip-day" aria-pressed={d === shown} disabled={count(d) === 0} onClick={() => setDay(d)}>
            <span>{weekdayWords(d, "short")} </span><b className="num">{dayNumber(d)}</b><span className="sr">, {t("booking.free_times", { n: count(d) })}</span><i aria-hidden />
          </button>
        ))}
      </div>
      {week.isPending ? <Skeleton lines={3} /> : week.isError && !week.data ? <Failed error={week.error} retry={() => void week.refetch()} /> : slots.length === 0 ? (
        <div className="times-none">
          <p className="soft">{next.isFetching ? t("loading") : nextDay ? t("booking.no_times_week") : t("booking.no_times")}</p>
          {nextDay && <Button small onClick={() => (setMoved(true), setFirst(nextDay))}>{t("booking.next_free", { day: dayLongText(next.data![0]!.starts_at) })}</Button>}
        </div>
      ) : (
        <div ref={list} className={week.isPlaceholderData ? "list list--old" : "list"} onKeyDown={arrows}>
          {parts.map((p) => (
            <div key={p.name} role="group" aria-label={`${shown ? dayWords(shown) : ""}, ${p.name}`}>
              <p className="times-part" aria-hidden>{p.name}</p>
              <div className="times-grid">
                {p.items.map((s) => (
                  <button key={s.starts_at} type="button" className="time num" aria-pressed={value !== undefined && sameMoment(value.starts_at, s.starts_at) && !value.outside} onClick={() => onPick({ starts_at: s.starts_at, staff, outside: false })}>{timeText(s.starts_at)}</button>
                ))}
              </div>
            </div>
          ))}
        </div>
      )}
      {elsewhere() && <p className="help">{t("booking.zone", { zone: start.zone.replaceAll("_", " ") })}</p>}
      {other ? <OtherTime value={value} day={shown ?? first} staff={staff} onPick={onPick} /> : <Button kind="quiet" small onClick={() => setOther(true)}>{t("booking.other_time")}</Button>}
    </div>
  )
}

/** A day and a time that are typed: outside working hours too. */
function OtherTime({ value, day, staff, onPick }: { value?: Chosen; day: string; staff: number | null; onPick: (c: Chosen) => void }) {
  const [at, setAt] = useState(value?.outside ? wallOf(value.starts_at).slice(0, 16) : `${day}T12:00`)
  const [date, time] = [at.slice(0, 10), at.slice(11)]
  const ok = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at)
  return (
    <fieldset className="other-time">
      <legend className="label">{t("booking.other_time")}</legend>
      <div className="row">
        <input className="input" type="date" aria-label={t("booking.date")} value={date} autoFocus onChange={(e) => setAt(`${e.target.value}T${time}`)} />
        <input className="input" type="time" aria-label={t("booking.time")} value={time} step={300} onChange={(e) => setAt(`${date}T${e.target.value}`)} />
        <Button disabled={!ok} onClick={() => onPick({ starts_at: momentOf(at), staff, outside: true })}>{t("booking.take_time")}</Button>
      </div>
      <p className="help with-icon"><TriangleAlert aria-hidden />{t("booking.outside_text")}</p>
    </fieldset>
  )
}

/** Arrow keys walk over the buttons of a group. */
export function arrows(e: KeyboardEvent<HTMLElement>) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key]
  if (!step || (e.target as HTMLElement).tagName !== "BUTTON") return
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>("button:not(:disabled)")]
  const next = all[all.indexOf(e.target as HTMLElement) + step]
  if (next) {
    e.preventDefault()
    next.focus()
  }
}
