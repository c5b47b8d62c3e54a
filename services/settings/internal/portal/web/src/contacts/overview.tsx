import "./contacts.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CalendarCheck2, Check, Inbox, X } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { confirmRequest } from "@/kit/answer"
import { Button } from "@/kit/button"
import { dayLongText, dayText, timeRange, timeText } from "@/kit/dates"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { can, me, on } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { number, t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Guide } from "./guide"
import { Plots } from "./plots"
import { MyTasks } from "./my-tasks"
import { Timeline } from "./timeline"

type Appointment = Schema<"OverviewAppointment">

const key = ["overview"]

export function Overview() {
  const query = useQuery({ queryKey: key, queryFn: () => take(api.GET("/overview")), refetchInterval: 60_000 })
  const now = new Date().toISOString()
  return (
    <>
      <Head title={t("contacts.hello", { name: me.name.split(" ")[0]! })} count={<span className="soft">{dayLongText(now)}</span>} />
      <div className="content">
        {query.isPending ? <Skeleton lines={8} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Day data={query.data} />}
      </div>
    </>
  )
}

function Day({ data }: { data: Schema<"Overview"> }) {
  const today = data.today.items
  const requests = data.requests.items
  const now = Date.now()
  return (
    <div className="overview">
      <div className="stack">
        {on("booking") && (
          <Panel title={t("contacts.today")} beside={<span className="soft num">{t("contacts.remaining", { n: data.today.remaining, total: data.today.total })}</span>}>
            {today.length === 0 ? <p className="panel-none soft"><CalendarCheck2 aria-hidden />{t("contacts.today_none")}</p> : (
              <ol className="agenda">
                {today.map((a) => (
                  <li key={a.id} className={Date.parse(a.ends_at) < now ? "agenda-row agenda-row--past" : Date.parse(a.starts_at) <= now ? "agenda-row agenda-row--now" : "agenda-row"}>
                    <span className="agenda-time num">{timeText(a.starts_at)}<small>{timeText(a.ends_at)}</small></span>
                    <span className="cell-main"><Who a={a} /><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
                    {a.status === "pending" && <span className="mark mark--warn">{t("contacts.pending")}</span>}
                  </li>
                ))}
              </ol>
            )}
          </Panel>
        )}
        {on("booking") && (
          <Panel title={t("contacts.requests")} beside={data.requests.total > 0 && <span className="tag num">{number(data.requests.total)}</span>}>
            {requests.length === 0 ? <p className="panel-none soft"><Inbox aria-hidden />{t("contacts.requests_none")}</p> : <ul className="agenda">{requests.map((a) => <Request key={a.id} a={a} />)}</ul>}
          </Panel>
        )}
        <MyTasks mine={data.tasks} />
        {on("booking") && <Clashes />}
        <Panel title={t("contacts.activity")}>
          {data.activity.length === 0 ? <p className="panel-none soft">{t("contacts.activity_none")}</p> : <div className="panel-body"><Timeline entries={data.activity} named /></div>}
        </Panel>
      </div>
      <aside className="stack" aria-label={t("contacts.week")}>
        {can("svc_manage_crm") && <Guide />}
        <div className="figures">
          <Link to="/contacts" className="figure"><span className="figure-number num">{number(data.new_contacts)}</span><span className="soft">{t("contacts.week_contacts", { n: data.new_contacts })}</span></Link>
          {on("forms") && <div className="figure"><span className="figure-number num">{number(data.submissions)}</span><span className="soft">{t("contacts.week_submissions", { n: data.submissions })}</span></div>}
        </div>
        <Plots />
      </aside>
    </div>
  )
}

const Who = ({ a }: { a: Appointment }) => (a.contact ? <Link to="/contacts/$id" params={{ id: a.contact.id }} className="row-link cell-text">{a.contact.name}</Link> : <span className="row-link">{t("contacts.hidden")}</span>)

/** A request that is answered where it stands. */
function Request({ a }: { a: Appointment }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const name = a.contact?.name ?? a.service.name
  const answer = async (said: "confirmed" | "declined") => {
    setBusy(true)
    try {
      const after = await (said === "confirmed" ? confirmRequest(a.id) : take(api.POST("/appointments/{id}/decline", { params: { path: { id: a.id } } })))
      if (after) toast(t(`contacts.${said}`, { name }))
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey: key })
    }
  }
  const decline = async () => {
    const { confirm } = await import("@/kit/dialog")
    if (await confirm({ title: t("contacts.decline_title", { name }), text: t("contacts.decline_text"), action: t("contacts.decline"), bad: true })) await answer("declined")
  }
  return (
    <li className="agenda-row">
      <span className="agenda-time agenda-time--day num">{dayText(a.starts_at)}<small>{timeRange(a.starts_at, a.ends_at)}</small></span>
      <span className="cell-main"><Who a={a} /><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
      {can("svc_manage_bookings") && (
        <span className="agenda-actions">
          <Button small busy={busy} icon={<X aria-hidden />} aria-label={t("contacts.decline_one", { name })} onClick={() => void decline()}>{t("contacts.decline")}</Button>
          <Button small kind="main" busy={busy} icon={<Check aria-hidden />} aria-label={t("contacts.confirm_one", { name })} onClick={() => void answer("confirmed")}>{t("contacts.confirm")}</Button>
        </span>
      )}
    </li>
  )
}

/** Appointments at times that the calendar of their person has taken since; nothing is shown without any. */
function Clashes() {
  const query = { conflict: true, per_page: 5 }
  const found = useQuery({ queryKey: ["appointments", "list", query], queryFn: () => take(api.GET("/appointments", { params: { query } })) }).data
  if (!found?.items.length) return null
  return (
    <Panel title={t("contacts.clashes")} beside={<span className="tag num">{number(found.total)}</span>}>
      <ul className="agenda">
        {found.items.map((a) => (
          <li key={a.id} className="agenda-row">
            <span className="agenda-time agenda-time--day num">{dayText(a.starts_at)}<small>{timeRange(a.starts_at, a.ends_at)}</small></span>
            <span className="cell-main"><Link to="/appointments/$id" params={{ id: a.id }} className="row-link cell-text">{a.contact.name}</Link><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
