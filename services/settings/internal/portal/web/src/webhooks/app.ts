import { Webhook } from "lucide-react"
import type { Place } from "@/kit/app"

export const webhooks: Place[] = [{ to: "/webhooks", label: "nav.webhooks", icon: Webhook, can: "svc_manage_integrations", sees: "all", group: "settings" }]
