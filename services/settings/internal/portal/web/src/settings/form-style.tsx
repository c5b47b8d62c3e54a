import { useQuery } from "@tanstack/react-query"
import { CircleAlert, Moon, RotateCcw, Sun } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { SelectField, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { number, t, tOr, type Key } from "@/kit/text"
import type { Drafting } from "@/kit/use-draft"
import { contrasts, Preview } from "./preview"
import { DocumentForm, Loaded } from "./frame"

type Doc = Schema<"FormStyle">
type Name = keyof Doc

const queryKey = ["settings", "form-style"]
const load = () => take(api.GET("/settings/form-style"))

const fonts = ["theme", "system-sans", "system-serif", "system-mono", "svc:inter", "svc:lora", "svc:merriweather", "svc:montserrat", "svc:nunito"]
const icons = ["arrow-right", "chevron-right", "send", "check", "check-circle", "calendar", "clock", "mail", "phone", "message", "user", "users", "download", "heart", "star", "sparkles", "gift", "ticket", "lock", "plus"]
const weights = ["400", "500", "600", "700"]

type Part = { title: Key; colours: Name[]; pixels: [Name, number, number][]; choices: [Name, string[]][] }

const parts: Part[] = [
  { title: "settings.style_text", colours: ["color", "background"], pixels: [["size", 12, 24]], choices: [["font", fonts], ["container", ["card", "plain"]]] },
  { title: "settings.style_heading", colours: ["heading_color"], pixels: [["heading_size", 16, 40]], choices: [["heading_weight", weights]] },
  { title: "settings.style_labels", colours: ["label_color"], pixels: [["label_size", 12, 24]], choices: [["label_weight", weights], ["label_style", ["normal", "italic"]], ["label_transform", ["none", "uppercase"]]] },
  { title: "settings.style_fields", colours: ["field_background", "field_border", "field_text", "focus_color", "error_color"], pixels: [["field_radius", 0, 24]], choices: [] },
  { title: "settings.style_button", colours: ["button_background", "button_text"], pixels: [["button_radius", 0, 40]], choices: [["button_weight", weights], ["button_width", ["auto", "full"]], ["button_transform", ["none", "uppercase"]], ["button_decoration", ["none", "underline"]], ["button_icon", icons], ["button_icon_position", ["left", "right"]]] },
]
const numeric = (name: Name) => parts.some((p) => p.pixels.some(([n]) => n === name)) || name.endsWith("_weight")
const names = parts.flatMap((p) => [...p.colours, ...p.pixels.map(([n]) => n), ...p.choices.map(([n]) => n)])

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
  const style = Object.fromEntries(names.map((n) => [n, String(draft.mine[n] ?? "")]))
  const [dark, setDark] = useState(false)
  const low = contrasts(style, dark).filter((c) => c.ratio < 4.5)
  return (
    <div className="style-editor">
      <div className="stack">
        {parts.map((p) => (
          <Panel key={p.title} title={t(p.title)}>
            <div className="panel-body fields style-fields">
              {p.choices.map(([name, values]) => (
                <SelectField key={name} name={name} label={t(`settings.style.${name}`)} number={numeric(name)}
                  options={[{ value: "", label: t("settings.style_theme") }, ...[...new Set([...values, style[name]!])].filter(Boolean).map((value) => ({ value, label: tOr(`settings.style_value.${value}`, value.replace("svc:", "").replace(/^./, (c) => c.toUpperCase())) }))]} />
              ))}
              {p.pixels.map(([name, min, max]) => <TextField key={name} name={name} label={t(`settings.style.${name}`)} help={t("settings.pixels", { min, max })} number placeholder={t("settings.style_theme")} />)}
              {p.colours.map((name) => <Colour key={name} name={name} value={style[name]!} onChange={(v) => draft.set(name, v)} />)}
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
