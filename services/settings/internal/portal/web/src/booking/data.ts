// What the screens of booking load, with the keys under which it is cached.
import { queryOptions, type QueryClient } from "@tanstack/react-query"
import { api, take, type Schema } from "@/api/client"
import { can, start } from "@/kit/start"
import { prices } from "@/../../../../../../libs/web/src/price"
import { locale } from "@/kit/text"

export type Appointment = Schema<"Appointment">
export type Service = Schema<"BookableService">
export type Slot = Schema<"Slot">
export type Status = "pending" | "confirmed" | "declined" | "cancelled" | "completed" | "no_show" | "pending_payment"
export type PlaceKind = "in_person" | "client" | "phone" | "online"

export const appointmentKey = (id: string) => ["appointments", "one", id]
export const appointmentQuery = (id: string) => queryOptions({ queryKey: appointmentKey(id), queryFn: () => take(api.GET("/appointments/{id}", { params: { path: { id } } })) })
export const serviceKey = (id: string) => ["services", "one", id]
export const serviceQuery = (id: string) => queryOptions({ queryKey: serviceKey(id), queryFn: () => take(api.GET("/services/{id}", { params: { path: { id } } })) })
export const settingsQuery = queryOptions({ queryKey: ["settings", "booking"], queryFn: () => take(api.GET("/settings/booking")), staleTime: 60_000 })

/** Closures, time off and extra hours of everybody in a period. */
export const exceptionsQuery = (from: string, to: string, staff?: string) =>
  queryOptions({ queryKey: ["time-off", "period", from, to, staff ?? ""], queryFn: async ({ signal }) => (await take(api.GET("/exceptions", { params: { query: { from, to, ...(staff && { staff }) } }, signal }))).items, staleTime: 60_000 })

/** After an appointment has changed: lists, calendar, free times and the overview load again. */
export function appointmentsChanged(queries: QueryClient, a?: Appointment) {
  if (a) queries.setQueryData(appointmentKey(a.id), a)
  for (const key of [["appointments", "list"], ["calendar"], ["slots"], ["overview"], ["contacts", "timeline"]]) void queries.invalidateQueries({ queryKey: key })
}

/** Who comes: the contact, or the one for whom it was booked with the contact's address. */
export const whoComes = (a: Pick<Appointment, "booked_for" | "contact">) => a.booked_for ?? a.contact.name

/** What may be done with an appointment now. */
export function actionsOf(a: Appointment) {
  const open = a.status === "pending" || a.status === "confirmed"
  const begun = a.status === "confirmed" && Date.parse(a.starts_at) <= Date.now()
  const may = can("svc_manage_bookings")
  // For a day what is over can be taken back.
  const fresh = (a.status === "completed" || a.status === "no_show") && Date.now() - Date.parse(a.updated_at) < 24 * 3_600_000
  return { answer: may && a.status === "pending", open: may && open, finish: may && begun, again: may && !open, reopen: may && fresh }
}

/** By status. The API may have one that this page does not know yet. */
export const statusLook: Record<string, string> = { pending: "warn", confirmed: "good", declined: "bad", cancelled: "bad", completed: "accent", no_show: "bad", pending_payment: "warn" } satisfies Record<Status, string>
export const allStatuses: Status[] = ["pending", "confirmed", "completed", "no_show", "cancelled", "declined"]
export const placeKinds: PlaceKind[] = ["in_person", "client", "phone", "online"]

const money = prices(locale, start.currency)
export const priceText = (price: string | null): string => (price ? money(price) : "")
