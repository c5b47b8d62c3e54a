import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { CircleAlert, CircleCheck, CircleX, ExternalLink, Globe, LoaderCircle } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updatePortalSettings } from "@/api/limits"
import { Button } from "@/kit/button"
import { agoText } from "@/kit/dates"
import type { Sending } from "@/kit/draft"
import { CheckField, SelectField, TextField, useProblem } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { start } from "@/kit/start"
import { t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import type { Drafting } from "@/kit/use-draft"
import { why } from "@/kit/why"
import { DocumentForm, Loaded } from "./frame"
import { Logo } from "./logo"

type Doc = Schema<"Portal">
type DraftOf = { base: Doc; mine: Doc } & Drafting

const queryKey = ["settings", "portal"]
const load = () => take(api.GET("/settings/portal"))

export function Portal() {
  return <Loaded at="portal" query={useQuery({ queryKey, queryFn: load })}>{(doc) => <><Logo doc={doc} queryKey={queryKey} /><Edit doc={doc} /></>}</Loaded>
}

/** Leads to the portal's new address once it answers there. */
async function follow(url: string) {
  for (let i = 0; i < 20; i++) {
    const answer = await fetch(url, { redirect: "manual" }).catch(() => undefined)
    if (answer?.ok) break
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  location.assign(url)
}

function Edit({ doc }: { doc: Doc }) {
  const send = async ({ change, version }: Sending<Doc>) => {
    const body = { ...change, ...(change.host !== undefined && { host: change.host.toLowerCase() }) }
    const after = await take(api.PATCH("/settings/portal", { params: { header: ifMatch(version) }, body: body as never }))
    if (change.path !== undefined && start.base === "/" + doc.path) setTimeout(() => void follow(after.url + "/settings/portal"))
    return after
  }
  return (
    <DocumentForm limits={updatePortalSettings} name={t("nav.portal")} queryKey={queryKey} doc={doc} send={send}>
      {(draft) => (
        <>
          <Panel title={t("settings.booking_page")}>
            <div className="panel-body">
              <CheckField name="booking_page" label={t("settings.booking_page_on")} help={t("settings.booking_page_help")} />
              {draft.base.booking_url && <p className="help help--check"><a href={draft.base.booking_url} target="_blank" rel="noopener" className="with-icon">{draft.base.booking_url}<ExternalLink aria-hidden /></a></p>}
              <CheckField name="powered_by" label={t("settings.powered_by")} help={t("settings.powered_by_help")} />
            </div>
          </Panel>
          <Panel title={t("settings.address")}>
            <div className="panel-body fields">
              <Path draft={draft} />
              <Host draft={draft} />
            </div>
          </Panel>
          <Panel title={t("settings.safety")}>
            <div className="panel-body fields">
              <SelectField name="idle_hours" label={t("settings.idle_hours")} help={t("settings.idle_hours_help")} number options={[1, 8, 24].map((n) => ({ value: String(n), label: t("settings.hours", { n }) }))} />
              <TwoFactor draft={draft} />
              <CheckField name="staff_out" label={t("settings.staff_out")} help={t("settings.staff_out_help")} />
              {!draft.base.login_protection && <p className="notice notice--bad field--wide"><CircleAlert aria-hidden /><span>{t("settings.no_protection")}</span></p>}
            </div>
          </Panel>
        </>
      )}
    </DocumentForm>
  )
}

/** The portal's path, which the API checks while somebody types. */
function Path({ draft }: { draft: DraftOf }) {
  const doc = draft.base
  const path = draft.mine.path
  const asked = useDeferredValue(path.trim())
  const problem = useProblem("path")
  const check = useQuery({
    queryKey: ["settings", "path", asked],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return signal.aborted ? undefined! : take(api.GET("/settings/portal/path", { params: { query: { path: asked } }, signal }))
    },
    enabled: asked !== "" && asked !== doc.path,
    placeholderData: keepPreviousData,
  })
  const changed = asked !== doc.path
  const status = !changed ? doc.path_status : asked === "" ? "invalid" : check.data?.path === asked ? check.data.status : undefined
  return (
    <div className="field field--wide">
      <label className="label" htmlFor="portal-path">{t("settings.path")}</label>
      <div className="address">
        <span className="address-base" aria-hidden>{location.host}/</span>
        <input id="portal-path" name="path" className="input" value={path} maxLength={50} autoComplete="off" autoCapitalize="none" spellCheck={false} aria-describedby="portal-path-state" aria-invalid={status ? true : undefined} onChange={(e) => draft.set("path", e.target.value)} />
      </div>
      <div id="portal-path-state" role="status">
        {problem ? <p className="problem"><CircleAlert aria-hidden />{why(problem)}</p>
          : status === undefined ? <p className="state soft"><LoaderCircle aria-hidden />{t("settings.path_checking")}</p>
          : status ? <p className="state state--bad"><CircleX aria-hidden />{t(`settings.path.${status as "invalid"}`)}</p>
          : changed ? <p className="state state--good"><CircleCheck aria-hidden />{t("settings.path_free")}</p> : null}
      </div>
      {changed && !status && <p className="help">{t("settings.path_moves")}</p>}
    </div>
  )
}

/** The portal's own host, and what the last check of it found. */
function Host({ draft }: { draft: DraftOf }) {
  const queries = useQueryClient()
  const doc = draft.base
  const [busy, setBusy] = useState(false)
  const saved = draft.mine.host.trim().toLowerCase() === doc.host
  const check = async () => {
    setBusy(true)
    try {
      queries.setQueryData(queryKey, await take(api.POST("/settings/portal/check-host")))
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="field field--wide">
      <TextField name="host" label={t("settings.host")} help={t("settings.host_help")} placeholder="team.example.com" autoCapitalize="none" spellCheck={false} />
      {doc.host !== "" && saved && (
        <div className="row" role="status">
          {doc.host_active ? <p className="state state--good"><CircleCheck aria-hidden />{t("settings.host_active", { host: doc.host })}</p>
            : doc.host_checked_at === null ? <p className="state soft"><Globe aria-hidden />{t("settings.host_unchecked")}</p>
            : doc.host_https === false ? <p className="state state--bad"><CircleX aria-hidden />{t("settings.host_no_https", { host: doc.host })}</p>
            : <p className="state state--bad"><CircleX aria-hidden />{t("settings.host_elsewhere", { host: doc.host })}</p>}
          <Button small busy={busy} onClick={() => void check()}>{t("settings.host_check")}</Button>
          {doc.host_checked_at && <span className="soft small">{t("settings.host_checked", { when: agoText(doc.host_checked_at) })}</span>}
        </div>
      )}
      {doc.host !== "" && !saved && <p className="help">{t("settings.host_save_first")}</p>}
    </div>
  )
}

/** The second factor for everybody, with a warning to whoever would lock themselves out. */
function TwoFactor({ draft }: { draft: DraftOf }) {
  return (
    <div className="field field--wide">
      <CheckField name="require_2fa" label={t("settings.require_2fa")} help={t("settings.require_2fa_help")} />
      {draft.mine.require_2fa && !draft.base.two_factor && (
        <div className="notice notice--bad" role="status">
          <CircleAlert aria-hidden />
          <div><p>{t("settings.lockout")}</p><p><a href="/account">{t("settings.lockout_link")}</a></p></div>
        </div>
      )}
    </div>
  )
}
