// People and organizations for pickers and the palette, the best few.
import { api, take } from "@/api/client"
import type { Choice } from "@/kit/picker"
import { nameOf } from "./name"

export const findContacts = async (words: string, signal: AbortSignal): Promise<Choice[]> =>
  (await take(api.GET("/contacts", { params: { query: { search: words || undefined, per_page: 6 } }, signal }))).items.map((c) => ({
    id: c.id, name: nameOf(c), detail: c.organization?.name || (nameOf(c) === c.email ? c.phone : c.email),
  }))

export const findOrganizations = async (words: string, signal: AbortSignal): Promise<Choice[]> =>
  (await take(api.GET("/organizations", { params: { query: { search: words || undefined, per_page: 6 } }, signal }))).items.map((o) => ({ id: o.id, name: o.name, detail: o.city }))
