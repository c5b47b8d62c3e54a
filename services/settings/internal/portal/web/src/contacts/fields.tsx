import { Inline } from "@/kit/detail"
import { Panel } from "@/kit/panel"
import { t } from "@/kit/text"
import { useFields, useGroups, valueText, type CustomField } from "./data"

/** The custom fields of a record, by group. Archived ones are not shown. */
export function CustomFields({ entity, values, readOnly, onSave }: {
  entity: "contact" | "organization"
  values: Record<string, unknown>
  readOnly: boolean
  onSave: (key: string, value: unknown) => Promise<void>
}) {
  const fields = useFields(entity).filter((f) => !f.archived)
  const groups = useGroups(entity)
  const sections = [...groups.map((g) => ({ id: g.id, label: g.label })), { id: null, label: t("contacts.more_fields") }]
  return sections.map((g) => {
    const own = fields.filter((f) => (groups.some((x) => x.id === f.group) ? f.group : null) === g.id)
    return own.length > 0 && (
      <Panel key={g.id} title={g.label}>
        <dl className="facts panel-body">{own.map((f) => <Value key={f.id} f={f} value={values[f.key]} readOnly={readOnly} onSave={(v) => onSave(f.key, v)} />)}</dl>
      </Panel>
    )
  })
}

const types: Partial<Record<CustomField["type"], "email" | "tel" | "url" | "date">> = { email: "email", phone: "tel", url: "url", date: "date" }

function Value({ f, value, readOnly, onSave }: { f: CustomField; value: unknown; readOnly: boolean; onSave: (v: unknown) => Promise<void> }) {
  const shared = { label: f.label, name: `fields.${f.key}`, readOnly }
  const none = { value: "", label: t("none") }
  if (f.type === "checkbox") {
    return <Inline {...shared} value={value === true ? "true" : value === false ? "false" : ""} options={[none, { value: "true", label: t("yes") }, { value: "false", label: t("no") }]} onSave={(v) => onSave(v === "" ? null : v === "true")} />
  }
  if (f.type === "choices") {
    const chosen = Array.isArray(value) ? (value as string[]) : []
    return (
      <div className="fact">
        <dt>{f.label}</dt>
        <dd className="stack-s">
          {readOnly ? valueText(value) || "–" : f.options.map((o) => (
            <label key={o} className="check"><input type="checkbox" checked={chosen.includes(o)} onChange={(e) => void onSave(e.target.checked ? [...chosen, o] : chosen.filter((x) => x !== o)).catch(() => {})} /><span>{o}</span></label>
          ))}
        </dd>
      </div>
    )
  }
  return (
    <Inline {...shared} value={valueText(value)} type={types[f.type]} multiline={f.type === "long_text"} options={f.type === "dropdown" ? [none, ...f.options.map((o) => ({ value: o, label: o }))] : undefined}
      onSave={(v) => onSave(v === "" ? null : f.type === "number" ? Number(v.replace(",", ".")) : v)} />
  )
}
