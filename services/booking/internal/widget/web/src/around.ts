import { Fault } from "@web/fault"
import { city, dayIn, formats } from "@web/dates"
import { duration } from "@web/duration"
import type { Mount } from "@web/element"
import { prices } from "@web/price"
import { localeOf, reader, type T } from "@web/text"
import type { Service, WidgetData } from "./data"

export type Around = ReturnType<typeof around>

/** What every step needs: the widget's data, texts, formats, and where the API is. */
export function around({ language, origin, texts }: Mount, data: WidgetData) {
  const { country, currency, timezone: zone } = data.site
  const locale = localeOf(language, country)
  const t = reader(texts, language, locale === "de-CH")
  const f = formats(locale, zone)
  const mine = formats(locale, undefined)
  const dayOf = dayIn(zone)
  const name = city(zone)
  const zoneName = texts["city_" + name] ?? name
  /** A moment on the visitor's clock, when that differs and the visitor will not come here; else "". */
  const yours = (moment: string, { location_type }: Pick<Service, "location_type">) => {
    const time = mine.clock(moment)
    const day = mine.weekday(moment)
    const same = day === f.weekday(moment)
    return !["phone", "online"].includes(location_type) || (same && time === f.clock(moment)) ? "" : t("your_time", { time: same ? time : `${day} ${time}` })
  }
  return {
    t,
    f,
    data,
    origin,
    zoneName,
    /** That of the texts, and so of the mails. */
    language,
    yours,
    dayOf,
    /** The day and the time of a moment. */
    at: (moment: string) => `${f.day(dayOf(moment))}, ${f.clock(moment)}`,
    /** Whose time a moment is shown in, and which it is for the visitor. */
    clocks: (moment: string, s: Pick<Service, "location_type">) => [t("zone_short", { zone: zoneName }), yours(moment, s)].filter(Boolean).join(" · "),
    price: prices(locale, currency),
    duration: (m: number) => duration(m, (n) => t("hours_short", { n }), (n) => t("minutes_short", { n })),
    explain: (fault: Fault, unanswered?: string) => explain(fault, t, unanswered),
  }
}

/** What a fault means; unanswered is the text for one without an answer. */
export function explain({ code, data }: Fault, t: T, unanswered = "offline"): string {
  switch (code) {
    case "svc_rate_limited": {
      const n = Number(data["retry_after"]) || 60
      return t("rate", { wait: n > 90 ? t("minutes", { n: Math.ceil(n / 60) }) : t("seconds", { n }) })
    }
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
