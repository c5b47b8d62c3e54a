import type { Site } from "@web/style"
import type { Element } from "@web/fields"

export interface Staff {
  user_id: number
  name: string
}

export interface Service {
  id: string
  name: string
  description: string
  duration_min: number
  price: string | null
  location_type: "in_person" | "client" | "phone" | "online"
  location_details: string
  confirmation: "auto" | "review"
  staff: Staff[]
  form: { id: number; elements: Element[] } | null
}

/** What /_ui/booking/widget.json answers, and what our own page holds ready. */
export interface WidgetData {
  site: Site
  services: Service[]
  terms: string
  /** Free times of what is left of this month, when there is one service. */
  slots?: Slots
}

export interface Slot {
  starts_at: string
  ends_at: string
  staff: number[]
}

export interface Slots {
  items: Slot[]
  token: string
}

export interface Booked {
  status: string
  starts_at: string
  ends_at: string
  service: { name: string }
  staff: Staff
  location_type: Service["location_type"]
  location: string
}

/** Without a form of the site's own. The same as in Go. */
export const plain: Element[] = [
  { id: "first_name", type: "field", target: "contact.first_name", width: "half" },
  { id: "last_name", type: "field", target: "contact.last_name", width: "half" },
  { id: "email", type: "field", target: "contact.email", required: true },
  { id: "phone", type: "field", target: "contact.phone" },
  { id: "message", type: "field", target: "message" },
]
