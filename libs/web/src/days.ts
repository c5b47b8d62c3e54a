// Counting with days, which are texts "2026-11-24": for the widgets and the portal.
const utc = (day: string) => new Date(`${day}T00:00:00Z`)
const text = (date: Date) => date.toISOString().slice(0, 10)

export function addDays(day: string, n: number): string {
  const d = utc(day)
  d.setUTCDate(d.getUTCDate() + n)
  return text(d)
}

/** The first day of a month n months after the month of day. */
export function monthStart(day: string, n = 0): string {
  const d = utc(day.slice(0, 7) + "-01")
  d.setUTCMonth(d.getUTCMonth() + n)
  return text(d)
}

export const monthEnd = (day: string) => addDays(monthStart(day, 1), -1)

/** A day so many months later: the last one of a month that is too short. */
export function addMonths(day: string, n: number): string {
  const [same, last] = [monthStart(day, n).slice(0, 8) + day.slice(8), monthEnd(monthStart(day, n))]
  return same < last ? same : last
}

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => addDays(day, -((utc(day).getUTCDay() + 6) % 7))

/** The days from one to another, both included. */
export function daysBetween(from: string, to: string): string[] {
  const all: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) all.push(day)
  return all
}

/** The weeks of a day's month, from the Monday before its first day to the Sunday after its last one. */
export function weeksOf(day: string): string[][] {
  const days = daysBetween(mondayOf(monthStart(day)), addDays(mondayOf(monthEnd(day)), 6))
  return Array.from({ length: days.length / 7 }, (_, i) => days.slice(7 * i, 7 * i + 7))
}

/** The day to which a key leads in a grid of weeks: arrows by days and weeks, Home and End within the week, Page Up and Page Down by months. */
export function dayByKey(day: string, key: string): string | undefined {
  const days = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[key]
  if (days) return addDays(day, days)
  const months = { PageUp: -1, PageDown: 1 }[key]
  if (months) return addMonths(day, months)
  if (key === "Home") return mondayOf(day)
  if (key === "End") return addDays(mondayOf(day), 6)
  return undefined
}
