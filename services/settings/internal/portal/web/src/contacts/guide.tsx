// Leads a new business to its first booking.
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Check, X } from "lucide-react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { Checks, setupQuery } from "@/kit/checks"
import { momentText } from "@/kit/dates"
import { Panel } from "@/kit/panel"
import { usePlaces, type Place } from "@/kit/place"
import { can, me, on, start } from "@/kit/start"
import { t, type Key } from "@/kit/text"
import { toastFault } from "@/kit/toast"

/**
 * A step, and how the data show that it is done. Who lacks its screen does not see it. One without a path is taken on the booking page, once that
 * is open. The guide can end without those that are optional: to share nothing is a decision too.
 */
type Step = { text: Key; to?: string; done: () => Promise<boolean>; optional?: true }

/** The first appointment that a visitor has booked, which stays when its day is past; null for none. */
const booked = async () => (await take(api.GET("/appointments", { params: { query: { source: "booking", per_page: 1 } } }))).items[0] ?? null

/** Where the booking page is opened. */
const pageScreen = "/settings/portal"

const steps: Step[] = [
  { text: "contacts.setup_hours", to: "/hours", done: async () => Object.values(await take(api.GET("/staff/{user}/hours", { params: { path: { user: me.user_id } } }))).some((blocks) => blocks.length > 0) },
  { text: "contacts.setup_service", to: "/services", done: async () => (await take(api.GET("/services"))).items.length > 0 },
  { text: "contacts.setup_page", to: pageScreen, done: async () => (await take(api.GET("/settings/portal"))).booking_page },
  { text: "contacts.setup_test", done: async () => (await booked()) !== null },
  { text: "contacts.setup_form", to: "/forms", optional: true, done: async () => (await take(api.GET("/forms"))).items.some((f) => f.status === "publish") },
  { text: "contacts.setup_sharing", to: "/settings/telemetry", optional: true, done: async () => take(api.GET("/settings/telemetry")).then((d) => d.stats || d.profile) },
]

const isOwn = (s: Step, places: Place[]) => (s.to === undefined ? on("booking") && can("svc_manage_bookings") : places.some((p) => p.to === s.to))

/** The booking page at the host where the person is. */
const bookingPage = new URL(start.portal).pathname.replace(/\/$/, "") + "/book"

/** The steps until somebody hides them, and what of the installation is set wrong. */
export function Guide() {
  const queries = useQueryClient()
  const setup = useQuery(setupQuery).data
  const places = usePlaces()
  const own = steps.filter((s) => isOwn(s, places))
  const shown = setup !== undefined && !setup.dismissed && !setup.done && own.length > 0
  // A visitor's booking is heard of as any other change, so that it shows while somebody looks. Who comes back from a step finds it done.
  const key = (s: Step) => (s.to === undefined ? ["appointments", "list", "guide"] : ["setup", "step", s.to])
  const done = useQueries({ queries: own.map((s) => ({ queryKey: key(s), queryFn: s.done, enabled: shown, staleTime: 0 })) }).map((q) => q.data === true)
  if (!shown) return null
  const count = done.filter(Boolean).length
  const next = done.indexOf(false)
  const isOpen = done[own.findIndex((s) => s.to === pageScreen)]
  const end = async (body: { dismissed?: boolean; done?: boolean }) => {
    try {
      queries.setQueryData(setupQuery.queryKey, await take(api.PATCH("/setup", { body })))
    } catch (e) {
      toastFault(e)
    }
  }
  return (
    <Panel title={t("contacts.setup")} beside={<button className="icon-button" aria-label={t("contacts.setup_dismiss")} onClick={() => void end({ dismissed: true })}><X aria-hidden /></button>}>
      <div className="panel-body stack-s">
        <p className="soft">{t("contacts.setup_text", { n: count, total: own.length })}</p>
        <progress className="guide-progress" max={own.length} value={count} aria-label={t("contacts.setup")} />
        <ol className="guide">
          {own.map((s, i) => (
            <li key={s.text} className={done[i] ? "guide-done" : i === next ? "guide-next" : undefined}>
              <span className="guide-mark" aria-hidden>{done[i] ? <Check /> : i + 1}</span>
              <span>
                {s.to !== undefined ? <Link to={s.to as "/"}>{t(s.text)}</Link> : isOpen ? <a href={bookingPage} target="_blank" rel="noreferrer">{t(s.text)}</a> : t(s.text)}
                {done[i] && <span className="sr"> {t("contacts.setup_step_done")}</span>}
                {s.to === undefined && done[i] && <TestBooking />}
                {s.to === "/hours" && on("booking") && <OwnCalendar />}
              </span>
            </li>
          ))}
        </ol>
        <Checks />
        <Demo />
        {own.every((s, i) => done[i] || s.optional) && <Button kind="main" onClick={() => void end({ done: true })}>{t("contacts.setup_finish")}</Button>}
      </div>
    </Panel>
  )
}

/** The way to what a visitor has booked: it stands on the screens of the team. */
function TestBooking() {
  const a = useQuery({ queryKey: ["appointments", "list", "guide", "one"], queryFn: booked }).data
  return a && <small className="soft guide-seen">{t("contacts.setup_test_seen")} <Link to="/appointments/$id" params={{ id: a.id }}>{momentText(a.starts_at)}</Link></small>
}

/** An offer beside the hours, until a calendar of another program is connected. */
function OwnCalendar() {
  const path = { user: me.user_id }
  const some = useQuery({ queryKey: ["external_calendars", "list", me.user_id], queryFn: async () => (await take(api.GET("/staff/{user}/calendars", { params: { path } }))).items }).data
  return some?.length === 0 && <small className="soft guide-own"><Link to="/hours">{t("contacts.setup_calendar")}</Link></small>
}

/** An empty system on one's own machine can be filled by a command. */
function Demo() {
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)
  const contacts = useQuery({ queryKey: ["contacts", "list", "guide"], queryFn: () => take(api.GET("/contacts", { params: { query: { per_page: 1 } } })), enabled: local }).data
  return contacts?.total === 0 && <p className="soft small">{t("contacts.setup_demo")} <code>make demo</code></p>
}
