// Records that screens of several folders name or choose from: their queries, with the keys under which they are cached.
import { queryOptions, useQuery } from "@tanstack/react-query"
import { api, take, type Schema } from "@/api/client"
import { noteVersion, versionOf } from "@/api/version"
import type { Choice } from "./picker"

/** One array, so that what depends on it stands still until there is another. */
const none: never[] = []

export const contactKey = (id: string) => ["contacts", "one", id]
export const contactQuery = (id: string) => queryOptions({ queryKey: contactKey(id), queryFn: () => take(api.GET("/contacts/{id}", { params: { path: { id } } })) })
export const servicesQuery = (archived: boolean) =>
  queryOptions({ queryKey: ["services", "list", archived], queryFn: async () => servicesOf(await take(api.GET("/services", { params: { query: { include_archived: archived } } }))), staleTime: 60_000 })
/** The services of an answer, with the version of their order. */
export const servicesOf = (answer: { items: Schema<"BookableService">[] }) => noteVersion(answer.items, versionOf(answer))

/** All appointments of a contact, from the first one on: however many there are, the newest are among them. */
export const appointmentsOf = (contact: string) =>
  queryOptions({
    queryKey: ["appointments", "list", "of", contact],
    queryFn: async ({ signal }) => {
      const all: Schema<"Appointment">[] = []
      for (let cursor: string | null | undefined = ""; cursor !== null; ) {
        const page: Schema<"ListAppointment"> = await take(api.GET("/appointments", { params: { query: { contact, per_page: 100, ...(cursor && { cursor }) } }, signal }))
        all.push(...page.items)
        cursor = page.next_cursor
      }
      return all
    },
  })

const formsQuery = queryOptions({ queryKey: ["forms", "list"], queryFn: async () => (await take(api.GET("/forms"))).items, staleTime: 30_000 })
export const useForms = () => useQuery(formsQuery).data ?? none
export const useTags = () => useQuery({ queryKey: ["tags"], queryFn: () => take(api.GET("/tags")), staleTime: 60_000, select: (l) => l.items.filter((x) => !x.changing?.deleting) }).data ?? none

type Named = Pick<Schema<"Contact">, "first_name" | "last_name" | "email" | "phone">

/** How a contact is called: by name, else by address or number. The same rule as the API's. */
export const nameOf = (c: Named) => `${c.first_name} ${c.last_name}`.trim() || c.email || c.phone

/** People for pickers and the palette, the best few. */
export const findContacts = async (words: string, signal: AbortSignal): Promise<Choice[]> =>
  (await take(api.GET("/contacts", { params: { query: { search: words || undefined, per_page: 6 } }, signal }))).items.map((c) => ({
    id: c.id, name: nameOf(c), detail: c.organization?.name || (nameOf(c) === c.email ? c.phone : c.email),
  }))

export const findOrganizations = async (words: string, signal: AbortSignal): Promise<Choice[]> =>
  (await take(api.GET("/organizations", { params: { query: { search: words || undefined, per_page: 6 } }, signal }))).items.map((o) => ({ id: o.id, name: o.name, detail: o.city }))
