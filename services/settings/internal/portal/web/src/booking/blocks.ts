// What stands in the grid of a day or a week: appointments, and time in which nobody works.
import { useMemo } from "react"
import type { Schema } from "@/api/client"
import { clockOf, dayLongText, minutesOf, timeRange, timeText } from "@/kit/dates"
import { t } from "@/kit/text"
import { daysBetween, wallOf, wallPlus } from "@/kit/wall"
import type { Exception } from "@/team/data"
import { actionsOf, whoComes, type Status } from "./data"
import type { Block } from "./grid"

/** Beside the colour: what needs an answer, what is done, who did not come. */
export const signs: Partial<Record<Status, string>> = { pending: "?", completed: "✓", no_show: "✕", pending_payment: "€" }

type Tone = (a: Schema<"ShownAppointment">) => string

export const useBlocks = (view: "day" | "week", calendar: Schema<"Calendar"> | undefined, off: Exception[], from: string, to: string, toneOf?: Tone) =>
  useMemo(() => blocksOf(view, calendar, off, from, to, toneOf), [view, calendar, off, from, to, toneOf])

/** What is not to be worked in, day by day, and the appointments. toneOf gives an appointment its colour; without one it has that of its status. */
export function blocksOf(view: "day" | "week", calendar: Schema<"Calendar"> | undefined, off: Exception[], from: string, to: string, toneOf?: Tone) {
  const out: Block[] = []
  if (!calendar) return { blocks: out, min: "08:00", max: "18:00" }
  let [min, max] = [24 * 60, 0]
  const days = daysBetween(from, to)
  const wall = (day: string, minutes: number) => wallPlus(`${day}T00:00:00`, minutes * 60)
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
    const short = Date.parse(a.ends_at) - Date.parse(a.starts_at) < 45 * 60_000
    const state = t(`booking.status.${a.status as Status}`)
    out.push({
      id: a.id, start: wallOf(a.starts_at), end: wallOf(a.ends_at), staff: a.staff.user_id,
      look: `appointment appointment--${a.status}${Date.parse(a.ends_at) < Date.now() ? " appointment--past" : ""}${short ? " appointment--short" : ""}${toneOf ? ` ${toneOf(a)}` : ""}`,
      label: `${state}${a.conflict ? `, ${t("booking.conflict")}` : ""}, ${dayLongText(a.starts_at)}, ${timeRange(a.starts_at, a.ends_at)}, ${a.service.name}, ${a.staff.name}`,
      lines: short ? [whoComes(a), timeText(a.starts_at)] : [whoComes(a), timeRange(a.starts_at, a.ends_at), together ? `${a.service.name} · ${a.staff.name}` : a.service.name],
      sign: a.conflict ? "!" : signs[a.status as Status], movable: actionsOf(a).open,
    })
  }
  if (max <= min) [min, max] = [8 * 60, 18 * 60]
  return { blocks: out, min: clockOf(Math.max(0, Math.floor(min / 60) * 60 - 60)), max: clockOf(Math.min(1440, Math.ceil(max / 60) * 60 + 60)) }
}
