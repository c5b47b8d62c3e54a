import { UserRoundCog } from "lucide-react"
import type { Source } from "@/kit/place"
import { plain } from "@/kit/plain"
import { queries } from "@/kit/queries"
import { staffQuery } from "./data"

export const teamSources: Source[] = [
  {
    label: "frame.palette.team",
    find: async (words) => (await queries.query(staffQuery)).filter((m) => plain(m.name).includes(plain(words))).slice(0, 4)
      .map((m) => ({ id: String(m.user_id), title: m.name, icon: UserRoundCog, to: "/people/$id", params: { id: String(m.user_id) } })),
  },
]
