import "./webhooks.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, CircleAlert, Clock, Inbox, RadioTower, Send, X } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { CopyField } from "@/kit/copy"
import { momentText } from "@/kit/dates"
import { Form, SelectField, text, useForm } from "@/kit/form"
import { Total } from "@/kit/list"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { eventText, openReceiver, receiverKey, webhooksQuery, type Receiver as Record } from "./data"

type Got = Schema<"TestRequest">
type Check = Schema<"SignatureCheck">

const route = getRouteApi("/webhooks/receiver")

/** The person's own test receiver: its address, and what arrives there, looked at every two seconds. */
export function Receiver() {
  const query = useQuery({ queryKey: receiverKey, queryFn: () => take(api.GET("/webhooks/receiver")), refetchInterval: (q) => (q.state.data?.url ? 2_000 : false) })
  return (
    <>
      <Head title={t("webhooks.receiver.title")} back={<Link to="/webhooks" className="icon-button" aria-label={t("nav.webhooks")}><ArrowLeft aria-hidden /></Link>} />
      {query.isPending ? <Skeleton lines={8} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : query.data.url ? <Open r={query.data} url={query.data.url} /> : <None />}
    </>
  )
}

/** Runs one action at a time and says which one is under way. A refusal becomes a toast. */
function useBusy() {
  const [busy, setBusy] = useState("")
  const run = async (what: string, f: () => Promise<void>) => {
    setBusy(what)
    await f().catch(toastFault)
    setBusy("")
  }
  return [busy, run] as const
}

function None() {
  const queries = useQueryClient()
  const [busy, run] = useBusy()
  return (
    <Blank icon={RadioTower} title={t("webhooks.receiver.empty")} text={t("webhooks.receiver.empty_text")}>
      <Button kind="main" busy={busy !== ""} onClick={() => void run("open", async () => void queries.setQueryData(receiverKey, await openReceiver()))}>{t("webhooks.receiver.open")}</Button>
    </Blank>
  )
}

function Open({ r, url }: { r: Record; url: string }) {
  const queries = useQueryClient()
  const [busy, run] = useBusy()
  const close = () => run("close", async () => {
    await api.DELETE("/webhooks/receiver")
    queries.setQueryData<Record>(receiverKey, { url: null, until: null, requests: [] })
    toast(t("webhooks.receiver.closed"))
  })
  return (
    <div className="content hook-record">
      <div className="stack">
        <Panel title={t("webhooks.receiver.title")}>
          <div className="panel-body stack">
            <CopyField label={t("webhooks.receiver.url")} value={url} help={t("webhooks.receiver.url_help")} />
            <p className="soft small">{t("webhooks.receiver.until", { time: momentText(r.until!) })}</p>
            <div className="receiver-actions">
              <Button small icon={<Clock aria-hidden />} busy={busy === "longer"} onClick={() => void run("longer", async () => void queries.setQueryData(receiverKey, await openReceiver()))}>{t("webhooks.receiver.longer")}</Button>
              <Button small icon={<X aria-hidden />} busy={busy === "close"} onClick={() => void close()}>{t("webhooks.receiver.close")}</Button>
            </div>
          </div>
        </Panel>
        <Try />
      </div>
      <Panel title={<>{t("webhooks.receiver.arrived")} <Total n={r.requests.length} /></>}>
        <div className="panel-body" aria-live="polite">
          {r.requests.length === 0 ? <Blank icon={Inbox} title={t("webhooks.receiver.waiting")} text={t("webhooks.receiver.waiting_text")} />
            : <ol className="attempts">{r.requests.map((got, i) => <Arrived key={got.id} got={got} open={i === 0} />)}</ol>}
        </div>
      </Panel>
    </div>
  )
}

/** Signs a test event as a webhook would, and sends it here. */
function Try() {
  const queries = useQueryClient()
  const wanted = route.useSearch().webhook
  const webhooks = useQuery(webhooksQuery).data ?? []
  const form = useForm(async (values) => {
    await take(api.POST("/webhooks/{id}/try", { params: { path: { id: text(values, "webhook") } } }))
    await queries.invalidateQueries({ queryKey: receiverKey })
  })
  if (webhooks.length === 0) return null
  return (
    <Panel title={t("webhooks.receiver.try")}>
      <Form form={form} className="panel-body stack">
        <p className="soft small">{t("webhooks.receiver.try_text")}</p>
        <SelectField name="webhook" label={t("webhooks.receiver.which")} defaultValue={wanted} options={webhooks.map((w) => ({ value: w.id, label: w.name }))} />
        <div><Button kind="main" type="submit" icon={<Send aria-hidden />} busy={form.busy}>{t("webhooks.receiver.send")}</Button></div>
      </Form>
    </Panel>
  )
}

function Arrived({ got, open }: { got: Got; open: boolean }) {
  const [first] = useState(open) // a later request must not close the one that somebody reads
  const good = got.signatures.every((s) => s.problem === null)
  const event = got.headers.find((h) => h.name === "X-Svc-Event")?.value
  return (
    <li>
      <details className="attempt" open={first}>
        <summary>
          <span className={good ? "mark mark--good" : "mark mark--bad"}>{t(good ? "webhooks.receiver.good" : "webhooks.receiver.bad")}</span>
          <b>{event ? eventText(event) : "POST"}</b>
          <span className="soft num">{momentText(got.at)} · {t("webhooks.receiver.bytes", { n: got.size })}</span>
        </summary>
        <div className="stack attempt-body">
          <section className="stack-s">
            <h3>{t("webhooks.receiver.signatures")}</h3>
            <ul className="receiver-checks">{got.signatures.map((s) => <Signature key={s.header} s={s} />)}</ul>
          </section>
          <section className="stack-s">
            <h3>{t("webhooks.receiver.body")}</h3>
            {got.size === 0 ? <p className="soft small">{t("webhooks.receiver.no_body")}</p> : <pre className="code" tabIndex={0} role="region" aria-label={t("webhooks.receiver.body")}>{got.body}</pre>}
            {got.size > 16_384 && <p className="soft small">{t("webhooks.receiver.cut")}</p>}
          </section>
          <section className="stack-s">
            <h3>{t("webhooks.receiver.headers")}</h3>
            <dl className="receiver-headers">{got.headers.map((h, i) => <div key={i}><dt>{h.name}</dt><dd>{h.value}</dd></div>)}</dl>
          </section>
        </div>
      </details>
    </li>
  )
}

function Signature({ s }: { s: Check }) {
  return (
    <li>
      <p><code>{s.header}</code> <span className={s.problem ? "mark mark--bad" : "mark mark--good"}>{t(s.problem ? "webhooks.receiver.bad" : "webhooks.receiver.good")}</span></p>
      {s.signed_by.map((by) => <p key={by.webhook + by.which} className="small">{t(by.which === "old" ? "webhooks.receiver.signed_by_old" : "webhooks.receiver.signed_by", { name: by.name })}</p>)}
      {s.problem && <p className="problem"><CircleAlert aria-hidden />{tOr("webhooks.receiver.problem." + s.problem, s.problem)}</p>}
    </li>
  )
}
