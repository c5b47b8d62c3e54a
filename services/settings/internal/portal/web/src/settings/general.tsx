import { useQuery } from "@tanstack/react-query"
import { CircleAlert, CircleCheck } from "lucide-react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updateGeneralSettings } from "@/api/limits"
import { SelectField, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { language, t } from "@/kit/text"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"General">

const queryKey = ["settings", "general"]
const load = () => take(api.GET("/settings/general"))

const currencies = () => {
  const names = new Intl.DisplayNames([language], { type: "currency" })
  return Intl.supportedValuesOf("currency").map((value) => ({ value, label: `${value} · ${names.of(value)}` }))
}

export function General() {
  return <Loaded at="general" query={useQuery({ queryKey, queryFn: load })}>{(doc) => <Edit doc={doc} />}</Loaded>
}

function Edit({ doc }: { doc: Doc }) {
  const regions = new Intl.DisplayNames([language], { type: "region" })
  return (
    <DocumentForm limits={updateGeneralSettings} name={t("nav.general")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/settings/general", { params: { header: ifMatch(version) }, body: change as never }))}>
      {(draft) => (
        <>
          <Panel title={t("settings.business")}>
            <div className="panel-body fields">
              <TextField name="business.name" label={t("settings.business_name")} help={t("settings.business_name_help")} autoComplete="organization" wide required />
              <TextField name="business.address_line" label={t("settings.address_line")} autoComplete="address-line1" wide />
              <TextField name="business.postal_code" label={t("settings.postal_code")} autoComplete="postal-code" />
              <TextField name="business.city" label={t("settings.city")} autoComplete="address-level2" />
              <TextField name="business.phone" label={t("settings.phone")} type="tel" autoComplete="tel" />
              <TextField name="business.website" label={t("settings.website")} type="url" placeholder="https://" autoComplete="url" />
              <TextField name="business.vat_number" label={t("settings.vat_number")} />
              <div className="field">
                <span className="label">{t("settings.business_email")}</span>
                <p className="fixed-value">{draft.base.business.email}</p>
                <p className="help">{t("settings.business_email_help", { address: draft.base.reply_to })}</p>
              </div>
            </div>
          </Panel>
          <Panel title={t("settings.region")}>
            <div className="panel-body fields">
              <SelectField name="currency" label={t("settings.currency")} options={currencies()} />
              <SelectField name="country" label={t("settings.country")} help={t("settings.country_help")}
                options={[{ value: "", label: t("none") }, ...draft.base.countries.map((c) => ({ value: c.code, label: `${regions.of(c.code) ?? c.name} (${c.calling_code})` }))]} />
              <div className="field">
                <span className="label">{t("settings.timezone")}</span>
                <p className="fixed-value">{draft.base.timezone.replaceAll("_", " ")}</p>
                <p className="help">{t("settings.timezone_help")}</p>
              </div>
            </div>
          </Panel>
          <Panel title={t("settings.proxy")}><Proxy draft={draft} /></Panel>
        </>
      )}
    </DocumentForm>
  )
}

/** Which header is trusted with the visitor's address, and what this request says about that. */
function Proxy({ draft }: { draft: { mine: Doc } }) {
  const { ip_header: header, ip_headers: headers, ip_headers_seen: seen } = draft.mine
  return (
    <div className="panel-body stack">
      <p className="soft">{t("settings.proxy_text")}</p>
      <div className="fields">
        <SelectField name="ip_header" label={t("settings.ip_header")}
          options={[{ value: "", label: t("settings.ip_direct") }, ...headers.map((h) => ({ value: h, label: seen.includes(h) ? `${h} · ${t("settings.ip_seen")}` : h }))]} />
        <div className="field">
          <span className="label">{t("settings.ip_headers_seen")}</span>
          <p className="fixed-value">{seen.length > 0 ? seen.join(", ") : t("none")}</p>
        </div>
      </div>
      {header !== "" && !seen.includes(header) ? <p className="notice notice--bad"><CircleAlert aria-hidden /><span>{t("settings.ip_unseen", { header })}</span></p>
        : header !== "" ? <p className="notice notice--warn"><CircleAlert aria-hidden /><span>{t("settings.ip_trust", { header })}</span></p>
        : seen.length > 0 ? <p className="notice notice--warn"><CircleAlert aria-hidden /><span>{t("settings.ip_proxy", { header: seen[0]! })}</span></p>
        : <p className="state state--good"><CircleCheck aria-hidden />{t("settings.ip_fine")}</p>}
    </div>
  )
}
