import { useQuery } from "@tanstack/react-query"
import { Info } from "lucide-react"
import { useRef } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updateTelemetry } from "@/api/limits"
import { momentText } from "@/kit/dates"
import { CheckField, SelectField, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import type { Drafting } from "@/kit/use-draft"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"Telemetry">

const queryKey = ["settings", "telemetry"]
const load = () => take(api.GET("/settings/telemetry"))

export function Telemetry() {
  return <Loaded at="telemetry" query={useQuery({ queryKey, queryFn: load })}>{(doc) => <Edit doc={doc} />}</Loaded>
}

function Edit({ doc }: { doc: Doc }) {
  return (
    <DocumentForm limits={updateTelemetry} name={t("nav.telemetry")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/settings/telemetry", { params: { header: ifMatch(version) }, body: change as never }))}>
      {(draft) => (
        <>
          {!draft.base.live && <p className="notice"><Info aria-hidden /><span>{t("settings.telemetry_dead")}</span></p>}
          <Panel title={t("settings.stats")}>
            <div className="panel-body stack">
              <CheckField name="stats" label={t("settings.stats_on")} help={t("settings.stats_help")} />
              <figure className="payload">
                <figcaption className="label">{t("settings.payload")}</figcaption>
                <pre tabIndex={0} role="region" aria-label={t("settings.payload")}>{JSON.stringify(draft.base.payload, null, 2)}</pre>
              </figure>
              <p className="soft small">{draft.base.last_sent ? t("settings.last_sent", { when: momentText(draft.base.last_sent) }) : t("settings.never_sent")}</p>
            </div>
          </Panel>
          <Panel title={t("settings.profile")}><Profile draft={draft} /></Panel>
        </>
      )}
    </DocumentForm>
  )
}

function Profile({ draft }: { draft: { base: Doc; mine: Doc } & Drafting }) {
  const { profile, profile_data: d } = draft.mine
  const base: Record<string, string> = draft.base.profile_data
  // Whoever switches it on is the one to ask, unless somebody else is already. What was typed comes back when it was off in between.
  const typed = useRef([["name", base.name || me.name], ["email", base.email || me.email]])
  const turn = (on: boolean) => {
    draft.set("profile", on)
    if (on) for (const [name, value] of typed.current) draft.set("profile_data." + name!, value)
    else {
      typed.current = Object.entries(d).filter(([name, value]) => value !== base[name])
      draft.drop(Object.keys(d).map((name) => "profile_data." + name))
    }
  }
  const sizes = ["1", "2-5", "6-10", "11-25", "26+"]
  return (
    <div className="panel-body fields">
      <CheckField name="profile" label={t("settings.profile_on")} help={t("settings.profile_help")} checked={profile} onChange={(e) => turn(e.target.checked)} />
      {profile && (
        <>
          <TextField name="profile_data.company" label={t("settings.company")} autoComplete="organization" />
          <TextField name="profile_data.website" label={t("settings.website")} type="url" placeholder="https://" />
          <TextField name="profile_data.name" label={t("settings.your_name")} autoComplete="name" />
          <TextField name="profile_data.email" label={t("settings.your_email")} type="email" autoComplete="email" required />
          <TextField name="profile_data.sector" label={t("settings.sector")} />
          <SelectField name="profile_data.team_size" label={t("settings.team_size")} options={[{ value: "", label: "–" }, ...[...new Set([...sizes, d.team_size])].filter(Boolean).map((value) => ({ value, label: value }))]} />
        </>
      )}
    </div>
  )
}
