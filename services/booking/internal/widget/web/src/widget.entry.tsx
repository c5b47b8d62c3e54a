// <svc-booking service="…" staff="…" lang="…">: booking on any page. <script type="application/json">{"given": {"contact.email": "…"}}</script> inside
// it fills in what the page around knows of its visitor.
import { call } from "@web/api"
import { Fault } from "@web/fault"
import { define } from "@web/element"
import type { Known } from "@web/questions"
import type { Texts } from "@web/text"
import { Booking, type Start } from "./booking"
import type { WidgetData } from "./data"

const origin = new URL(import.meta.url).origin

const languages: Record<string, () => Promise<{ default: Texts }>> = {
  en: () => import("./en"),
  nl: () => import("./nl"),
  fr: () => import("./fr"),
  de: () => import("./de"),
}

const load = async (language: string) => (await (languages[language] ?? languages["en"]!)()).default

async function prepare(host: HTMLElement): Promise<Start> {
  const held = JSON.parse(host.querySelector('script[type="application/json"]')?.textContent || "{}") as { data?: WidgetData; service?: string; staff?: number; given?: Known }
  const service = host.getAttribute("service") ?? held.service ?? ""
  const staff = Number(host.getAttribute("staff")) || held.staff || 0
  try {
    const data = held.data ?? (await call<WidgetData>(`${origin}/_ui/booking/widget.json?service=${service}&staff=${staff || ""}`))
    return { data, service, staff, given: held.given }
  } catch (e) {
    // Without an answer the element's own content stays: it leads to the booking page.
    if (e instanceof Fault && e.status > 0 && e.status < 500) return { fault: e }
    throw e
  }
}

define("svc-booking", origin, load, prepare, Booking)
