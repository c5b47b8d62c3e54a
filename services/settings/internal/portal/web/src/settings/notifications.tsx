import { useQuery } from "@tanstack/react-query"
import { api, ifMatch, take } from "@/api/client"
import { SelectField, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { on } from "@/kit/start"
import { languages, t } from "@/kit/text"
import { DocumentForm, Loaded } from "./frame"

const queryKey = ["notifications"]
const load = () => take(api.GET("/me/notifications"))

const groups = [
  { title: "settings.told_appointments", app: "booking", kinds: ["team_booked", "team_request", "team_cancelled", "team_moved", "request_waiting", "agenda"] },
  { title: "settings.told_people", app: undefined, kinds: ["team_submission", "team_assigned", "approval_waiting"] },
] as const

/** What the person is mailed of what others do. */
export function Notifications() {
  return (
    <Loaded at="notifications" query={useQuery({ queryKey, queryFn: load })}>
      {(doc) => (
        <DocumentForm name={t("nav.notifications")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/me/notifications", { params: { header: ifMatch(version) }, body: change }))}>
          {(draft) => (
            <>
              {groups.filter((g) => on(g.app)).map((g) => (
                <Panel key={g.title} title={t(g.title)}>
                  <div className="panel-body fields">
                    {g.kinds.filter((k) => k !== "team_submission" || on("forms")).map((k) => (
                      <SelectField key={k} name={`kinds.${k}`} label={t(`settings.told.${k}`)} options={(["mail", "digest", "off"] as const).map((value) => ({ value, label: t(`settings.told_${value}`) }))} />
                    ))}
                  </div>
                </Panel>
              ))}
              <Panel title={t("settings.told_when")}>
                <div className="panel-body fields">
                  <TextField name="digest_at" type="time" label={t("settings.digest_at")} help={t("settings.digest_at_help")} required />
                  <SelectField name="language" label={t("settings.told_language")} value={draft.mine.language ?? ""} onChange={(e) => draft.set("language", e.target.value || null)} options={[{ value: "", label: t("settings.told_language_standard") }, ...Object.entries(languages).map(([value, label]) => ({ value, label }))]} />
                </div>
              </Panel>
            </>
          )}
        </DocumentForm>
      )}
    </Loaded>
  )
}
