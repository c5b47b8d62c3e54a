// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the clock of a named zone.
export const dayOf = (moment: string, zone: string): string => new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(new Date(moment))

const utc = (day: string) => new Date(`${day}T00:00:00Z`)

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
