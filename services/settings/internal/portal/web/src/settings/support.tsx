import { useQuery } from "@tanstack/react-query"
import { Send } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { requestSupport, sendDeactivationFeedback } from "@/api/limits"
import { Button } from "@/kit/button"
import { CheckField, Form, SelectField, text, TextArea, TextField, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useUnsavedGuard } from "@/kit/use-draft"
import { Loaded } from "./frame"

export function Support() {
  return (
    <Loaded at="support" query={useQuery({ queryKey: ["support"], queryFn: () => take(api.GET("/support")) })}>
      {(s) => (
        <>
          <Ask support={s} />
          <Feedback />
        </>
      )}
    </Loaded>
  )
}

/** A request for support. What goes along is shown before it is sent. */
function Ask({ support }: { support: Schema<"Support"> }) {
  const [along, setAlong] = useState(true)
  const form = useForm(async (values, key) => {
    await take(api.POST("/support/requests", { params: { header: { "Idempotency-Key": key } }, body: {
      type: text(values, "type") as "question", subject: text(values, "subject"), message: text(values, "message"), ...(text(values, "reply_to") && { reply_to: text(values, "reply_to") }), include_environment: along,
    } }))
    form.ref.current?.reset()
    toast(t("settings.support_sent"))
  })
  useUnsavedGuard(form.dirty)
  const { apps, ...facts } = support.environment
  return (
    <Panel title={t("settings.support")}>
      <Form limits={requestSupport} form={form}>
        <div className="panel-body fields">
          <p className="soft field--wide">{t(support.live ? "settings.support_live" : "settings.support_text")}</p>
          <SelectField name="type" label={t("settings.support_type")} options={(["question", "bug", "idea"] as const).map((value) => ({ value, label: t(`settings.support_type.${value}`) }))} />
          <TextField name="reply_to" label={t("settings.reply_to")} type="email" defaultValue={me.email} autoComplete="email" />
          <TextField name="subject" label={t("settings.subject")} wide required />
          <TextArea name="message" label={t("settings.message")} rows={6} required />
          <CheckField name="include_environment" label={t("settings.environment_along")} help={t("settings.environment_help")} checked={along} onChange={(e) => setAlong(e.target.checked)} />
          {along && (
            <dl className="environment field--wide" aria-label={t("settings.environment")}>
              {(["version", "go", "postgres", "timezone", "url"] as const).map((name) => <div key={name}><dt>{t(`settings.environment.${name}`)}</dt><dd>{facts[name]}</dd></div>)}
              <div><dt>{t("settings.environment.apps")}</dt><dd>{apps.join(", ")}</dd></div>
            </dl>
          )}
          <div className="field--wide row"><Button kind="main" type="submit" busy={form.busy} icon={<Send aria-hidden />}>{t("settings.send")}</Button></div>
        </div>
      </Form>
    </Panel>
  )
}

const reasons = ["temporary", "missing_feature", "too_hard", "not_working", "other_tool", "other"] as const

/** Why somebody stops. */
function Feedback() {
  const form = useForm(async (values, key) => {
    await take(api.POST("/feedback/deactivate", { params: { header: { "Idempotency-Key": key } }, body: { reason: text(values, "reason") as "other", text: text(values, "text") } }))
    form.ref.current?.reset()
    toast(t("settings.feedback_sent"))
  })
  return (
    <Panel title={t("settings.feedback")}>
      <Form limits={sendDeactivationFeedback} form={form}>
        <div className="panel-body fields">
          <p className="soft field--wide">{t("settings.feedback_text")}</p>
          <SelectField name="reason" label={t("settings.reason")} options={reasons.map((value) => ({ value, label: t(`settings.reason.${value}`) }))} wide />
          <TextArea name="text" label={t("settings.feedback_more")} rows={3} />
          <div className="field--wide row"><Button type="submit" busy={form.busy}>{t("settings.feedback_send")}</Button></div>
        </div>
      </Form>
    </Panel>
  )
}
