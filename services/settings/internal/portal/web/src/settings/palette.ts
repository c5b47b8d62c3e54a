import { UserRoundCog } from "lucide-react"
import { staffQuery } from "@/booking/data"
import type { Source } from "@/kit/app"
import { queries } from "@/kit/router"

export const teamSources: Source[] = [
  {
    label: "palette.team",
    find: async (words) => (await queries.query({ ...staffQuery, staleTime: "static" })).filter((m) => m.name.toLowerCase().includes(words.toLowerCase())).slice(0, 4)
      .map((m) => ({ id: String(m.user_id), title: m.name, icon: UserRoundCog, to: "/people/$id", params: { id: String(m.user_id) } })),
  },
]
