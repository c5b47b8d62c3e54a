import { useLayoutEffect, useRef } from "preact/hooks"
import type { formats } from "@web/dates"
import { dayByKey, monthEnd, monthStart, weeksOf } from "@web/days"
import { Icon } from "@web/icon"
import type { T } from "@web/text"
import type { Slot } from "./data"

interface Props {
  month: string
  today: string
  days: Map<string, Slot[]> | undefined
  loading: boolean
  chosen: string
  f: ReturnType<typeof formats>
  t: T
  choose: (day: string) => void
  show: (month: string) => void
}

const horizon = 25

/** A month as a grid: arrows move by day and week, Home and End within the week, Page Up and Page Down by month. */
export function Month({ month, today, days, loading, chosen, f, t, choose, show }: Props) {
  const grid = useRef<HTMLTableElement>(null)
  // The day that gets focus once its month is shown.
  const wanted = useRef("")
  const free = (day: string) => days?.get(day)?.length ?? 0
  const first = monthStart(today)
  const last = monthEnd(monthStart(today, horizon))
  const inMonth = (day: string) => day.slice(0, 7) === month.slice(0, 7)
  const stop = inMonth(chosen) ? chosen : ([...(days?.keys() ?? [])].find(inMonth) ?? (inMonth(today) ? today : month))

  // Before the next key: a later effect would leave that key to the day of the month before.
  useLayoutEffect(() => {
    if (wanted.current && inMonth(wanted.current)) {
      grid.current?.querySelector<HTMLElement>(`[data-day="${wanted.current}"]`)?.focus()
      wanted.current = ""
    }
  }, [month])

  const go = (day: string) => {
    if (day < first || day > last) return
    if (inMonth(day)) {
      grid.current?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus()
      return
    }
    wanted.current = day
    show(monthStart(day))
  }
  const keys = (e: KeyboardEvent, day: string) => {
    const to = dayByKey(day, e.key)
    if (!to || e.altKey || e.ctrlKey || e.metaKey) return
    e.preventDefault()
    go(to)
  }
  const step = (n: number, label: string, icon: "chevron-left" | "chevron-right") => {
    const to = monthStart(month, n)
    const off = to < first || to > last
    return (
      <button type="button" class="square" aria-label={label} aria-disabled={off || undefined} onClick={() => !off && show(to)}>
        <Icon name={icon} />
      </button>
    )
  }

  return (
    <div>
      <div class="month-head">
        {step(-1, t("previous_month"), "chevron-left")}
        <h3 class="month-name" aria-live="polite">
          {f.month(month)}
        </h3>
        {step(1, t("next_month"), "chevron-right")}
      </div>
      <table class="month" role="grid" aria-label={f.month(month)} aria-busy={loading} ref={grid}>
        <thead>
          <tr>
            {f.weekdays.map((d) => (
              <th key={d.long} scope="col">
                <abbr title={d.long}>{d.short}</abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day} aria-selected={inMonth(day) ? day === chosen : undefined}>
                  {inMonth(day) && (
                    <button
                      type="button"
                      data-day={day}
                      tabIndex={day === stop ? 0 : -1}
                      class={"day" + (free(day) ? " day--free" : "") + (day === chosen ? " day--chosen" : "") + (day === today ? " day--today" : "")}
                      aria-disabled={!free(day) || undefined}
                      aria-current={day === today ? "date" : undefined}
                      aria-label={`${f.day(day)}, ${loading ? t("busy") : free(day) ? t("times", { n: free(day) }) : t("no_times")}`}
                      onClick={() => free(day) && choose(day)}
                      onKeyDown={(e) => keys(e, day)}
                    >
                      {Number(day.slice(8))}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
