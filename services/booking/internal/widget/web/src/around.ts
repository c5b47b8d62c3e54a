import { Fault } from "@web/fault"
import { city, formats } from "@web/dates"
import { duration } from "@web/duration"
import type { Mount } from "@web/element"
import { prices } from "@web/price"
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
  const f = formats(locale, zone)
  const mine = formats(locale, undefined)
  return {
    t,
    f,
    origin: mount.origin,
    zone,
    zoneName: mount.texts["city_" + city(zone)] ?? city(zone),
    locale,
    language: mount.language,
    yours: (moment, { location_type }) => {
      const time = mine.clock(moment)
      const day = mine.weekday(moment)
      const same = day === f.weekday(moment)
      return !["phone", "online"].includes(location_type) || (same && time === f.clock(moment)) ? "" : t("your_time", { time: same ? time : `${day} ${time}` })
    },
    price: prices(locale, site.currency),
    duration: (m) => duration(m, (n) => t("hours_short", { n }), (n) => t("minutes_short", { n })),
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
