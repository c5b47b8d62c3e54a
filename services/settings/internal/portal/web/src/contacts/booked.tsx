// What a person booked and sent, on their screen.
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { api, take } from "@/api/client"
import { dayText, momentText, timeText } from "@/kit/dates"
import { Panel } from "@/kit/panel"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"

const looks: Record<string, string> = { pending: "warn", confirmed: "accent", completed: "good", no_show: "bad" }

/** The person's appointments: what is to come first, then what was. */
export function Appointments({ contact }: { contact: string }) {
  const query = useQuery({ queryKey: ["appointments", "list", { contact }], queryFn: async () => (await take(api.GET("/appointments", { params: { query: { contact, per_page: 100 } } }))).items })
  const all = query.data ?? []
  const now = new Date().toISOString()
  const shown = [...all.filter((a) => a.ends_at >= now), ...all.filter((a) => a.ends_at < now).reverse()]
  return (
    <Panel title={t("contacts.appointments")} beside={all.length > 0 && <span className="soft num">{all.length}</span>}>
      {query.isPending ? <div className="panel-body"><Skeleton lines={2} /></div> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : shown.length === 0 ? <p className="panel-none soft">{t("contacts.appointments_none")}</p> : (
        <ul className="links">
          {shown.slice(0, 8).map((a) => (
            <li key={a.id} className="link-row">
              <span className="cell-main"><Link to="/appointments/$id" params={{ id: a.id }} className="row-link cell-text">{dayText(a.starts_at)}, <span className="num">{timeText(a.starts_at)}</span></Link><small className="cell-text">{a.service.name} · {a.staff.name}</small></span>
              <span className={`mark mark--${looks[a.status] ?? "off"}`}>{tOr(`contacts.appointment.${a.status}`, a.status)}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** What the person sent by forms, the newest first. */
export function Submissions({ contact }: { contact: string }) {
  const query = useQuery({ queryKey: ["submissions", "list", "of", contact], queryFn: () => take(api.GET("/submissions", { params: { query: { contact, per_page: 5 } } })) })
  const list = query.data
  return (
    <Panel title={t("nav.submissions")} beside={list && list.total > 0 && <Link to="/submissions" search={{ contact }} className="num">{t("contacts.all", { n: list.total })}</Link>}>
      {query.isPending ? <div className="panel-body"><Skeleton lines={2} /></div> : !list ? <Failed error={query.error} retry={() => void query.refetch()} /> : list.items.length === 0 ? <p className="panel-none soft">{t("contacts.submissions_none")}</p> : (
        <ul className="links">
          {list.items.map((s) => (
            <li key={s.id} className="link-row">
              <span className="cell-main"><Link to="/submissions/$id" params={{ id: s.id }} className="row-link cell-text">{s.form.name}</Link><small className="cell-text">{momentText(s.created_at)}</small></span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
