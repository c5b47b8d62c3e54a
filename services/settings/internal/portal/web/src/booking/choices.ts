// What a person chose for the calendar: it stands in the address, and is kept in this browser for the next time.
import { kept } from "@/kit/start"
import type { Appointment } from "./data"

export const views = ["day", "week", "month", "list"] as const
export type View = (typeof views)[number]
export const colours = ["service", "person"] as const

const lasting = ["view", "staff", "service", "colour"] as const
type Search = { [name in (typeof lasting)[number] | "date" | "status" | "search" | "contact" | "conflict" | "tab"]?: string }

/** The choices of an address; those of the last time where it has none. */
export function chosenNow(search: Search): Search {
  if (Object.keys(search).length > 0) return search
  try {
    const last = JSON.parse(kept.get("calendar") || "{}") as Search
    return Object.fromEntries(lasting.flatMap((name) => (typeof last[name] === "string" ? [[name, last[name]]] : [])))
  } catch {
    return {}
  }
}

/** Keeps choices for the next time. */
export const keepChoices = (search: Search) => kept.set("calendar", JSON.stringify(Object.fromEntries(lasting.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))))

/** How many colours there are: tone-1 and so on in booking.css. */
const tones = 8

/** Gives appointments the colours of their services or people, in the order of these lists; undefined for those of their status. */
export function tonesBy(colour: string | undefined, services: { id: string }[], people: { user_id: number }[]) {
  const tone = (i: number) => `tone-${(Math.max(i, 0) % tones) + 1}`
  if (colour === "service") return (a: Pick<Appointment, "service" | "staff">) => tone(services.findIndex((s) => s.id === a.service.id))
  if (colour === "person") return (a: Pick<Appointment, "service" | "staff">) => tone(people.findIndex((p) => p.user_id === a.staff.user_id))
  return undefined
}
