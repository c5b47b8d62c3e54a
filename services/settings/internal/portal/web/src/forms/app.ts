import { FileText, Inbox } from "lucide-react"
import type { Place } from "@/kit/app"

export const forms: Place[] = [
  { to: "/submissions", label: "nav.submissions", icon: Inbox, app: "forms", group: "people" },
  { to: "/forms", label: "nav.forms", icon: FileText, app: "forms", group: "site" },
]
