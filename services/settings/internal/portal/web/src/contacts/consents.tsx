import { useQuery, useQueryClient } from "@tanstack/react-query"
import { MailPlus, MailX } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { requestMarketingConsent } from "@/api/limits"
import { Button } from "@/kit/button"
import { confirm, Dialog } from "@/kit/dialog"
import { dateText, momentText } from "@/kit/dates"
import { Form, text, TextField, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { type Contact } from "./data"
import { Marketing } from "./marks"
import { timelineKey } from "./timeline"
import { contactKey, nameOf } from "@/kit/records"

/** Whether the person gets marketing mails, what they agreed to, and the question that only they can answer. */
export function Consents({ c, readOnly }: { c: Contact; readOnly: boolean }) {
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const given = useQuery({ queryKey: ["contacts", "consents", c.id], queryFn: () => take(api.GET("/contacts/{id}/consents", { params: { path: { id: c.id } } })) }).data?.items ?? []
  const keep = (now: Contact) => {
    queries.setQueryData(contactKey(c.id), now)
    void queries.invalidateQueries({ queryKey: timelineKey("contacts", c.id) })
  }
  const unsubscribe = async () => {
    if (!(await confirm({ title: t("contacts.unsubscribe_title", { name: nameOf(c) }), text: t("contacts.unsubscribe_text"), action: t("contacts.unsubscribe"), bad: true }))) return
    try {
      keep(await take(api.POST("/contacts/{id}/marketing/unsubscribe", { params: { path: { id: c.id } } })))
    } catch (e) {
      toastFault(e)
    }
  }
  return (
    <Panel title={t("contacts.marketing")} beside={<Marketing state={c.marketing} />}>
      <div className="panel-body stack">
        {c.marketing_updated_at && <p className="soft small">{t("contacts.marketing_since", { date: dateText(c.marketing_updated_at) })}</p>}
        {given.length > 0 && (
          <ul className="consents">
            {given.map((x, i) => <li key={i}><p>{x.text}</p><p className="soft small">{x.purpose} · {momentText(x.created_at)}{x.verified && ` · ${t("contacts.verified")}`}</p></li>)}
          </ul>
        )}
        {!readOnly && (
          <div className="row">
            {c.marketing !== "subscribed" && c.email && <Button small icon={<MailPlus aria-hidden />} onClick={() => setAsking(true)}>{t("contacts.ask")}</Button>}
            {c.marketing !== "unsubscribed" && <Button small icon={<MailX aria-hidden />} onClick={() => void unsubscribe()}>{t("contacts.unsubscribe")}</Button>}
          </div>
        )}
      </div>
      {asking && <Ask c={c} onClose={() => setAsking(false)} onDone={keep} />}
    </Panel>
  )
}

function Ask({ c, onClose, onDone }: { c: Contact; onClose: () => void; onDone: (c: Contact) => void }) {
  const left = c.marketing === "unsubscribed"
  const form = useForm(async (values, key) => {
    onDone(await take(api.POST("/contacts/{id}/marketing/request", { params: { path: { id: c.id }, header: { "Idempotency-Key": key } }, body: left ? { reason: text(values, "reason") } : {} })))
    onClose()
    toast(t("contacts.asked", { email: c.email }))
  })
  return (
    <Dialog title={t("contacts.ask_title", { name: nameOf(c) })} onClose={onClose} size="s" guarded={form.dirty}>
      <Form limits={requestMarketingConsent} form={form}>
        <div className="dialog-body">
          <p className="soft">{t("contacts.ask_text", { email: c.email })}</p>
          {left && <TextField name="reason" label={t("contacts.ask_reason")} help={t("contacts.ask_reason_help")} autoFocus />}
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("contacts.ask_send")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
