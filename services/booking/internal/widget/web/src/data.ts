import type { Site } from "@web/style"

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
}

/** What the details step asks, as the server draws it, with the version of the consents in it, as time tokens have it. */
export interface Asked {
  html: string
  words: string
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
