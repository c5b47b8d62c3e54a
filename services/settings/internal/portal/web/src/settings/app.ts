import { Blocks, FileText, ScrollText, Settings, UsersRound } from "lucide-react"
import type { Place } from "@/kit/app"

export const settings: Place[] = [
  { to: "/pages", label: "nav.pages", icon: FileText, can: "svc_manage_crm", group: "site" },
  { to: "/people", label: "nav.people", icon: UsersRound, group: "settings" },
  { to: "/audit", label: "nav.audit", icon: ScrollText, can: "svc_manage_integrations", group: "settings" },
  { to: "/apps", label: "nav.apps", icon: Blocks, can: "svc_manage_crm", group: "settings" },
  { to: "/settings", label: "nav.settings", icon: Settings, group: "settings" },
]
