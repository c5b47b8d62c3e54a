// A day, a person a column, or a week: the grid, and what becomes of what is done in it.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { CalendarDays } from "lucide-react"
import { lazy, Suspense, useMemo, useState } from "react"
import { api, take } from "@/api/client"
import { ButtonLink } from "@/kit/button"
import { clockOf, elsewhere, today } from "@/kit/dates"
import { late } from "@/kit/late"
import { servicesQuery } from "@/kit/records"
import { can, start } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { momentOf, sameMoment, wallOf } from "@/kit/wall"
import { useStaff, type Exception } from "@/team/data"
import { useBlocks } from "./blocks"
import { tonesBy } from "./choices"
import { exceptionsQuery, type Appointment } from "./data"
import type { Chosen } from "./times"

const Grid = lazy(() => import("./grid"))
const MoveDialog = late(() => import("./move").then((m) => ({ default: m.MoveDialog })))
const MarkDialog = late(() => import("./mark").then((m) => ({ default: m.MarkDialog })))
const Look = late(() => import("./look").then((m) => ({ default: m.Look })))

const none: Exception[] = []

/** What somebody does in the grid: moves or lengthens an appointment, marks a stretch of time, or looks at an appointment. */
type Doing = { move: Appointment; to: Chosen; minutes?: number } | { from: string; until: string; staff?: number } | { look: string; at: HTMLElement }

export function Plan({ view, date, from, to, staff, service, colour }: { view: "day" | "week"; date: string; from: string; to: string; staff?: string; service?: string; colour?: string }) {
  const go = useNavigate()
  const [doing, setDoing] = useState<Doing>()
  const query = useQuery({
    queryKey: ["calendar", from, to, staff ?? "", service ?? ""],
    queryFn: ({ signal }) => take(api.GET("/calendar", { params: { query: { from, to, ...(staff && { staff }), ...(service && { service }) } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  const people = query.data?.staff ?? []
  const all = useQuery(exceptionsQuery(from, to, staff)).data ?? none
  const services = useQuery(servicesQuery(false)).data
  const team = useStaff()
  const tones = useMemo(() => tonesBy(colour, services ?? [], team), [colour, services, team])
  const { blocks, min, max } = useBlocks(view, query.data, all, from, to, tones)
  if (query.isPending) return <Skeleton lines={12} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (people.length === 0) return <Blank icon={CalendarDays} title={t("booking.nobody")} text={t("booking.nobody_text")}>{can("svc_manage_bookings") && <ButtonLink to="/hours">{t("nav.hours")}</ButtonLink>}</Blank>
  const find = (id: string) => query.data.appointments.find((a) => a.id === id)
  const closed = all.filter((e) => e.type === "closed" && e.start === null && e.date_from <= to && e.date_to >= from)
  const now = Number(wallOf(Date.now()).slice(11, 13))
  const may = can("svc_manage_bookings")
  const looked = doing && "look" in doing ? find(doing.look) : undefined
  return (
    <div className={query.isPlaceholderData ? "calendar list--old" : "calendar"}>
      {(elsewhere() || closed.length > 0) && (
        <p className="calendar-notes soft small">
          {closed.map((e) => <span key={e.id} className="tag tag--away">{e.user_id === null ? "" : `${people.find((p) => p.user_id === e.user_id)?.name}: `}{e.label || t(e.user_id === null ? "booking.closed" : "booking.time_off")}</span>)}
          {elsewhere() && <span>{t("booking.zone", { zone: start.zone.replaceAll("_", " ") })}</span>}
        </p>
      )}
      <Suspense fallback={<Skeleton lines={12} />}>
        <Grid view={view} date={date} people={people.map((p) => ({ id: p.user_id, name: p.name }))} blocks={blocks} from={min} to={max} scroll={date === today() ? clockOf(Math.max(0, now - 1) * 60) : min}
          onOpen={(id, at) => setDoing({ look: id, at })}
          onMove={(id, wall, user) => {
            const a = find(id)
            if (a && (!sameMoment(momentOf(wall), a.starts_at) || user !== a.staff.user_id)) setDoing({ move: a, to: { starts_at: momentOf(wall), staff: user, outside: false } })
          }}
          onLength={(id, minutes) => {
            const a = find(id)
            if (a) setDoing({ move: a, to: { starts_at: a.starts_at, staff: a.staff.user_id, outside: false }, minutes })
          }}
          onMark={may ? (first, until, user) => setDoing({ from: first, until, staff: user ?? (Number(staff) || undefined) }) : undefined}
          onFree={may ? (wall, user) => void go({ to: "/appointments/new", search: { at: wall.slice(0, 16), staff: user ? String(user) : staff, service } }) : undefined} />
      </Suspense>
      <Suspense>
        {doing && "move" in doing && <MoveDialog a={doing.move} to={doing.to} minutes={doing.minutes} onClose={() => setDoing(undefined)} />}
        {doing && "from" in doing && <MarkDialog from={doing.from} until={doing.until} staff={doing.staff} service={service} onClose={() => setDoing(undefined)} />}
        {doing && "look" in doing && looked && <Look key={looked.id} a={looked} at={doing.at} onClose={() => setDoing(undefined)} />}
      </Suspense>
    </div>
  )
}
