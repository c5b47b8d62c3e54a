import { Webhook } from "lucide-react"
import { queries } from "@/kit/router"
import type { Source } from "@/kit/app"
import { webhooksQuery } from "./data"

export const webhookSources: Source[] = [
  {
    label: "palette.webhooks",
    can: "svc_manage_integrations",
    sees: "all",
    find: async (words) => {
      const wanted = words.toLowerCase()
      return (await queries.query({ ...webhooksQuery, staleTime: "static" })).filter((w) => `${w.name} ${w.url}`.toLowerCase().includes(wanted)).slice(0, 4)
        .map((w) => ({ id: w.id, title: w.name, detail: w.url, icon: Webhook, to: "/webhooks/$id", params: { id: w.id } }))
    },
  },
]
