// A day on paper: who comes when and where, and under which number they are reached. Each person has a table.
import { queryOptions, useQuery } from "@tanstack/react-query"
import { api, take } from "@/api/client"
import { momentText, timeRange } from "@/kit/dates"
import { t } from "@/kit/text"
import { allStatuses, whoComes, type Appointment, type PlaceKind, type Status } from "./data"

const taking = allStatuses.filter((s) => s !== "cancelled" && s !== "declined")

/** All that takes place on a day, with the numbers of the clients. */
export const sheetQuery = (day: string, staff?: string, service?: string) => queryOptions({
  queryKey: ["appointments", "list", "sheet", day, staff ?? "", service ?? ""],
  queryFn: async ({ signal }) => {
    const items: Appointment[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { items: Appointment[]; next_cursor: string | null } = await take(api.GET("/appointments", { params: { query: { from: day, to: day, status: taking, whole: true, per_page: 100, cursor, ...(staff && { staff }), ...(service && { service }) } }, signal }))
      items.push(...page.items)
      cursor = page.next_cursor
    }
    return { items, read: new Date().toISOString() }
  },
})

/** Stands on paper only, in place of the screen. */
export function Sheet({ title, day, staff, service }: { title: string; day: string; staff?: string; service?: string }) {
  const { data } = useQuery(sheetQuery(day, staff, service))
  if (!data) return null
  const people = [...new Map(data.items.map((a) => [a.staff.user_id, a.staff.name]))].sort(([, a], [, b]) => a.localeCompare(b))
  return (
    <div className="sheet">
      <p className="sheet-title"><b>{title}</b><span>{t("booking.sheet_at", { moment: momentText(data.read) })}</span></p>
      {people.length === 0 && <p>{t("booking.none")}</p>}
      {people.map(([id, name]) => (
        <table key={id}>
          <caption>{name}</caption>
          <thead><tr>{(["time", "client", "service", "place", "phone"] as const).map((c) => <th key={c} scope="col" className={`sheet-${c}`}>{t(`booking.${c}`)}</th>)}</tr></thead>
          <tbody>
            {data.items.filter((a) => a.staff.user_id === id).map((a) => (
              <tr key={a.id}>
                <td className="num">{timeRange(a.starts_at, a.ends_at)}</td>
                <td>{whoComes(a)}{a.status !== "confirmed" && <small>{t(`booking.status.${a.status as Status}`)}</small>}</td>
                <td>{a.service.name}</td>
                <td>{t(`booking.place.${a.location_type as PlaceKind}`)}{a.location && <small>{a.location}</small>}</td>
                <td className="num">{a.contact.phone}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  )
}
