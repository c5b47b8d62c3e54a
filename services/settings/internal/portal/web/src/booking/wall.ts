// Times as the clock on the business's wall shows them: texts "2026-11-24T09:30:00" without an offset. Calendars and inputs
// work with these, so that neither the browser's zone nor a change of the clocks moves an appointment.
import { once } from "@/kit/once"
import { start } from "@/kit/start"
import { locale } from "@/kit/text"

const shown = once(() => new Intl.DateTimeFormat("en-CA", { timeZone: start.zone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }))

/** What the wall shows at a moment. */
export const wallOf = (moment: string | number): string => shown().format(new Date(moment)).replace(", ", "T")

/** The moment at which the wall shows a time, as the API writes it; the first of two, and an hour later for one that a change of the clocks leaves out. */
export function momentOf(wall: string): string {
  const wanted = Date.parse(wall + (wall.length === 16 ? ":00Z" : "Z"))
  const offset = (at: number) => Date.parse(wallOf(at) + "Z") - at
  // The offsets of the days around it are the only ones that can hold.
  const [before, after] = [offset(wanted - 86_400_000), offset(wanted + 86_400_000)]
  const found = [wanted - before, wanted - after].filter((at) => Date.parse(wallOf(at) + "Z") === wanted)
  return new Date(found.length > 0 ? Math.min(...found) : wanted - before).toISOString().replace(".000Z", "Z")
}

/** Whether two texts are one moment, whoever wrote them. */
export const sameMoment = (a: string, b: string) => Date.parse(a) === Date.parse(b)

/** A time on the wall, seconds later on the same wall. */
export const wallPlus = (wall: string, seconds: number): string => new Date(Date.parse(wall + "Z") + seconds * 1000).toISOString().slice(0, 19)

/** The business's offset from UTC now, such as "+01:00". */
export function offsetNow(): string {
  const now = Math.floor(Date.now() / 1000) * 1000
  const minutes = Math.round((Date.parse(wallOf(now) + "Z") - now) / 60_000)
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0")
  return `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`
}

export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
export const clockOf = (minutes: number): string => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`

const longDay = once(() => new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" }))
const shortDay = once(() => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }))

/** A day "2026-11-24" in words: "Tuesday 24 November". */
export const dayWords = (day: string): string => longDay().format(new Date(`${day}T00:00:00Z`))

/** Days from one to another in words: "24 – 26 Nov 2026". */
export const periodWords = (from: string, to: string): string => shortDay().formatRange(new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`))
