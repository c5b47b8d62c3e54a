// A draft of somebody on the team, apart from the lists that only show them.
import { useQueryClient } from "@tanstack/react-query"
import { api, ifMatch, take } from "@/api/client"
import { noteVersion, tagOf } from "@/api/version"
import type { Sending } from "@/kit/draft"
import { useDraft } from "@/kit/use-draft"
import { staffQuery, type Member } from "./data"

/** Sends the name, the meeting link or the services of a member. */
export async function sendMember({ change: { name, meeting_url, services }, whole, version }: Sending<Member>): Promise<Member> {
  const after = await take(api.PATCH("/staff/{user}", { params: { path: { user: whole.user_id }, header: ifMatch(version) }, body: { name, meeting_url, services } }))
  return { ...whole, ...after }
}

/** A draft of a member, who is part of the list of the team. */
export function useMemberDraft(m: Member, send: (s: Sending<Member>) => Promise<Member> = sendMember) {
  const queries = useQueryClient()
  const tagged = (x: Member) => noteVersion(x, tagOf(x.version))
  const from = {
    load: async () => tagged((await queries.query({ ...staffQuery, staleTime: 0 })).find((x) => x.user_id === m.user_id) ?? m),
    keep: (after: Member) => void queries.setQueryData<Member[]>(staffQuery.queryKey, (all) => all?.map((x) => (x.user_id === m.user_id && x.version <= after.version ? after : x))),
  }
  return useDraft(tagged(m), from, async (s) => tagged(await send(s)))
}
