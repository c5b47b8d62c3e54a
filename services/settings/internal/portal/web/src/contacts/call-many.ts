import { api, take } from "@/api/client"

export type Kind = "contacts" | "organizations"

/** A call about many records. */
export const callMany = (kind: Kind, body: { add_tags?: string[]; remove_tags?: string[]; owner_user_id?: number | null; status?: "lead" | "customer" | "inactive"; trash?: boolean; restore?: boolean }) => (ids: string[]) =>
  take(kind === "contacts" ? api.POST("/contacts/bulk", { body: { ids, ...body } }) : api.POST("/organizations/bulk", { body: { ids, ...body } }))
