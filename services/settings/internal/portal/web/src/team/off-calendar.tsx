// Time off, extra hours and closures of a year at a glance.
import { ChevronLeft, ChevronRight } from "lucide-react"
import { useRef, useState, type KeyboardEvent } from "react"
import { flushSync } from "react-dom"
import { dayWords, monthWords, today, weekdayWords } from "@/kit/dates"
import { t } from "@/kit/text"
import { dayByKey, weeksOf } from "@/kit/wall"
import type { Exception } from "./data"

/** wordsOf says what an entry is. onDay is called with a day that somebody presses, where they may add something. */
export default function OffCalendar({ all, wordsOf, onDay }: { all: Exception[]; wordsOf: (e: Exception) => string; onDay?: (day: string) => void }) {
  const [year, setYear] = useState(Number(today().slice(0, 4)))
  const [focus, setFocus] = useState(today())
  const box = useRef<HTMLDivElement>(null)
  const at = focus.startsWith(String(year)) ? focus : `${year}-01-01`
  const go = (e: KeyboardEvent, day: string) => {
    const next = dayByKey(day, e.key)
    if (!next) return
    e.preventDefault()
    flushSync(() => {
      setFocus(next)
      setYear(Number(next.slice(0, 4)))
    })
    box.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus()
  }
  return (
    <div ref={box} className="panel-body off-year">
      <div className="row">
        <button type="button" className="icon-button" aria-label={t("team.year_before")} onClick={() => setYear(year - 1)}><ChevronLeft aria-hidden /></button>
        <b className="num" aria-live="polite">{year}</b>
        <button type="button" className="icon-button" aria-label={t("team.year_after")} onClick={() => setYear(year + 1)}><ChevronRight aria-hidden /></button>
      </div>
      <div className="off-months">
        {Array.from({ length: 12 }, (_, i) => {
          const first = `${year}-${String(i + 1).padStart(2, "0")}-01`
          return (
            <table key={first} role="grid" className="off-month" aria-label={monthWords(first)}>
              <caption>{monthWords(first)}</caption>
              <thead><tr>{weeksOf(first)[0]!.map((day) => <th key={day} scope="col"><abbr title={weekdayWords(day, "long")}>{weekdayWords(day, "narrow")}</abbr></th>)}</tr></thead>
              <tbody>
                {weeksOf(first).map((week) => (
                  <tr key={week[0]}>
                    {week.map((day) => {
                      if (day.slice(0, 7) !== first.slice(0, 7)) return <td key={day} />
                      const here = all.filter((e) => e.date_from <= day && e.date_to >= day)
                      const look = here.some((e) => e.type === "closed" && e.start === null) ? " off-day--off" : here.some((e) => e.type === "closed") ? " off-day--part" : here.length > 0 ? " off-day--extra" : ""
                      const words = [dayWords(day), ...here.map((e) => (e.start ? `${wordsOf(e)}, ${e.start} – ${e.end}` : wordsOf(e)))].join(", ")
                      return (
                        <td key={day} role="gridcell">
                          <button type="button" data-day={day} className={`off-day num${look}${day === today() ? " off-day--today" : ""}`} tabIndex={day === at ? 0 : -1} title={here.length > 0 ? words : undefined} aria-label={words} aria-disabled={onDay ? undefined : true}
                            onFocus={() => setFocus(day)} onKeyDown={(e) => go(e, day)} onClick={() => onDay?.(day)}>{Number(day.slice(8))}</button>
                        </td>
                      )
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          )
        })}
      </div>
      <p className="off-legend soft small" aria-hidden><i className="off-day--off" />{t("team.legend_off")}<i className="off-day--part" />{t("team.legend_part")}<i className="off-day--extra" />{t("team.extra")}</p>
    </div>
  )
}
