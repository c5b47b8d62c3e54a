// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the clock of a named zone.

/** How a language shows days, whose zone is UTC, or moments in a zone, which is the reader's own if it is left out. Formats are made when they are first used. */
export const shown = (locale: string, timeZone: string | undefined) => (options: Intl.DateTimeFormatOptions) => {
  let made: Intl.DateTimeFormat | undefined
  return (at: string) => (made ??= new Intl.DateTimeFormat(locale, { ...options, timeZone })).format(new Date(at))
}

export const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const

/** The day of a moment on the calendar of a zone. */
export const dayIn = (zone: string | undefined) => shown("en-CA", zone)({ year: "numeric", month: "2-digit", day: "2-digit" })

/** What the widgets show of days, and of moments in a zone. */
export function formats(locale: string, zone: string | undefined) {
  const moment = shown(locale, zone)
  const day = shown(locale, "UTC")
  const short = day({ weekday: "short" })
  const long = day({ weekday: "long" })
  return {
    clock: moment(clock),
    weekday: moment({ weekday: "short" }),
    day: day({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
    shortDay: day({ weekday: "short", day: "numeric", month: "short" }),
    month: day({ month: "long", year: "numeric" }),
    weekdays: () => [1, 2, 3, 4, 5, 6, 7].map((d) => ({ short: short("2024-01-0" + d), long: long("2024-01-0" + d) })),
  }
}

export const city = (zone: string) => zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ")
