// Counts with days and with times as the clock on the business's wall shows them: texts "2026-11-24T09:30:00" without an offset. Calendars and
// inputs work with these, so that neither the browser's zone nor a change of the clocks moves an appointment.
import { fromAbsolute, parseDate, parseDateTime, toCalendarDateTime, toZoned } from "@internationalized/date"
import { start } from "./start"

const { zone } = start
const at = (moment: string | number) => fromAbsolute(Math.floor(new Date(moment).getTime() / 1000) * 1000, zone)

/** What the wall shows at a moment. */
export const wallOf = (moment: string | number): string => toCalendarDateTime(at(moment)).toString()

/** The moment at which the wall shows a time, as the API writes it; the first of two, and an hour later for one that a change of the clocks leaves out. */
export const momentOf = (wall: string): string => toZoned(parseDateTime(wall), zone).toDate().toISOString().replace(".000Z", "Z")

/** A time on the wall, seconds later on the same wall. */
export const wallPlus = (wall: string, seconds: number): string => parseDateTime(wall).add({ seconds }).toString()

/** Whether two texts are one moment, whoever wrote them. */
export const sameMoment = (a: string, b: string) => Date.parse(a) === Date.parse(b)

/** The business's offset from UTC now, such as "+01:00". */
export const offsetNow = (): string => at(Date.now()).toString().slice(19, 25)

export const addDays = (day: string, days: number): string => parseDate(day).add({ days }).toString()

/** The moment at which a day begins on the business's clock. */
export const startOfDay = (day: string): string => toZoned(parseDate(day), zone).toAbsoluteString()

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7))

/** The days from one to another, both included. */
export function daysBetween(from: string, to: string): string[] {
  const all: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) all.push(day)
  return all
}

/** A day so many months later: the last one of a month that is too short. */
export const addMonths = (day: string, months: number): string => parseDate(day).add({ months }).toString()

/** The weeks of a day's month, from the Monday before its first day to the Sunday after its last one. */
export function weeksOf(day: string): string[][] {
  const first = day.slice(0, 8) + "01"
  const last = addDays(addMonths(first, 1), -1)
  const days = daysBetween(mondayOf(first), addDays(mondayOf(last), 6))
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
