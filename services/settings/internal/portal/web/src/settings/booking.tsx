import { useQuery } from "@tanstack/react-query"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updateBookingSettings } from "@/api/limits"
import { CheckField, Field, SelectField, TextArea, TextField } from "@/kit/form"
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
  return <Loaded at="booking" query={query}>{(doc) => <Edit doc={doc} forms={forms.data ?? []} />}</Loaded>
}

/** The hours of three reminders; null for one that is not there, or not typed yet. */
const hours = (all: { hours: number | null }[]): (number | null)[] => [0, 1, 2].map((i) => all[i]?.hours ?? null)

/** A change without the reminders and the lines that were left empty. */
const filled = (change: { reminders?: { hours: number | null }[] | undefined; notify_emails?: string[] | undefined }) => ({
  ...change,
  ...(change.reminders && { reminders: change.reminders.filter((r) => r.hours !== null) }),
  ...(change.notify_emails && { notify_emails: change.notify_emails.map((e) => e.trim()).filter(Boolean) }),
})

function Edit({ doc, forms }: { doc: Doc; forms: Schema<"Form">[] }) {
  return (
    <DocumentForm limits={updateBookingSettings} name={t("nav.booking_settings")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/settings/booking", { params: { header: ifMatch(version) }, body: filled(change) as never }))}>
      {(draft) => (
        <>
          <Panel title={t("settings.times")}>
            <div className="panel-body fields">
              <TextField name="min_notice_min" label={t("settings.min_notice")} help={t("settings.min_notice_help")} number required />
              <TextField name="max_advance_days" label={t("settings.max_advance")} help={t("settings.max_advance_help")} number required />
              <TextField name="slot_step" label={t("settings.slot_step")} help={t("settings.slot_step_help")} number required />
              <TextField name="max_open_bookings" label={t("settings.max_open")} help={t("settings.max_open_help")} number required />
            </div>
          </Panel>
          <Panel title={t("settings.requests")}>
            <div className="panel-body fields">
              <SelectField name="default_confirmation" label={t("settings.confirmation")} help={t("settings.confirmation_help")} options={(["auto", "review"] as const).map((value) => ({ value, label: t(`settings.confirmation.${value}`) }))} />
              <TextField name="request_expires_hours" label={t("settings.request_expires")} help={t("settings.request_expires_help")} number required />
              {on("forms") && <SelectField name="form_id" label={t("settings.form")} help={t("settings.form_help")} number options={[{ value: "", label: t("settings.form_standard") }, ...forms.map((f) => ({ value: String(f.id), label: f.name }))]} wide />}
            </div>
          </Panel>
          <Panel title={t("settings.notify")}>
            <div className="panel-body fields">
              <TextArea name="notify_emails" label={t("settings.notify_emails")} help={t("settings.notify_emails_help")} rows={2} value={draft.mine.notify_emails.join("\n")} placeholder="name@example.com" onChange={(e) => draft.set("notify_emails", e.target.value === "" ? [] : e.target.value.split("\n"))} />
            </div>
          </Panel>
          <Panel title={t("settings.changes")}>
            <div className="panel-body fields">
              <CheckField name="client_changes" label={t("settings.client_changes")} help={t("settings.client_changes_help")} />
              <TextField name="cancel_notice_hours" label={t("settings.cancel_notice")} help={t("settings.cancel_notice_help")} number required />
              <TextArea name="late_cancel_text" label={t("settings.late_cancel")} help={t("settings.late_cancel_help")} rows={2} />
            </div>
          </Panel>
          <Panel title={t("settings.mail_and_terms")}>
            <div className="panel-body fields">
              <CheckField name="reminder_enabled" label={t("settings.reminder")} />
              {draft.mine.reminder_enabled && [0, 1, 2].map((i) => (
                <Field key={i} name="reminders" label={t("settings.reminder_hours", { n: i + 1 })} help={t("settings.reminder_help")}>
                  {(a) => <input className="input" type="number" inputMode="numeric" {...updateBookingSettings["reminders.*.hours"]} required={i === 0} {...a} value={hours(draft.mine.reminders)[i] ?? ""} onChange={(e) => draft.set("reminders", hours(draft.mine.reminders).with(i, e.target.value === "" ? null : Number(e.target.value)).map((hours) => ({ hours })))} />}
                </Field>
              ))}
              <TextArea name="terms_text" label={t("settings.terms")} help={t("settings.terms_help")} rows={3} />
            </div>
          </Panel>
        </>
      )}
    </DocumentForm>
  )
}
