// <svc-booking service="…" staff="…" lang="…">: booking on any page. <script type="application/json">{"given": {"contact.email": "…"}}</script> inside
// it fills in what the page around knows of its visitor.
import { call } from "@web/api"
import { Fault } from "@web/fault"
import { define, type Mount } from "@web/element"
import type { Known } from "@web/questions"
import type { Texts } from "@web/text"
import { Booking, does, type Start } from "./booking"
import type { WidgetData } from "./data"

const origin = new URL(import.meta.url).origin

const languages: Record<string, () => Promise<{ default: Texts }>> = {
  en: () => import("./en"),
  nl: () => import("./nl"),
  fr: () => import("./fr"),
  de: () => import("./de"),
}

const load = async (language: string) => (await (languages[language] ?? languages["en"]!)()).default

async function prepare({ host }: Mount): Promise<Start> {
  const held = host.querySelector('script[type="application/json"]')?.textContent
  const given = held ? (JSON.parse(held) as { data?: WidgetData; service?: string; staff?: number; given?: Known }) : undefined
  const service = host.getAttribute("service") ?? given?.service ?? ""
  const staff = Number(host.getAttribute("staff")) || given?.staff || 0
  try {
    const data = given?.data ?? (await call<WidgetData>(`${origin}/_ui/booking/widget.json?service=${service}&staff=${staff || ""}`))
    const known = data.services.filter((s) => !service || s.id === service)
    return { data, service, staff: known.some((s) => does(staff, s)) ? staff : 0, early: data.slots && Promise.resolve(data.slots), given: given?.given }
  } catch (e) {
    // Without an answer the element's own content stays: it leads to the booking page.
    if (e instanceof Fault && e.status > 0 && e.status < 500) return { fault: e }
    throw e
  }
}

define("svc-booking", origin, load, prepare, Booking)
