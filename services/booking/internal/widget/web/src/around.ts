import { Fault } from "@web/api"
import { city, differs, formats, visitorZone } from "@web/dates"
import type { Mount } from "@web/element"
import { localeOf, reader, type T } from "@web/text"
import type { Service, WidgetData } from "./data"

/** What every step needs: texts, formats, and where the API is. */
export interface Around {
  t: T
  f: ReturnType<typeof formats>
  origin: string
  zone: string
  zoneName: string
  locale: string
  /** That of the texts, and so of the mails. */
  language: string
  /** A moment on the visitor's clock, when that differs and the visitor will not come here; else "". */
  yours: (moment: string, service: Pick<Service, "location_type">) => string
  price: (amount: string) => string
  duration: (minutes: number) => string
  /** What a fault means; unanswered is the text for one without an answer. */
  explain: (fault: Fault, unanswered?: string) => string
}

export function around(mount: Mount, data: WidgetData): Around {
  const { site } = data
  const locale = localeOf(mount.language, site.country)
  const t = reader(mount.texts, mount.language, locale === "de-CH")
  const zone = site.timezone
  const mine = visitorZone()
  const f = formats(locale, zone)
  const clock = formats(locale, mine).clock
  const dayIn = (timeZone: string) => (moment: string) => new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(new Date(moment))
  const [ownDay, theirDay] = [dayIn(mine), dayIn(zone)]
  const weekday = new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: mine })
  return {
    t,
    f,
    origin: mount.origin,
    zone,
    zoneName: city(zone),
    locale,
    language: mount.language,
    yours: (moment, service) => (["phone", "online"].includes(service.location_type) && differs(moment, zone, mine) ? t("your_time", { time: theirDay(moment) === ownDay(moment) ? clock(moment) : `${weekday.format(new Date(moment))} ${clock(moment)}` }) : ""),
    price: (amount) => new Intl.NumberFormat(locale, { style: "currency", currency: site.currency || "EUR", minimumFractionDigits: amount.includes(".") ? 2 : 0 }).format(Number(amount)),
    duration: (m) => [m >= 60 && t("hours_short", { n: Math.floor(m / 60) }), m % 60 > 0 && t("minutes_short", { n: m % 60 })].filter(Boolean).join(" "),
    explain: (fault, unanswered) => explain(fault, t, unanswered),
  }
}

export function explain(fault: Fault, t: T, unanswered = "offline"): string {
  switch (fault.code) {
    case "svc_rate_limited":
      return t("rate", { wait: wait(Number(fault.data["retry_after"]) || 60, t) })
    case "svc_no_route":
    case "svc_not_found":
      return t("off")
    case "offline":
    case "svc_unavailable":
    case "svc_internal":
      return t(unanswered)
  }
  return t("refused")
}

export const wait = (seconds: number, t: T) => (seconds <= 90 ? t("seconds", { n: seconds }) : t("minutes", { n: Math.ceil(seconds / 60) }))
