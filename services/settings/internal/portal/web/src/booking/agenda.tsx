import { Link } from "@tanstack/react-router"
import { CalendarDays, CalendarPlus } from "lucide-react"
import { useRef } from "react"
import { api, take } from "@/api/client"
import { ButtonLink } from "@/kit/button"
import { dayOf, dayWords, timeText, today } from "@/kit/dates"
import { NextPage, useList, useWalk } from "@/kit/list"
import { can } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { whoComes, type Status as StatusName } from "./data"
import { Status } from "./marks"

/** Appointments of some days as a list: what readers of a screen, small screens and paper use. */
export function Agenda({ from, to, status, ...narrow }: { from: string; to: string; staff?: string; service?: string; status?: string; search?: string; contact?: string; conflict?: string }) {
  const list = useList(["appointments", "list", { from, to, status, ...narrow }], (cursor, signal) =>
    take(api.GET("/appointments", { params: { query: { from, to, cursor, per_page: 100, ...narrow, ...(status && { status: status.split(",") as StatusName[] }) } }, signal })))
  const body = useRef<HTMLDivElement>(null)
  useWalk(body)
  if (list.isPending) return <Skeleton lines={10} />
  if (list.isError && list.items.length === 0) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (list.items.length === 0) return <Blank icon={CalendarDays} title={t("booking.none")} text={t("booking.none_text")}>{can("svc_manage_bookings") && <ButtonLink kind="main" to="/appointments/new" icon={<CalendarPlus aria-hidden />}>{t("booking.new")}</ButtonLink>}</Blank>
  const days = [...new Set(list.items.map((a) => dayOf(a.starts_at)))]
  return (
    <div ref={body} className={list.isPlaceholderData ? "content agenda-list list--old" : "content agenda-list"}>
      {days.map((d) => (
        <section key={d} aria-labelledby={`day-${d}`}>
          <h3 id={`day-${d}`} className={d === today() ? "agenda-day agenda-day--today" : "agenda-day"}>{dayWords(d)}</h3>
          <ul>
            {list.items.filter((a) => dayOf(a.starts_at) === d).map((a) => (
              <li key={a.id} className={`slot-row${Date.parse(a.ends_at) < Date.now() ? " slot-row--past" : ""}`}>
                <span className="slot-time num">{timeText(a.starts_at)}<small>{timeText(a.ends_at)}</small></span>
                <span className="cell-main"><Link to="/appointments/$id" params={{ id: a.id }} className="row-link cell-text">{whoComes(a)}</Link><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
                <Status status={a.status} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {list.hasNextPage && <div><NextPage list={list} /></div>}
    </div>
  )
}
