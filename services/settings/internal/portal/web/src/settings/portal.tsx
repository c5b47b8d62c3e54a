import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { CircleAlert, CircleCheck, CircleX, ExternalLink, Globe, LoaderCircle } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { agoText } from "@/kit/dates"
import { CheckField, SelectField, text, TextField, useProblem } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { why } from "@/kit/problem"
import { start } from "@/kit/start"
import { t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import { DocumentForm, Loaded } from "./frame"
import { Logo } from "./logo"

type Doc = Schema<"Portal">

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
  const read = (v: FormData) => ({
    path: text(v, "path"), host: text(v, "host").toLowerCase(), booking_page: v.has("booking_page"), powered_by: v.has("powered_by"),
    idle_hours: Number(text(v, "idle_hours")), require_2fa: v.has("require_2fa"), staff_out: v.has("staff_out"),
  })
  const send = async (body: { path?: string }) => {
    const after = await take(api.PATCH("/settings/portal", { body: body as never }))
    if (body.path !== undefined && start.base === "/" + doc.path) setTimeout(() => void follow(after.url + "/settings/portal"))
    return after
  }
  return (
    <DocumentForm name={t("nav.portal")} queryKey={queryKey} load={load} doc={doc} read={read} send={send}>
      {(d) => (
        <>
          <Panel title={t("settings.booking_page")}>
            <div className="panel-body">
              <CheckField name="booking_page" label={t("settings.booking_page_on")} help={t("settings.booking_page_help")} defaultChecked={d.booking_page} />
              {d.booking_url && <p className="help help--check"><a href={d.booking_url} target="_blank" rel="noopener" className="with-icon">{d.booking_url}<ExternalLink aria-hidden /></a></p>}
              <CheckField name="powered_by" label={t("settings.powered_by")} help={t("settings.powered_by_help")} defaultChecked={d.powered_by} />
            </div>
          </Panel>
          <Panel title={t("settings.address")}>
            <div className="panel-body fields">
              <Path doc={d} />
              <Host doc={d} />
            </div>
          </Panel>
          <Panel title={t("settings.safety")}>
            <div className="panel-body fields">
              <SelectField name="idle_hours" label={t("settings.idle_hours")} help={t("settings.idle_hours_help")} defaultValue={String(d.idle_hours)} options={[1, 8, 24].map((n) => ({ value: String(n), label: t("settings.hours", { n }) }))} />
              <TwoFactor doc={d} />
              <CheckField name="staff_out" label={t("settings.staff_out")} help={t("settings.staff_out_help")} defaultChecked={d.staff_out} />
              {!d.login_protection && <p className="notice notice--bad field--wide"><CircleAlert aria-hidden /><span>{t("settings.no_protection")}</span></p>}
            </div>
          </Panel>
        </>
      )}
    </DocumentForm>
  )
}

/** The portal's path, which the API checks while somebody types. */
function Path({ doc }: { doc: Doc }) {
  const [path, setPath] = useState(doc.path)
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
        <input id="portal-path" name="path" className="input" value={path} maxLength={50} autoComplete="off" autoCapitalize="none" spellCheck={false} aria-describedby="portal-path-state" aria-invalid={status ? true : undefined} onChange={(e) => setPath(e.target.value)} />
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
function Host({ doc }: { doc: Doc }) {
  const queries = useQueryClient()
  const [host, setHost] = useState(doc.host)
  const [busy, setBusy] = useState(false)
  const saved = host.trim().toLowerCase() === doc.host
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
      <TextField name="host" label={t("settings.host")} help={t("settings.host_help")} value={host} onChange={(e) => setHost(e.target.value)} maxLength={253} placeholder="team.example.com" autoCapitalize="none" spellCheck={false} />
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
function TwoFactor({ doc }: { doc: Doc }) {
  const [on, setOn] = useState(doc.require_2fa)
  return (
    <div className="field field--wide">
      <CheckField name="require_2fa" label={t("settings.require_2fa")} help={t("settings.require_2fa_help")} checked={on} onChange={(e) => setOn(e.target.checked)} />
      {on && !doc.two_factor && (
        <div className="notice notice--bad" role="status">
          <CircleAlert aria-hidden />
          <div><p>{t("settings.lockout")}</p><p><a href="/account">{t("settings.lockout_link")}</a></p></div>
        </div>
      )}
    </div>
  )
}
