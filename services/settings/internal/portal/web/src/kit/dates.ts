// Days are texts "2026-11-24" on the business's calendar; moments are ISO texts in UTC, shown on the business's clock. To count with them
// is kit/wall's.
import { clock, dayIn, shown } from "@/../../../../../../libs/web/src/dates"
import { duration } from "@/../../../../../../libs/web/src/duration"
import { start } from "./start"
import { once } from "./once"
import { locale, t } from "./text"

const zone = start.zone
const onClock = shown(locale, zone)
const ago = once(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }))

export const timeText = onClock(clock)
export const dayText = onClock({ weekday: "short", day: "numeric", month: "short" })
export const dayLongText = onClock({ weekday: "long", day: "numeric", month: "long" })
export const dateText = onClock({ day: "numeric", month: "short", year: "numeric" })
export const momentText = onClock({ day: "numeric", month: "short", year: "numeric", ...clock })
export const timeRange = (from: string, to: string) => `${timeText(from)} – ${timeText(to)}`

/** The day of a moment on the business's calendar. */
export const dayOf = dayIn(zone)
export const today = () => dayOf(new Date().toISOString())
export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
export const clockOf = (minutes: number): string => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`

/** How the language shows a day "2026-11-24". */
export const ofDay = shown(locale, "UTC")

/** A day in words: "Tuesday 24 November". */
export const dayWords = ofDay({ weekday: "long", day: "numeric", month: "long" })
/** The month of a day in words: "November 2026". */
export const monthWords = ofDay({ month: "long", year: "numeric" })

const weekdays = { long: ofDay({ weekday: "long" }), short: ofDay({ weekday: "short" }), narrow: ofDay({ weekday: "narrow" }) }
/** The day of a day's week in words: "Tuesday". */
export const weekdayWords = (day: string, length: keyof typeof weekdays): string => weekdays[length](day)

const period = once(() => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }))
/** Days from one to another in words: "24 – 26 Nov 2026". */
export const periodWords = (from: string, to: string): string => period().formatRange(new Date(from), new Date(to))

/** Minutes in words: "45 min", "1 h 30 min", "2 days". */
export function durationText(minutes: number): string {
  if (minutes > 0 && minutes % 1440 === 0) return t("duration.days", { n: minutes / 1440 })
  return duration(minutes, (n) => t("duration.h", { n }), (n) => t("duration.min", { n }))
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
