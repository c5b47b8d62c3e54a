// Every screen that the palette and the guides lead to. The shell loads only those of the navigation.
import { CalendarPlus, Upload } from "lucide-react"
import { documents } from "@/settings/documents"
import type { Place } from "./app"
import { own, places } from "./places"

const others: Place[] = [
  { to: "/appointments/new", label: "nav.new_appointment", icon: CalendarPlus, app: "booking", can: "svc_manage_bookings", group: "day" },
  { to: "/import", label: "nav.import", icon: Upload, can: "svc_import_contacts", group: "people" },
  ...documents,
]

export const screens = [...places, ...own(others)]
