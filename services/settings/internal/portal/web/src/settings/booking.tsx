import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { CheckField, SelectField, text, TextArea, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { on } from "@/kit/start"
import { t } from "@/kit/text"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"Settings">

const queryKey = ["settings", "booking"]
const load = () => take(api.GET("/settings/booking"))

export function Booking() {
  const query = useQuery({ queryKey, queryFn: load })
  const forms = useQuery({ queryKey: ["forms", "list", "booking"], queryFn: async () => (await take(api.GET("/forms"))).items, enabled: on("forms"), staleTime: 60_000 })
  return <Loaded at="booking" query={query}>{(doc) => <Edit key={forms.data?.length} doc={doc} forms={forms.data ?? []} />}</Loaded>
}

const numbers = ["slot_step", "min_notice_min", "max_advance_days", "cancel_notice_hours", "reminder_hours", "max_open_bookings", "request_expires_hours"] as const

function Edit({ doc, forms }: { doc: Doc; forms: Schema<"Form">[] }) {
  const read = (v: FormData) => ({
    ...Object.fromEntries(numbers.filter((n) => v.has(n)).map((n) => [n, text(v, n) === "" ? null : Number(text(v, n))])),
    client_changes: v.has("client_changes"), reminder_enabled: v.has("reminder_enabled"), default_confirmation: text(v, "default_confirmation"),
    terms_text: text(v, "terms_text"), late_cancel_text: text(v, "late_cancel_text"), ...(on("forms") && { form_id: text(v, "form_id") === "" ? null : Number(text(v, "form_id")) }),
  })
  const whole = { type: "number", inputMode: "numeric", min: 0, step: 1 } as const
  return (
    <DocumentForm name={t("nav.booking_settings")} queryKey={queryKey} load={load} doc={doc} read={read} send={(body) => take(api.PATCH("/settings/booking", { body }))}>
      {(d) => (
        <>
          <Panel title={t("settings.times")}>
            <div className="panel-body fields">
              <TextField name="min_notice_min" label={t("settings.min_notice")} help={t("settings.min_notice_help")} {...whole} max={43200} defaultValue={d.min_notice_min} required />
              <TextField name="max_advance_days" label={t("settings.max_advance")} help={t("settings.max_advance_help")} {...whole} min={1} max={730} defaultValue={d.max_advance_days} required />
              <TextField name="slot_step" label={t("settings.slot_step")} help={t("settings.slot_step_help")} {...whole} max={240} defaultValue={d.slot_step} required />
              <TextField name="max_open_bookings" label={t("settings.max_open")} help={t("settings.max_open_help")} {...whole} max={50} defaultValue={d.max_open_bookings} required />
            </div>
          </Panel>
          <Panel title={t("settings.requests")}>
            <div className="panel-body fields">
              <SelectField name="default_confirmation" label={t("settings.confirmation")} help={t("settings.confirmation_help")} defaultValue={d.default_confirmation} options={(["auto", "review"] as const).map((value) => ({ value, label: t(`settings.confirmation.${value}`) }))} />
              <TextField name="request_expires_hours" label={t("settings.request_expires")} help={t("settings.request_expires_help")} {...whole} max={720} defaultValue={d.request_expires_hours} required />
              {on("forms") && <SelectField name="form_id" label={t("settings.form")} help={t("settings.form_help")} defaultValue={d.form_id ? String(d.form_id) : ""} options={[{ value: "", label: t("settings.form_standard") }, ...forms.map((f) => ({ value: String(f.id), label: f.name }))]} wide />}
            </div>
          </Panel>
          <Panel title={t("settings.changes")}>
            <div className="panel-body fields">
              <CheckField name="client_changes" label={t("settings.client_changes")} help={t("settings.client_changes_help")} defaultChecked={d.client_changes} />
              <TextField name="cancel_notice_hours" label={t("settings.cancel_notice")} help={t("settings.cancel_notice_help")} {...whole} max={720} defaultValue={d.cancel_notice_hours} required />
              <TextArea name="late_cancel_text" label={t("settings.late_cancel")} help={t("settings.late_cancel_help")} defaultValue={d.late_cancel_text} rows={2} maxLength={1000} />
            </div>
          </Panel>
          <Panel title={t("settings.mail_and_terms")}>
            <div className="panel-body fields">
              <Reminder doc={d} />
              <TextArea name="terms_text" label={t("settings.terms")} help={t("settings.terms_help")} defaultValue={d.terms_text} rows={3} maxLength={1000} />
            </div>
          </Panel>
        </>
      )}
    </DocumentForm>
  )
}

function Reminder({ doc }: { doc: Doc }) {
  const [enabled, setEnabled] = useState(doc.reminder_enabled)
  return (
    <>
      <CheckField name="reminder_enabled" label={t("settings.reminder")} checked={enabled} onChange={(e) => setEnabled(e.target.checked)} />
      {enabled && <TextField name="reminder_hours" label={t("settings.reminder_hours")} help={t("settings.reminder_help")} type="number" inputMode="numeric" min={1} max={168} step={1} defaultValue={doc.reminder_hours} required />}
    </>
  )
}
