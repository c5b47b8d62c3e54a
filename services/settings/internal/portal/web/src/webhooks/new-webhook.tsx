import { useQueryClient } from "@tanstack/react-query"
import { RadioTower } from "lucide-react"
import { useRef, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { createWebhook } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import { formats, openReceiver, receiverKey, webhookKey, type Format } from "./data"
import { EventChoice } from "./events"
import { OnlyChoice, useFitting, type Only } from "./only"

/** Makes a webhook; onMade gets it with its secret, which no later answer shows. */
export function NewWebhook({ onClose, onMade }: { onClose: () => void; onMade: (made: Schema<"WithSecret">) => void }) {
  const queries = useQueryClient()
  const [events, setEvents] = useState<string[]>([])
  const [chosen, setOnly] = useState<Only>({})
  const only = useFitting(chosen, events)
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/webhooks", { params: { header: { "Idempotency-Key": key } }, body: { name: text(values, "name"), url: text(values, "url"), events, only, format: text(values, "format") as Format } }))
    queries.setQueryData(webhookKey(made.webhook.id), made.webhook)
    void queries.invalidateQueries({ queryKey: ["webhooks", "list"] })
    onMade(made)
  })
  const url = useRef<HTMLInputElement>(null)
  const [opening, setOpening] = useState(false)
  const fillIn = async () => {
    setOpening(true)
    try {
      const receiver = await openReceiver()
      queries.setQueryData(receiverKey, receiver)
      url.current!.value = receiver.url!
      form.clear("url")
      form.setDirty(true)
    } catch (e) {
      toastFault(e)
    }
    setOpening(false)
  }
  return (
    <Dialog title={t("webhooks.new")} onClose={onClose} guarded={form.dirty} size="l">
      <Form limits={createWebhook} form={form}>
        <div className="dialog-body">
          <div className="fields">
            <TextField name="name" label={t("webhooks.name")} placeholder={t("webhooks.name_hint")} required autoFocus />
            <TextField ref={url} name="url" label={t("webhooks.url")} help={t("webhooks.url_help")} type="url" inputMode="url" placeholder="https://" required />
          </div>
          <div><Button small icon={<RadioTower aria-hidden />} busy={opening} onClick={() => void fillIn()}>{t("webhooks.receiver.use")}</Button></div>
          <EventChoice chosen={events} onChange={(chosen) => (setEvents(chosen), form.clear("events"), form.setDirty(true))} />
          <OnlyChoice events={events} only={only} onChange={(only) => (setOnly(only), form.setDirty(true))} />
          <SelectField name="format" label={t("webhooks.format")} help={t("webhooks.format_help")} options={formats()} />
          <p className="soft small">{t("webhooks.data_text")}</p>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("webhooks.create")}</Button></footer>
      </Form>
    </Dialog>
  )
}
