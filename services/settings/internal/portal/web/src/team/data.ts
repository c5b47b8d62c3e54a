// Queries and changes of the team's screens.
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { tagOf } from "@/api/version"
import type { Sending } from "@/kit/draft"
import { can, me } from "@/kit/start"

export type Member = Schema<"BookingStaffMember">
export type Exception = Schema<"Exception">
export type Role = "site_admin" | "svc_admin" | "staff"

export const staffQuery = queryOptions({ queryKey: ["staff", "list"], queryFn: async () => (await take(api.GET("/staff"))).items, staleTime: 60_000 })
export const useStaff = () => useQuery(staffQuery).data ?? []
export const closuresQuery = queryOptions({ queryKey: ["time-off", "list", null], queryFn: async () => (await take(api.GET("/closures"))).items, staleTime: 60_000 })
export const timeOffQuery = (user: number) =>
  queryOptions({ queryKey: ["time-off", "list", user], queryFn: async () => (await take(api.GET("/staff/{user}/exceptions", { params: { path: { user } } }))).items, staleTime: 60_000 })

/** One array, so that what depends on it stands still until there is another. */
const none: never[] = []

/** People who can own records. */
export const useTeam = () => useQuery({ queryKey: ["team"], queryFn: () => take(api.GET("/team")), staleTime: 5 * 60_000, select: (l) => l.items }).data ?? none

/** After somebody came to the team, left it, or has another role. */
export function teamChanged(queries: QueryClient) {
  for (const key of [["staff"], ["team"], ["invitations"]]) void queries.invalidateQueries({ queryKey: key })
}

/** After working hours, time off or a closure have changed. */
export function timesChanged(queries: QueryClient) {
  for (const key of [["staff"], ["time-off"], ["calendar"], ["slots"]]) void queries.invalidateQueries({ queryKey: key })
}

/** Whether the person may change the time of somebody: their own, or as a manager everybody's. */
export const mayChange = (user: number | null) => can("svc_manage_bookings") && (user === me.user_id || can("svc_manage_crm"))

/** Whether the person may say which calendars read and fill the time of somebody: their own, or with the right to change bookings everybody's. */
export const mayLink = (user: number) => user === me.user_id || can("svc_manage_bookings", "all")

/** Gives a member another role. The list comes from booking, which hears of the role a moment later. */
export async function setRole({ whole }: Sending<Member>, role: Role): Promise<Member> {
  const { access, sees, roles_you_can_give, role: given, role_version } = await take(api.PUT("/staff/{user}/role", { params: { path: { user: whole.user_id }, header: ifMatch(tagOf(whole.role_version)) }, body: { role } }))
  return { ...whole, role: given, access, sees, roles_you_can_give, role_version }
}
