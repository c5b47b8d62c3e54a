import { useQuery } from "@tanstack/react-query"
import { CircleAlert, Moon, RotateCcw, Sun } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { SelectField, TextField } from "@/kit/form"
import { properties, type Property } from "@/kit/look"
import { Panel } from "@/kit/panel"
import { number, t, tOr, type Key } from "@/kit/text"
import type { Drafting } from "@/kit/use-draft"
import { contrasts, Preview } from "./preview"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"FormStyle">
type Name = keyof Doc

const queryKey = ["settings", "form-style"]
const load = () => take(api.GET("/settings/form-style"))

const titles: [string, Key][] = [
  ["text", "settings.style_text"], ["heading", "settings.style_heading"], ["label", "settings.style_labels"], ["field", "settings.style_fields"], ["button", "settings.style_button"],
]
const partOf = (name: string) => (name === "focus_color" || name === "error_color" ? "field" : (/^(heading|label|field|button)_/.exec(name)?.[1] ?? "text"))
const named = properties as (Property & { name: Name })[]
const parts = titles.map(([part, title]) => {
  const all = named.filter((p) => partOf(p.name) === part)
  return { title, choices: all.filter((p) => p.values), pixels: all.filter((p) => p.kind === "pixels"), colours: all.filter((p) => p.kind === "colour") }
})

export function FormStyle() {
  return <Loaded at="form-style" wide query={useQuery({ queryKey, queryFn: load })}>{(doc) => <Edit doc={doc} />}</Loaded>
}

function Edit({ doc }: { doc: Doc }) {
  return (
    <DocumentForm name={t("nav.form_style")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/settings/form-style", { params: { header: ifMatch(version) }, body: Object.fromEntries(Object.entries(change).map(([name, v]) => [name, v === "" ? null : v])) }))}>
      {(draft) => <Parts draft={draft} />}
    </DocumentForm>
  )
}

function Parts({ draft }: { draft: { mine: Doc } & Drafting }) {
  const style = Object.fromEntries(named.map((p) => [p.name, String(draft.mine[p.name] ?? "")]))
  const [dark, setDark] = useState(false)
  const low = contrasts(style, dark).filter((c) => c.ratio < 4.5)
  return (
    <div className="style-editor">
      <div className="stack">
        {parts.map((p) => (
          <Panel key={p.title} title={t(p.title)}>
            <div className="panel-body fields style-fields">
              {p.choices.map(({ name, kind, values }) => (
                <SelectField key={name} name={name} label={t(`settings.style.${name}`)} number={kind === "weight"}
                  options={[{ value: "", label: t("settings.style_theme") }, ...[...new Set([...values!, style[name]!])].filter(Boolean).map((value) => ({ value, label: tOr(`settings.style_value.${value}`, value.replace("svc:", "").replace(/^./, (c) => c.toUpperCase())) }))]} />
              ))}
              {p.pixels.map(({ name, low = 0, high = 0 }) => <TextField key={name} name={name} label={t(`settings.style.${name}`)} help={t("settings.pixels", { min: low, max: high })} number placeholder={t("settings.style_theme")} />)}
              {p.colours.map(({ name }) => <Colour key={name} name={name} value={style[name]!} onChange={(v) => draft.set(name, v)} />)}
            </div>
          </Panel>
        ))}
      </div>
      <aside className="style-preview stack-s" aria-label={t("settings.preview")}>
        <div className="row between">
          <h2 className="label">{t("settings.preview")}</h2>
          <button type="button" className="icon-button" aria-pressed={dark} aria-label={t("settings.preview_dark")} onClick={() => setDark(!dark)}>{dark ? <Moon aria-hidden /> : <Sun aria-hidden />}</button>
        </div>
        <Preview style={style} dark={dark} />
        <div role="status">
          {low.length > 0 && (
            <div className="notice notice--warn">
              <CircleAlert aria-hidden />
              <div>
                <p>{t("settings.contrast")}</p>
                <ul>{low.map((c) => <li key={c.name}>{t("settings.contrast_one", { what: t(`settings.contrast.${c.name}`), ratio: number(Math.round(c.ratio * 10) / 10) })}</li>)}</ul>
              </div>
            </div>
          )}
        </div>
      </aside>
    </div>
  )
}

/** A colour as a swatch and as text; empty follows the theme. */
function Colour({ name, value, onChange }: { name: Name; value: string; onChange: (value: string) => void }) {
  const label = t(`settings.style.${name as "color"}`)
  const valid = /^#[0-9a-f]{6}$/i.test(value)
  return (
    <div className="style-colour">
      <TextField name={name} label={label} value={value} maxLength={7} placeholder={t("settings.style_theme")} spellCheck={false} onChange={(e) => onChange(e.target.value)} />
      <input type="color" className={valid ? "swatch" : "swatch swatch--none"} value={valid ? value : "#ffffff"} aria-label={t("settings.style_pick", { name: label })} onChange={(e) => onChange(e.target.value)} />
      {value !== "" && <button type="button" className="icon-button" aria-label={t("settings.style_reset", { name: label })} onClick={() => onChange("")}><RotateCcw aria-hidden /></button>}
    </div>
  )
}
