// Counting with days, which are texts "2026-11-24": for the widgets and the portal.
const moved = (day: string, months: number, days: number) => {
  // A day without a time is one of UTC.
  const d = new Date(day)
  d.setUTCMonth(d.getUTCMonth() + months, d.getUTCDate() + days)
  return d.toISOString().slice(0, 10)
}

export const addDays = (day: string, n: number) => moved(day, 0, n)

/** The first day of a month n months after the month of day. */
export const monthStart = (day: string, n = 0) => moved(day.slice(0, 7), n, 0)

export const monthEnd = (day: string) => addDays(monthStart(day, 1), -1)

/** A day so many months later: the last one of a month that is too short. */
export function addMonths(day: string, n: number): string {
  const [same, last] = [monthStart(day, n).slice(0, 8) + day.slice(8), monthEnd(monthStart(day, n))]
  return same < last ? same : last
}

/** How many days of its week are before a day. */
const weekday = (day: string) => (new Date(day).getUTCDay() + 6) % 7

/** The Monday of a day's week. */
export const mondayOf = (day: string) => addDays(day, -weekday(day))

/** The days from one to another, both included. */
export function daysBetween(from: string, to: string): string[] {
  const all: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) all.push(day)
  return all
}

/** The weeks of a day's month, from the Monday before its first day to the Sunday after its last one. */
export function weeksOf(day: string): string[][] {
  const weeks: string[][] = []
  for (let monday = mondayOf(monthStart(day)); monday <= monthEnd(day); monday = addDays(monday, 7)) weeks.push(daysBetween(monday, addDays(monday, 6)))
  return weeks
}

/** The day to which a key leads in a grid of weeks: arrows by days and weeks, Home and End within the week, Page Up and Page Down by months. */
export function dayByKey(day: string, key: string): string | undefined {
  const past = weekday(day)
  const days = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7, Home: -past, End: 6 - past }[key]
  const months = { PageUp: -1, PageDown: 1 }[key]
  if (days !== undefined) return addDays(day, days)
  return months ? addMonths(day, months) : undefined
}
