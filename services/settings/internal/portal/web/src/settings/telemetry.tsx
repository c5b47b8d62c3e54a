import { useQuery } from "@tanstack/react-query"
import { Info } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { momentText } from "@/kit/dates"
import { CheckField, SelectField, text, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"Telemetry">

const queryKey = ["settings", "telemetry"]
const load = () => take(api.GET("/settings/telemetry"))
const profile = ["company", "website", "name", "email", "sector", "team_size"] as const

export function Telemetry() {
  return <Loaded at="telemetry" query={useQuery({ queryKey, queryFn: load })}>{(doc) => <Edit doc={doc} />}</Loaded>
}

function Edit({ doc }: { doc: Doc }) {
  const read = (v: FormData) => ({
    stats: v.has("stats"), profile: v.has("profile"),
    ...(v.has("profile") && { profile_data: Object.fromEntries(profile.map((name) => [name, text(v, "profile_data." + name)])) }),
  })
  return (
    <DocumentForm name={t("nav.telemetry")} queryKey={queryKey} load={load} doc={doc} read={read} send={(body) => take(api.PATCH("/settings/telemetry", { body }))}>
      {(d) => (
        <>
          {!d.live && <p className="notice"><Info aria-hidden /><span>{t("settings.telemetry_dead")}</span></p>}
          <Panel title={t("settings.stats")}>
            <div className="panel-body stack">
              <CheckField name="stats" label={t("settings.stats_on")} help={t("settings.stats_help")} defaultChecked={d.stats} />
              <figure className="payload">
                <figcaption className="label">{t("settings.payload")}</figcaption>
                <pre tabIndex={0} aria-label={t("settings.payload")}>{JSON.stringify(d.payload, null, 2)}</pre>
              </figure>
              <p className="soft small">{d.last_sent ? t("settings.last_sent", { when: momentText(d.last_sent) }) : t("settings.never_sent")}</p>
            </div>
          </Panel>
          <Panel title={t("settings.profile")}><Profile doc={d} /></Panel>
        </>
      )}
    </DocumentForm>
  )
}

function Profile({ doc }: { doc: Doc }) {
  const [on, setOn] = useState(doc.profile)
  const d = doc.profile_data
  const sizes = ["1", "2-5", "6-10", "11-25", "26+"]
  return (
    <div className="panel-body fields">
      <CheckField name="profile" label={t("settings.profile_on")} help={t("settings.profile_help")} checked={on} onChange={(e) => setOn(e.target.checked)} />
      {on && (
        <>
          <TextField name="profile_data.company" label={t("settings.company")} defaultValue={d.company} maxLength={190} autoComplete="organization" />
          <TextField name="profile_data.website" label={t("settings.website")} type="url" defaultValue={d.website} maxLength={2048} placeholder="https://" />
          <TextField name="profile_data.name" label={t("settings.your_name")} defaultValue={d.name || me.name} maxLength={100} autoComplete="name" />
          <TextField name="profile_data.email" label={t("settings.your_email")} type="email" defaultValue={d.email || me.email} maxLength={190} autoComplete="email" required />
          <TextField name="profile_data.sector" label={t("settings.sector")} defaultValue={d.sector} maxLength={100} />
          <SelectField name="profile_data.team_size" label={t("settings.team_size")} defaultValue={d.team_size} options={[{ value: "", label: "–" }, ...[...new Set([...sizes, d.team_size])].filter(Boolean).map((value) => ({ value, label: value }))]} />
        </>
      )}
    </div>
  )
}
