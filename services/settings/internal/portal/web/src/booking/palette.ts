import { CalendarClock } from "lucide-react"
import { api, take } from "@/api/client"
import type { Source } from "@/kit/place"
import { dayText, timeText, today } from "@/kit/dates"
import { addDays } from "@/kit/wall"

/** Appointments of the people whom the words fit: those from today on, the soonest first. */
export const bookingSources: Source[] = [
  {
    label: "frame.palette.appointments",
    app: "booking",
    find: async (words, signal) => {
      const from = today()
      const people = (await take(api.GET("/contacts", { params: { query: { search: words, appointment_from: from + "T00:00:00Z", per_page: 3 } }, signal }))).items
      const found = await Promise.all(people.map((c) =>
        take(api.GET("/appointments", { params: { query: { contact: c.id, from, to: addDays(from, 61), status: ["pending", "confirmed"], per_page: 2 } }, signal }))))
      return found.flatMap((l) => l.items).sort((a, b) => a.starts_at.localeCompare(b.starts_at)).map((a) => ({
        id: a.id, title: a.contact.name, detail: `${dayText(a.starts_at)}, ${timeText(a.starts_at)} · ${a.service.name}`, icon: CalendarClock, to: "/appointments/$id", params: { id: a.id },
      }))
    },
  },
]
