import { useQuery, useQueryClient } from "@tanstack/react-query"
import { CircleAlert, RotateCw } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { saying } from "@/kit/problem"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { deliveriesKey, every, eventText, waits, type Attempt } from "./data"
import { Status } from "./marks"

/** One delivery: what was sent, and what the receiver answered to each attempt. */
export function DeliveryDialog({ id, webhook, onClose }: { id: string; webhook: string; onClose: () => void }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState("")
  const query = useQuery({
    queryKey: ["deliveries", "one", id],
    queryFn: () => take(api.GET("/webhook-deliveries/{id}", { params: { path: { id } } })),
    refetchInterval: (q) => every(q.state.data ? [q.state.data] : []),
  })
  const d = query.data
  const resend = async () => {
    setBusy(true)
    setProblem("")
    try {
      await take(api.POST("/webhook-deliveries/{id}/resend", { params: { path: { id } } }))
    } catch (e) {
      setProblem(saying(asFault(e)))
    }
    await query.refetch()
    setBusy(false)
    for (const key of [deliveriesKey(webhook), ["webhooks"]]) void queries.invalidateQueries({ queryKey: key })
  }
  return (
    <Dialog title={d ? eventText(d.event) : t("webhooks.delivery")} onClose={onClose} size="l">
      {!d ? query.isPending ? <Skeleton lines={6} /> : <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <>
          <div className="dialog-body">
            {problem && <p className="notice notice--bad" role="alert"><CircleAlert aria-hidden /><span>{problem}</span></p>}
            <dl className="facts delivery-facts">
              <div className="fact"><dt>{t("webhooks.result")}</dt><dd><span role="status"><Status status={d.status} /></span>{d.error && <span className="bad small"> {d.error}</span>}</dd></div>
              <div className="fact"><dt>{t("webhooks.happened")}</dt><dd>{momentText(d.created_at)}</dd></div>
              {waits(d) && d.next_attempt_at && <div className="fact"><dt>{t("webhooks.next_try")}</dt><dd>{momentText(d.next_attempt_at)} <span className="soft">({agoText(d.next_attempt_at)})</span></dd></div>}
              <div className="fact"><dt>{t("webhooks.event_id")}</dt><dd><code>{d.event_id}</code></dd></div>
            </dl>
            <section className="stack-s">
              <h3>{t("webhooks.attempts")}</h3>
              {d.log.length === 0 ? <p className="soft">{t("webhooks.no_attempts")}</p> : <ol className="attempts">{[...d.log].reverse().map((a, i) => <Try key={a.number} a={a} open={i === 0} />)}</ol>}
            </section>
            <section className="stack-s">
              <h3>{t("webhooks.payload")}</h3>
              <pre className="code" tabIndex={0} role="region" aria-label={t("webhooks.payload")}>{JSON.stringify(d.payload, null, 2)}</pre>
            </section>
          </div>
          <footer className="dialog-foot">
            <Button onClick={onClose}>{t("close")}</Button>
            <Button kind="main" icon={<RotateCw aria-hidden />} busy={busy} onClick={() => void resend()}>{t("webhooks.resend")}</Button>
          </footer>
        </>
      )}
    </Dialog>
  )
}

function Try({ a, open }: { a: Attempt; open: boolean }) {
  const good = a.error === null
  return (
    <li>
      <details className="attempt" open={open}>
        <summary>
          <span className={good ? "mark mark--good" : "mark mark--bad"}>{a.response_code ?? t("webhooks.no_answer")}</span>
          <b>{t("webhooks.attempt", { n: String(a.number) })}</b>
          <span className="soft num">{momentText(a.at)} · {t("webhooks.ms", { n: a.duration_ms })}</span>
        </summary>
        <div className="stack-s attempt-body">
          <p className="soft small">{a.url}</p>
          {a.error && <p className="problem"><CircleAlert aria-hidden />{a.error}</p>}
          {a.response_body ? <pre className="code" tabIndex={0} role="region" aria-label={t("webhooks.answer_of", { n: String(a.number) })}>{a.response_body}</pre> : <p className="soft small">{t("webhooks.empty_answer")}</p>}
        </div>
      </details>
    </li>
  )
}
