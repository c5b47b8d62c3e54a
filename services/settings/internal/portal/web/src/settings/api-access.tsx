import { useQuery } from "@tanstack/react-query"
import { CircleAlert } from "lucide-react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { CopyField } from "@/kit/copy"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import type { Drafting } from "@/kit/use-draft"
import { roleName } from "./data"
import { DocumentForm, Loaded } from "./frame"

const queryKey = ["settings", "api-access"]
const load = () => take(api.GET("/settings/api-access"))

export function APIAccess() {
  return (
    <Loaded at="api-access" query={useQuery({ queryKey, queryFn: load })}>
      {(doc) => (
        <>
          <DocumentForm name={t("nav.api_access")} queryKey={queryKey} doc={doc} send={({ whole, version }) => take(api.PATCH("/settings/api-access", { params: { header: ifMatch(version) }, body: { roles: whole.roles } }))}>
            {(draft) => <Chosen draft={draft} />}
          </DocumentForm>
          <Panel title={t("settings.api")}>
            <div className="panel-body stack">
              <p className="soft">{t("settings.api_text")}</p>
              <CopyField label={t("settings.api_address")} value={location.origin + "/v1"} />
              <p><a href="/v1/openapi.json" target="_blank" rel="noopener">{t("settings.api_document")}</a> · <a href="/account">{t("settings.api_keys")}</a></p>
            </div>
          </Panel>
        </>
      )}
    </Loaded>
  )
}

function Chosen({ draft }: { draft: { mine: Schema<"APIAccess"> } & Drafting }) {
  const { roles, available } = draft.mine
  return (
    <Panel title={t("settings.access_roles")}>
      <fieldset className="panel-body">
        <legend className="soft">{t("settings.access_text")}</legend>
        {available.map((r) => (
          <label key={r} className="check">
            <input type="checkbox" name="roles" value={r} checked={roles.includes(r)} onChange={(e) => draft.set("roles", available.filter((x) => (x === r ? e.target.checked : roles.includes(x))))} />
            <span>{roleName(r)}</span>
          </label>
        ))}
        {!roles.includes(me.role) && <p className="notice notice--warn" role="status"><CircleAlert aria-hidden /><span>{t("settings.access_own")}</span></p>}
      </fieldset>
    </Panel>
  )
}
