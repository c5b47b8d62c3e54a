// Queries and changes of the team's screens.
import type { QueryClient } from "@tanstack/react-query"
import { api, ifMatch, take } from "@/api/client"
import { tagOf } from "@/api/version"
import type { Member } from "@/booking/data"
import type { Sending } from "@/kit/draft"

export type Role = "site_admin" | "svc_admin" | "staff"

/** After somebody came to the team, left it, or has another role. */
export function teamChanged(queries: QueryClient) {
  for (const key of [["staff"], ["team"], ["invitations"]]) void queries.invalidateQueries({ queryKey: key })
}

/** Gives a member another role. The list comes from booking, which hears of the role a moment later. */
export async function setRole({ whole }: Sending<Member>, role: Role): Promise<Member> {
  const { access, sees, roles_you_can_give, role: given, role_version } = await take(api.PUT("/staff/{user}/role", { params: { path: { user: whole.user_id }, header: ifMatch(tagOf(whole.role_version)) }, body: { role } }))
  return { ...whole, role: given, access, sees, roles_you_can_give, role_version }
}
