import { Building2, LayoutDashboard, Users } from "lucide-react"
import type { Place } from "@/kit/app"

export const contacts: Place[] = [
  { to: "/", label: "nav.overview", icon: LayoutDashboard, group: "day" },
  { to: "/contacts", label: "nav.contacts", icon: Users, group: "people" },
  { to: "/organizations", label: "nav.organizations", icon: Building2, group: "people" },
]
