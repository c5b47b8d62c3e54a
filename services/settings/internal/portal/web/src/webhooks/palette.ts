import { Webhook } from "lucide-react"
import { plain } from "@/kit/plain"
import { queries } from "@/kit/queries"
import type { Source } from "@/kit/place"
import { webhooksQuery } from "./data"

export const webhookSources: Source[] = [
  {
    label: "frame.palette.webhooks",
    can: "svc_manage_integrations",
    sees: "all",
    find: async (words) => {
      return (await queries.query(webhooksQuery)).filter((w) => plain(`${w.name} ${w.url}`).includes(plain(words))).slice(0, 4)
        .map((w) => ({ id: w.id, title: w.name, detail: w.url, icon: Webhook, to: "/webhooks/$id", params: { id: w.id } }))
    },
  },
]
