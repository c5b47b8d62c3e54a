// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the clock of a named zone.
export const dayOf = (moment: string, zone: string): string => new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(new Date(moment))

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

/** 0 for Monday to 6 for Sunday. */
export const weekday = (day: string) => (utc(day).getUTCDay() + 6) % 7

/** The weeks of a month, Monday first; days of other months are left out as "". */
export function weeks(month: string): string[][] {
  const first = monthStart(month)
  const last = monthEnd(month)
  const out: string[][] = []
  for (let day = addDays(first, -weekday(first)); day <= last; day = addDays(day, 7)) {
    out.push(Array.from({ length: 7 }, (_, i) => addDays(day, i)).map((d) => (d >= first && d <= last ? d : "")))
  }
  return out
}

/** How a language shows days, and moments in a zone, which is the visitor's own if it is left out. */
export function formats(locale: string, zone: string | undefined) {
  const f = (o: Intl.DateTimeFormatOptions, timeZone: string | undefined) => new Intl.DateTimeFormat(locale, { ...o, timeZone })
  const clock = f({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }, zone)
  const weekday = f({ weekday: "short" }, zone)
  const long = f({ weekday: "long", day: "numeric", month: "long", year: "numeric" }, "UTC")
  const short = f({ weekday: "short", day: "numeric", month: "short" }, "UTC")
  const month = f({ month: "long", year: "numeric" }, "UTC")
  const narrow = f({ weekday: "short" }, "UTC")
  const full = f({ weekday: "long" }, "UTC")
  return {
    clock: (moment: string) => clock.format(new Date(moment)),
    weekday: (moment: string) => weekday.format(new Date(moment)),
    day: (day: string) => long.format(utc(day)),
    shortDay: (day: string) => short.format(utc(day)),
    month: (day: string) => month.format(utc(day)),
    weekdays: Array.from({ length: 7 }, (_, i) => ({ short: narrow.format(utc(`2024-01-0${i + 1}`)), long: full.format(utc(`2024-01-0${i + 1}`)) })),
  }
}

export const city = (zone: string) => zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ")
