import { BriefcaseBusiness, CalendarDays, Clock } from "lucide-react"
import type { Place } from "@/kit/app"

export const booking: Place[] = [
  { to: "/calendar", label: "nav.calendar", icon: CalendarDays, app: "booking", group: "day" },
  { to: "/services", label: "nav.services", icon: BriefcaseBusiness, app: "booking", group: "site" },
  { to: "/hours", label: "nav.hours", icon: Clock, app: "booking", group: "site" },
]
