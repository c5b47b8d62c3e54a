import { getRouteApi, Link } from "@tanstack/react-router"
import { Inbox } from "lucide-react"
import { api, take } from "@/api/client"
import { agoText, momentText } from "@/kit/dates"
import { Choice, List, Total, useList, type Column } from "@/kit/list"
import { Panel } from "@/kit/panel"
import { number, t } from "@/kit/text"
import { deliveriesKey, eventText, every, statuses, waits, type Delivery, type DeliveryStatus, type Webhook } from "./data"
import { DeliveryDialog } from "./delivery"
import { Status } from "./marks"

const route = getRouteApi("/webhooks/$id")

/** The deliveries of a webhook, newest first. */
export function Deliveries({ w }: { w: Webhook }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const status = statuses.find((s) => s === search.status)
  const list = useList<Delivery>([...deliveriesKey(w.id), "pages", status], (cursor, signal) =>
    take(api.GET("/webhooks/{id}/deliveries", { params: { path: { id: w.id }, query: { status, cursor, per_page: 25 } }, signal })), every)
  const columns: Column<Delivery>[] = [
    { key: "event", label: t("webhooks.event"), cell: (d) => (
      <span className="cell-main">
        <Link to="/webhooks/$id" params={{ id: w.id }} search={{ ...search, delivery: d.id }} replace className="row-link cell-text">{eventText(d.event)}</Link>
        <small><time dateTime={d.created_at} title={momentText(d.created_at)}>{agoText(d.created_at)}</time></small>
      </span>
    ) },
    { key: "status", label: t("webhooks.result"), width: 10, under: true, cell: (d) => (
      <span className="cell-main">
        <span><Status status={d.status} /></span>
        {waits(d) && d.next_attempt_at && w.active && !w.paused && d.attempts > 0 && <small className="nowrap">{t("webhooks.next", { time: agoText(d.next_attempt_at) })}</small>}
      </span>
    ) },
    { key: "code", label: t("webhooks.code"), width: 5, hides: 1, end: true, cell: (d) => d.response_code ?? "–" },
    { key: "duration", label: t("webhooks.duration"), width: 6, hides: 3, end: true, cell: (d) => <span className="nowrap">{d.duration_ms === null ? "–" : t("webhooks.ms", { n: d.duration_ms })}</span> },
    { key: "attempts", label: t("webhooks.attempts"), width: 6.5, hides: 2, end: true, cell: (d) => number(d.attempts) },
  ]
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  return (
    <Panel title={<>{t("webhooks.deliveries")} <Total n={list.data && list.total} /></>}
      beside={<Choice<DeliveryStatus> label={t("webhooks.every_status")} value={status} options={statuses.map((value) => ({ value, label: t(`webhooks.status.${value}`) }))} onChange={(v) => set({ status: v })} />}>
      <div className="hook-deliveries">
        <List list={list} columns={columns} keeps="deliveries" id={(d) => d.id} name={t("webhooks.deliveries")} filtered={status !== undefined} onClear={() => set({ status: undefined })}
          empty={{ icon: Inbox, title: t("webhooks.no_deliveries"), text: t("webhooks.no_deliveries_text") }} />
      </div>
      {search.delivery && <DeliveryDialog key={search.delivery} id={search.delivery} webhook={w.id} onClose={() => set({ delivery: undefined })} />}
    </Panel>
  )
}
