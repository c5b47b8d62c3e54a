import "./webhooks.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Plus, Power, RadioTower, Webhook as WebhookIcon } from "lucide-react"
import { useRef, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { Total, useWalk } from "@/kit/list"
import { Head } from "@/kit/head"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { deliveriesKey, every, switchWebhook, webhookKey, webhooksQuery, type Webhook } from "./data"
import { pausedText, State, Status } from "./marks"
import { NewWebhook } from "./new-webhook"
import { SecretShown } from "./secret"

const route = getRouteApi("/webhooks")

export function Webhooks() {
  const navigate = route.useNavigate()
  const query = useQuery(webhooksQuery)
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<Schema<"WithSecret">>()
  const body = useRef<HTMLUListElement>(null)
  useWalk(body)
  const add = <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("webhooks.new")}</Button>
  return (
    <>
      <Head title={t("nav.webhooks")} count={<Total n={query.data?.length} />}><Link to="/webhooks/receiver" className="button"><RadioTower aria-hidden />{t("webhooks.receiver.title")}</Link>{query.data && query.data.length > 0 && add}</Head>
      {query.isPending ? <Skeleton lines={8} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} />
        : query.data.length === 0 ? <Blank icon={WebhookIcon} title={t("webhooks.empty")} text={t("webhooks.empty_text")}>{add}</Blank>
        : <ul ref={body} className="content hooks">{query.data.map((w) => <Row key={w.id} w={w} />)}</ul>}
      {making && <NewWebhook onClose={() => setMaking(false)} onMade={(m) => (setMaking(false), setMade(m))} />}
      {made && <SecretShown name={made.webhook.name} secret={made.secret ?? ""} onClose={() => void navigate({ to: "/webhooks/$id", params: { id: made.webhook.id } })} />}
    </>
  )
}

function Row({ w }: { w: Webhook }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const on = async () => {
    setBusy(true)
    try {
      queries.setQueryData(webhookKey(w.id), await switchWebhook(w.id, true))
      toast(t("webhooks.on_again", { name: w.name }))
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey: webhooksQuery.queryKey })
    }
  }
  return (
    <li className="hook">
      <span className="avatar avatar--square hook-icon" aria-hidden><WebhookIcon /></span>
      <div className="hook-main">
        <p className="hook-name"><Link to="/webhooks/$id" params={{ id: w.id }} className="row-link">{w.name}</Link> <State w={w} /></p>
        <p className="hook-url">{w.url}</p>
        {w.active && w.paused && <p className="bad small">{pausedText(w)}</p>}
      </div>
      <div className="hook-facts">
        <LastResult id={w.id} />
        <span className="soft small">{t("webhooks.event_count", { n: w.events.length })}</span>
      </div>
      {w.active && w.paused && <Button small busy={busy} icon={<Power aria-hidden />} aria-label={t("webhooks.switch_on_one", { name: w.name })} onClick={() => void on()}>{t("webhooks.switch_on")}</Button>}
    </li>
  )
}

/** How the newest delivery of a webhook went. */
function LastResult({ id }: { id: string }) {
  const query = useQuery({
    queryKey: [...deliveriesKey(id), "last"],
    queryFn: async () => (await take(api.GET("/webhooks/{id}/deliveries", { params: { path: { id }, query: { per_page: 1 } } }))).items,
    refetchInterval: (q) => every(q.state.data ?? []),
  })
  if (!query.data) return null
  const d = query.data[0]
  if (!d) return <span className="soft small">{t("webhooks.nothing_sent")}</span>
  return <span className="hook-last"><Status status={d.status} /><time className="soft small" dateTime={d.created_at} title={momentText(d.created_at)}>{agoText(d.created_at)}</time></span>
}
