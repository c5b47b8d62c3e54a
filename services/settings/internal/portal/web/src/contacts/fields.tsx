import { Inline } from "@/kit/detail"
import { Panel } from "@/kit/panel"
import { t } from "@/kit/text"
import type { Drafting } from "@/kit/use-draft"
import { useFields, useGroups, valueText, type CustomField } from "./data"

/** The custom fields of a record, by group. Archived ones are not shown. */
export function CustomFields({ entity, draft, readOnly }: { entity: "contact" | "organization"; draft: Drafting; readOnly: boolean }) {
  const fields = useFields(entity).filter((f) => !f.archived)
  const groups = useGroups(entity)
  const sections = [...groups.map((g) => ({ id: g.id, label: g.label })), { id: null, label: t("contacts.more_fields") }]
  return sections.map((g) => {
    const own = fields.filter((f) => (groups.some((x) => x.id === f.group) ? f.group : null) === g.id)
    return own.length > 0 && (
      <Panel key={g.id} title={g.label}>
        <dl className="facts panel-body">{own.map((f) => <Value key={f.id} f={f} draft={draft} readOnly={readOnly} />)}</dl>
      </Panel>
    )
  })
}

const types: Partial<Record<CustomField["type"], "email" | "tel" | "url" | "date">> = { email: "email", phone: "tel", url: "url", date: "date" }

function Value({ f, draft, readOnly }: { f: CustomField; draft: Drafting; readOnly: boolean }) {
  const shared = { label: f.label, name: `fields.${f.key}`, draft, readOnly }
  const none = { value: "", label: t("none") }
  if (f.type === "checkbox") {
    return <Inline {...shared} options={[none, { value: "true", label: t("yes") }, { value: "false", label: t("no") }]} parse={(v) => (v === "" ? null : v === "true")} />
  }
  if (f.type === "choices") {
    const value = draft.at(shared.name)
    const chosen = Array.isArray(value) ? (value as string[]) : []
    return (
      <div className="fact">
        <dt>{f.label}</dt>
        <dd className="stack-s">
          {readOnly ? valueText(value) || "–" : f.options.map((o) => (
            <label key={o} className="check"><input type="checkbox" checked={chosen.includes(o)} onChange={(e) => void draft.change(shared.name, e.target.checked ? [...chosen, o] : chosen.filter((x) => x !== o))} /><span>{o}</span></label>
          ))}
        </dd>
      </div>
    )
  }
  // The API reads a number as it is typed, and says what is wrong with it.
  return <Inline {...shared} type={types[f.type]} multiline={f.type === "long_text"} options={f.type === "dropdown" ? [none, ...f.options.map((o) => ({ value: o, label: o }))] : undefined} parse={(v) => (v.trim() === "" ? null : v)} />
}
