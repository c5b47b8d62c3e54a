// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the business's clock. To count with them
// is kit/wall's.
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

/** The day of a moment on the business's calendar. */
export const dayOf = (moment: string): string => calendar().format(new Date(moment))
export const today = () => dayOf(new Date().toISOString())
export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
export const clockOf = (minutes: number): string => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`

const inUTC = (o: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(locale, { ...o, timeZone: "UTC" }))
const longDay = inUTC({ weekday: "long", day: "numeric", month: "long" })
const shortDay = inUTC({ day: "numeric", month: "short", year: "numeric" })
const midnight = (day: string) => new Date(`${day}T00:00:00Z`)

/** A day "2026-11-24" in words: "Tuesday 24 November". */
export const dayWords = (day: string): string => longDay().format(midnight(day))

/** Days from one to another in words: "24 – 26 Nov 2026". */
export const periodWords = (from: string, to: string): string => shortDay().formatRange(midnight(from), midnight(to))

/** Minutes in words: "45 min", "1 h 30 min", "2 days". */
export function durationText(minutes: number): string {
  if (minutes > 0 && minutes % 1440 === 0) return t("duration.days", { n: minutes / 1440 })
  const hours = Math.floor(minutes / 60)
  return [hours > 0 && t("duration.h", { n: hours }), (minutes % 60 > 0 || hours === 0) && t("duration.min", { n: minutes % 60 })].filter(Boolean).join(" ")
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

const month = inUTC({ month: "long", year: "numeric" })

/** The month of a day in words: "November 2026". */
export const monthWords = (day: string): string => month().format(midnight(day))

const weekdays = { long: inUTC({ weekday: "long" }), short: inUTC({ weekday: "short" }), narrow: inUTC({ weekday: "narrow" }) }

/** The day of a day's week in words: "Tuesday". */
export const weekdayWords = (day: string, length: keyof typeof weekdays): string => weekdays[length]().format(midnight(day))
