import { useLayoutEffect, useRef } from "preact/hooks"
import left from "@web/../icon/chevron-left.svg"
import right from "@web/../icon/chevron-right.svg"
import { dayByKey, monthEnd, monthStart, weeksOf } from "@web/days"
import { Icon } from "@web/icon"
import type { Around } from "./around"
import type { Slot } from "./data"

interface Props {
  a: Around
  month: string
  today: string
  /** Free times by day; undefined while they load. */
  days: Map<string, Slot[]> | undefined
  loading: boolean
  chosen: string
  choose: (day: string) => void
  show: (month: string) => void
}

const horizon = 25

/** A month as a grid: arrows move by day and week, Home and End within the week, Page Up and Page Down by month. */
export function Month({ a: { t, f }, month, today, days, loading, chosen, choose, show }: Props) {
  const grid = useRef<HTMLTableElement>(null)
  // The day that gets focus once its month is shown.
  const wanted = useRef("")
  const first = monthStart(today)
  const last = monthEnd(monthStart(today, horizon))
  const inMonth = (day: string) => day.slice(0, 7) === month.slice(0, 7)
  const stop = [chosen, ...(days?.keys() ?? []), today, month].find(inMonth)
  const focusWanted = () => {
    if (!inMonth(wanted.current)) return
    grid.current?.querySelector<HTMLElement>(`[data-day="${wanted.current}"]`)?.focus()
    wanted.current = ""
  }

  // Before the next key: a later effect would leave that key to the day of the month before.
  useLayoutEffect(focusWanted, [month])

  const keys = (e: KeyboardEvent, day: string) => {
    const to = dayByKey(day, e.key)
    if (!to || e.altKey || e.ctrlKey || e.metaKey) return
    e.preventDefault()
    if (to < first || to > last) return
    wanted.current = to
    show(monthStart(to))
    focusWanted()
  }
  const step = (n: number, label: string, icon: string) => {
    const to = monthStart(month, n)
    const off = to < first || to > last
    return (
      <button type="button" class="square" aria-label={t(label)} aria-disabled={off || undefined} onClick={() => !off && show(to)}>
        <Icon of={icon} />
      </button>
    )
  }

  return (
    <div>
      <div class="month-head">
        {step(-1, "previous_month", left)}
        <h3 class="month-name" aria-live="polite">
          {f.month(month)}
        </h3>
        {step(1, "next_month", right)}
      </div>
      <table class="month" role="grid" aria-label={f.month(month)} aria-busy={loading} ref={grid}>
        <thead>
          <tr>
            {f.weekdays().map((d) => (
              <th scope="col">
                <abbr title={d.long}>{d.short}</abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => {
                const n = days?.get(day)?.length
                return (
                  <td key={day} aria-selected={inMonth(day) ? day === chosen : undefined}>
                    {inMonth(day) && (
                      <button
                        type="button"
                        data-day={day}
                        tabIndex={day === stop ? 0 : -1}
                        class={"day" + (n ? " day--free" : "") + (day === chosen ? " day--chosen" : "") + (day === today ? " day--today" : "")}
                        aria-disabled={!n || undefined}
                        aria-current={day === today ? "date" : undefined}
                        aria-label={`${f.day(day)}, ${loading ? t("busy") : n ? t("times", { n }) : t("no_times")}`}
                        onClick={() => n && choose(day)}
                        onKeyDown={(e) => keys(e, day)}
                      >
                        {Number(day.slice(8))}
                      </button>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
