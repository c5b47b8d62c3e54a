// Queries and changes of the team's screens.
import type { QueryClient } from "@tanstack/react-query"
import { api, take } from "@/api/client"
import { staffQuery, type Member } from "@/booking/data"

export type Role = "site_admin" | "svc_admin" | "staff"

/** Changes one member in the cached list. */
export const setMember = (queries: QueryClient, user: number, change: Partial<Member>) =>
  queries.setQueryData<Member[]>(staffQuery.queryKey, (all) => all?.map((m) => (m.user_id === user ? { ...m, ...change } : m)))

/** After somebody came to the team, left it, or has another role. */
export function teamChanged(queries: QueryClient) {
  for (const key of [["staff"], ["team"], ["invitations"]]) void queries.invalidateQueries({ queryKey: key })
}

export async function setRole(queries: QueryClient, m: Member, role: Role) {
  const after = await take(api.PUT("/staff/{user}/role", { params: { path: { user: m.user_id } }, body: { role } }))
  // The list comes from booking, which hears of the role a moment later.
  setMember(queries, m.user_id, { role: after.role, access: after.access, sees: after.sees, roles_you_can_give: after.roles_you_can_give })
}
