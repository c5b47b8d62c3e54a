import { useQuery } from "@tanstack/react-query"
import { api, take } from "@/api/client"
import { today } from "@/kit/dates"
import { addDays, startOfDay } from "@/kit/wall"
import { Panel } from "@/kit/panel"
import { Shares, Weeks } from "@/kit/plot"
import { once } from "@/kit/once"
import { on } from "@/kit/start"
import { locale, number, t } from "@/kit/text"

// Figures of weeks change slowly: five minutes old is new enough.
const slow = { staleTime: 5 * 60_000 }

/** The last weeks in pictures. A plot without figures is left out. */
export function Plots() {
  return (
    <>
      {on("booking") && <Bookings />}
      {on("booking") && <Occupancy />}
      <Sources />
    </>
  )
}

function Bookings() {
  const data = useQuery({ queryKey: ["statistics", "bookings"], queryFn: () => take(api.GET("/statistics/bookings")), ...slow }).data
  if (!data?.weeks.some((w) => w.booked + w.cancelled > 0)) return null
  const title = t("contacts.plot_bookings")
  return (
    <Panel title={title}>
      <Weeks title={title} weeks={data.weeks} parts={[{ label: "contacts.plot_booked", tone: "main", of: (w) => w.booked }, { label: "contacts.plot_cancelled", tone: "soft", of: (w) => w.cancelled }]} />
    </Panel>
  )
}

const minutes = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
const percent = once(() => new Intl.NumberFormat(locale, { style: "percent" }))

/** How much of each colleague's working time of the next seven days is booked. */
function Occupancy() {
  const from = today()
  const to = addDays(from, 6)
  const data = useQuery({ queryKey: ["appointments", "occupancy", from], queryFn: () => take(api.GET("/calendar", { params: { query: { from, to } } })), ...slow }).data
  const [begin, end] = [startOfDay(from), startOfDay(addDays(to, 1))]
  const rows = (data?.staff ?? []).flatMap((person) => {
    const open = person.days.flatMap((d) => d.hours).reduce((sum, [a, b]) => sum + minutes(b!) - minutes(a!), 0)
    const booked = data!.appointments.filter((a) => a.staff.user_id === person.user_id && a.starts_at >= begin && a.starts_at < end)
    const taken = booked.reduce((sum, a) => sum + (Date.parse(a.ends_at) - Date.parse(a.starts_at)) / 60_000, 0)
    return open > 0 ? [{ id: person.user_id, label: person.name, figure: percent().format(taken / open), share: taken / open }] : []
  })
  return rows.length > 0 && <Panel title={t("contacts.plot_occupancy")}><Shares rows={rows} /></Panel>
}

function Sources() {
  const data = useQuery({ queryKey: ["statistics", "contacts"], queryFn: () => take(api.GET("/statistics/contacts")), ...slow }).data
  const sources = data?.sources.slice(0, 6) ?? []
  const most = Math.max(1, ...sources.map((s) => s.contacts))
  return sources.length > 0 && (
    <Panel title={t("contacts.plot_sources")}>
      <Shares rows={sources.map((s) => ({ id: s.source, label: s.source || t("contacts.plot_no_source"), figure: number(s.contacts), share: s.contacts / most }))} />
    </Panel>
  )
}
