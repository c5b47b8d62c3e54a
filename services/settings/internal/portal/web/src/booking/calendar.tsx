import "./booking.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { CalendarOff, CalendarPlus, ChevronLeft, ChevronRight, Printer } from "lucide-react"
import { lazy, Suspense, useEffect, useState } from "react"
import { flushSync } from "react-dom"
import { Button, ButtonLink } from "@/kit/button"
import { monthWords, ofDay, periodWords, today } from "@/kit/dates"
import { addDays, addMonths, mondayOf } from "@/kit/wall"
import { useKeys } from "@/kit/keys"
import { late } from "@/kit/late"
import { Choice, SearchField } from "@/kit/list"
import { useMedia } from "@/kit/media"
import { Head } from "@/kit/head"
import { contactQuery, findContacts, nameOf, servicesQuery } from "@/kit/records"
import { RecordFilter } from "@/kit/record-filter"
import { can, kept, me, on } from "@/kit/start"
import { Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import type { Query } from "@/kit/view"
import { addressOf, useViews, ViewTabs } from "@/kit/views"
import { mayChange, staffQuery } from "@/team/data"
import { Agenda } from "./agenda"
import { chosenNow, colours, keepChoices, views, type View } from "./choices"
import { allStatuses, type Status as StatusName } from "./data"
import { Plan } from "./plan"
import type { Sheet } from "./sheet"

const Month = lazy(() => import("./month"))
const MarkDialog = late(() => import("./mark").then((m) => ({ default: m.MarkDialog })))
const route = getRouteApi("/calendar")

const dayTitle = ofDay({ weekday: "long", day: "numeric", month: "long", year: "numeric" })

export function Calendar() {
  const { tab, ...search } = chosenNow(route.useSearch())
  const navigate = route.useNavigate()
  const go = useNavigate()
  const team = useQuery(staffQuery).data
  const staff = team ?? []
  const services = useQuery(servicesQuery(false)).data
  const queries = useQueryClient()
  const [blocking, setBlocking] = useState(false)
  const [paper, setPaper] = useState<{ Sheet: typeof Sheet }>()
  const narrow = useMedia("(max-width: 640px)")
  const view: View = views.find((v) => v === search.view) ?? (narrow ? "list" : "day")
  const date = /^\d{4}-\d\d-\d\d$/.test(search.date ?? "") && !Number.isNaN(Date.parse(search.date!)) ? search.date! : today()
  const set = (change: Partial<typeof search>) => {
    const next = { ...search, tab, ...change }
    keepChoices(next)
    void navigate({ search: next, replace: true })
  }
  const first = view === "day" ? date : mondayOf(date)
  const last = view === "day" ? date : addDays(first, 6)
  const step = (n: number) => set({ date: view === "month" ? addMonths(date.slice(0, 8) + "01", n) : addDays(date, view === "day" ? n : 7 * n) })
  const add = () => void go({ to: "/appointments/new", search: { staff: search.staff, service: search.service } })
  // A day is a list on paper; what else there is, is printed as it is.
  const onPaper = async () => {
    try {
      if (view === "day") {
        const sheet = await import("./sheet")
        await queries.query({ ...sheet.sheetQuery(date, search.staff, search.service), staleTime: 0 })
        flushSync(() => setPaper(sheet))
      }
      print()
    } catch (e) {
      toastFault(e)
    }
  }
  useKeys({
    p: () => void onPaper(), d: () => set({ view: "day" }), w: () => set({ view: "week" }), m: () => set({ view: "month" }), l: () => set({ view: "list" }), t: () => set({ date: undefined }),
    ...(view !== "month" && { ArrowLeft: () => step(-1), ArrowRight: () => step(1) }), ...(can("svc_manage_bookings") && { n: add }),
  })
  const unit = view === "list" ? "week" : view
  // Filters stand before their choices are there, so that nothing moves: whether somebody works alone is known from the last time.
  const several = team ? team.length > 1 : kept.get("alone") === ""
  useEffect(() => {
    if (team) kept.set("alone", team.length > 1 ? "" : "1")
  }, [team])
  const mine = staff.filter((m) => mayChange(m.user_id))
  // What only the list is narrowed by.
  const listed = { status: search.status, search: search.search, contact: search.contact, conflict: search.conflict }
  const query: Query = Object.fromEntries(Object.entries({ staff: search.staff, service: search.service, ...listed, status: search.status?.split(",") }).filter(([, v]) => v))
  const tabs = useViews("appointments", { tab, query, address: ({ from, to: _, ...rest }) => ({
    view: Object.keys(rest).some((name) => name in listed) ? "list" : view, date: from ? String(from) : search.date, colour: search.colour, ...addressOf(rest),
  }) })
  const contact = useQuery({ ...contactQuery(search.contact ?? ""), enabled: !!search.contact }).data
  const dated = dayTitle(date)
  const shown = { staff: search.staff, service: search.service, colour: search.colour }
  return (
    <>
      <Head title={t("nav.calendar")}>
        <Button className="button--square" icon={<Printer aria-hidden />} aria-label={t("booking.print")} title={t("booking.print")} onClick={() => void onPaper()} />
        {can("svc_manage_bookings") && (!team || mine.length > 0) && <Button icon={<CalendarOff aria-hidden />} onClick={() => setBlocking(true)}>{t("booking.block")}</Button>}
        {can("svc_manage_bookings") && <ButtonLink kind="main" to="/appointments/new" search={{ staff: search.staff, service: search.service }} icon={<CalendarPlus aria-hidden />}>{t("booking.new")}</ButtonLink>}
      </Head>
      <ViewTabs of={tabs} />
      <div className="tools calendar-tools">
        <div className="row calendar-nav">
          <Button onClick={() => set({ date: undefined })} aria-current={date === today() ? "date" : undefined}>{t("booking.today")}</Button>
          <button className="icon-button" aria-label={t(`booking.${unit}_before`)} onClick={() => step(-1)}><ChevronLeft aria-hidden /></button>
          <button className="icon-button" aria-label={t(`booking.${unit}_after`)} onClick={() => step(1)}><ChevronRight aria-hidden /></button>
          <h2 className="calendar-title" aria-live="polite">{view === "month" ? monthWords(date) : view === "day" ? dated : periodWords(first, last)}</h2>
        </div>
        <div className="row calendar-choices">
          {view === "list" && <SearchField value={search.search} onChange={(v) => set({ search: v })} label={t("booking.search")} />}
          {view === "list" && on("contacts") && <RecordFilter name="contact" label={t("booking.client")} clear={t("booking.any_client")} source="contacts" find={findContacts} value={search.contact} shown={contact ? nameOf(contact) : t("booking.client")} onChange={(id) => set({ contact: id })} />}
          {view === "list" && <Choice label={t("booking.any_time")} value={search.conflict} options={[{ value: "true", label: t("booking.conflicts_only") }]} onChange={(v) => set({ conflict: v })} />}
          {view === "list" && <Choice label={t("booking.any_status")} value={search.status as StatusName | undefined} options={allStatuses.map((value) => ({ value, label: t(`booking.status.${value}` as "booking.status.pending") }))} onChange={(v) => set({ status: v })} />}
          {several && <Choice label={t("booking.everybody")} value={search.staff} options={staff.map((m) => ({ value: String(m.user_id), label: m.name }))} onChange={(v) => set({ staff: v })} />}
          {(!services || services.length > 1) && <Choice label={t("booking.every_service")} value={search.service} options={(services ?? []).map((s) => ({ value: s.id, label: s.name }))} onChange={(v) => set({ service: v })} />}
          {view !== "list" && <Choice label={t("booking.colour.status")} value={search.colour} options={colours.map((value) => ({ value: value as string, label: t(`booking.colour.${value}`) }))} onChange={(v) => set({ colour: v })} />}
          <input className="input calendar-date" type="date" aria-label={t("booking.go_to")} value={date} onChange={(e) => e.target.value && set({ date: e.target.value })} />
          <div className="segments calendar-views" role="group" aria-label={t("booking.view")}>
            {views.map((v) => <button key={v} className="segment" aria-pressed={v === view} onClick={() => set({ view: v })}>{t(`booking.view.${v}`)}</button>)}
          </div>
        </div>
      </div>
      {view === "list" ? <Agenda from={first} to={last} staff={search.staff} service={search.service} {...listed} />
        : view === "month" ? <Suspense fallback={<Skeleton lines={12} />}><Month date={date} narrow={narrow} {...shown} onDay={(day, open) => set({ date: day, ...(open && { view: "day" }) })} /></Suspense>
        : <Plan view={view} date={date} from={first} to={last} {...shown} />}
      {view === "day" && paper && <paper.Sheet title={dated} day={date} staff={search.staff} service={search.service} />}
      <Suspense>{blocking && mine[0] && <MarkDialog from={`${date}T12:00`} until={`${date}T13:00`} staff={Number(search.staff) || (mine.some((m) => m.user_id === me.user_id) ? me.user_id : mine[0].user_id)} blocks onClose={() => setBlocking(false)} />}</Suspense>
    </>
  )
}
