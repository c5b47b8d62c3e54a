import { useQuery } from "@tanstack/react-query"
import { CircleAlert } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { CopyField } from "@/kit/copy"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import { roleName } from "./data"
import { DocumentForm, Loaded } from "./frame"

const queryKey = ["settings", "api-access"]
const load = () => take(api.GET("/settings/api-access"))

export function APIAccess() {
  return (
    <Loaded at="api-access" query={useQuery({ queryKey, queryFn: load })}>
      {(doc) => (
        <>
          <DocumentForm name={t("nav.api_access")} queryKey={queryKey} load={load} doc={doc} read={(v) => ({ roles: doc.available.filter((r) => v.getAll("roles").includes(r)) })} send={(body) => take(api.PATCH("/settings/api-access", { body }))}>
            {(d) => <Chosen doc={d} />}
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

function Chosen({ doc }: { doc: Schema<"APIAccess"> }) {
  const [roles, setRoles] = useState(doc.roles)
  return (
    <Panel title={t("settings.access_roles")}>
      <fieldset className="panel-body">
        <legend className="soft">{t("settings.access_text")}</legend>
        {doc.available.map((r) => (
          <label key={r} className="check">
            <input type="checkbox" name="roles" value={r} checked={roles.includes(r)} onChange={(e) => setRoles(e.target.checked ? [...roles, r] : roles.filter((x) => x !== r))} />
            <span>{roleName(r)}</span>
          </label>
        ))}
        {!roles.includes(me.role) && <p className="notice notice--warn" role="status"><CircleAlert aria-hidden /><span>{t("settings.access_own")}</span></p>}
      </fieldset>
    </Panel>
  )
}
