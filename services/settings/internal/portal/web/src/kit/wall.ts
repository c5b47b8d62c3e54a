// Counts with days and with times as the clock on the business's wall shows them: texts "2026-11-24T09:30:00" without an offset. Calendars and
// inputs work with these, so that neither the browser's zone nor a change of the clocks moves an appointment.
import { fromAbsolute, parseDate, parseDateTime, toCalendarDateTime, toZoned } from "@internationalized/date"
import { start } from "./start"

export { addDays, addMonths, dayByKey, daysBetween, mondayOf, weeksOf } from "@/../../../../../../libs/web/src/days"

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

/** The moment at which a day begins on the business's clock. */
export const startOfDay = (day: string): string => toZoned(parseDate(day), zone).toAbsoluteString()
