// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the business's clock.
import { start } from "./start"
import { once } from "./once"
import { locale, t } from "./text"

const zone = start.zone
const format = (o: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(locale, { ...o, timeZone: zone }))

const formats = {
  time: format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  day: format({ weekday: "short", day: "numeric", month: "short" }),
  dayLong: format({ weekday: "long", day: "numeric", month: "long" }),
  date: format({ day: "numeric", month: "short", year: "numeric" }),
  moment: format({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
}
const ago = once(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }))

export const timeText = (moment: string) => formats.time().format(new Date(moment))
export const dayText = (moment: string) => formats.day().format(new Date(moment))
export const dayLongText = (moment: string) => formats.dayLong().format(new Date(moment))
export const dateText = (moment: string) => formats.date().format(new Date(moment))
export const momentText = (moment: string) => formats.moment().format(new Date(moment))
export const timeRange = (from: string, to: string) => `${timeText(from)} – ${timeText(to)}`

const calendar = once(() => new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }))
const wall = once(() => new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short", timeStyle: "medium", hourCycle: "h23" }))

/** The day of a moment on the business's calendar. */
export const dayOf = (moment: string): string => calendar().format(new Date(moment))
export const today = () => dayOf(new Date().toISOString())

export function addDays(day: string, n: number): string {
  const d = new Date(`${day}T00:00:00Z`)
  d.setUTCDate(d.getUTCDate() + n)
  return d.toISOString().slice(0, 10)
}

/** The moment at which a day begins on the business's clock. */
export function startOfDay(day: string): string {
  // The offset at noon UTC of the day, refined once: a change of the clock lies between at most.
  let at = Date.parse(`${day}T00:00:00Z`)
  for (let i = 0; i < 2; i++) {
    const shown = wall().format(new Date(at)).replace(", ", "T")
    at -= Date.parse(`${shown}Z`) - Date.parse(`${day}T00:00:00Z`)
  }
  return new Date(at).toISOString()
}

/** How long ago a moment was, or in how long it is: "5 min. ago", "in 20 sec.", "yesterday", or its date beyond a week. */
export function agoText(moment: string): string {
  const seconds = (Date.parse(moment) - Date.now()) / 1000
  const past = Math.abs(seconds)
  if (past < 60) return seconds > 1 ? ago().format(Math.round(seconds), "second") : t("time.now")
  if (past < 3600) return ago().format(Math.round(seconds / 60), "minute")
  if (past < 86400 && dayOf(moment) === today()) return ago().format(Math.round(seconds / 3600), "hour")
  const days = Math.round((Date.parse(dayOf(moment)) - Date.parse(today())) / 86400000)
  return Math.abs(days) <= 7 ? ago().format(days, "day") : dateText(moment)
}

/** Whether the reader's clock differs from the business's: then times say which clock they follow. */
export const elsewhere = once(() => Intl.DateTimeFormat().resolvedOptions().timeZone !== zone)
