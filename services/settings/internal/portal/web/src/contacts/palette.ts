import { Building2, UserRound } from "lucide-react"
import type { Source } from "@/kit/place"
import { findContacts, findOrganizations } from "@/kit/records"

export const contactSources: Source[] = [
  {
    label: "frame.palette.people",
    find: async (words, signal) => (await findContacts(words, signal)).map((c) => ({ id: c.id, title: c.name, detail: c.detail, icon: UserRound, to: "/contacts/$id", params: { id: c.id } })),
  },
  {
    label: "frame.palette.organizations",
    find: async (words, signal) => (await findOrganizations(words, signal)).map((o) => ({ id: o.id, title: o.name, detail: o.detail, icon: Building2, to: "/organizations/$id", params: { id: o.id } })),
  },
]
