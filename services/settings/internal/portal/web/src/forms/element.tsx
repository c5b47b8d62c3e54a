// One part of a form in the builder: its line, and the settings of its kind under it.
import { AlignLeft, ArrowDown, ArrowUp, ChevronDown, GripVertical, Heading, MessageSquareText, ShieldCheck, Trash2, type LucideIcon } from "lucide-react"
import { CheckField, Field, SelectField, TextArea, TextField, useProblem } from "@/kit/form"
import { t } from "@/kit/text"
import { drag } from "@/kit/drag"
import { company, humane, isFree, nameOf, own, people, targetText, type CustomField, type Element, type Kind } from "./data"

export const kinds: Record<Kind, LucideIcon> = { field: MessageSquareText, heading: Heading, paragraph: AlignLeft, consent: ShieldCheck }

export type Edit = { change: (e: Partial<Element>) => void; move: (by: -1 | 1) => void; place: (to: number) => void; remove: () => void; toggle: () => void }

export function ElementCard({ e, i, last, open, fixed, fields, taken, edit }: {
  e: Element
  i: number
  last: boolean
  open: boolean
  fixed: boolean
  fields: CustomField[]
  /** The targets of the other parts. */
  taken: string[]
  edit: Edit
}) {
  const Icon = (kinds as Record<string, LucideIcon>)[e.type] ?? MessageSquareText
  const name = nameOf(e, fields)
  const press = (event: React.KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined
    if (event.altKey && by && !fixed) {
      event.preventDefault()
      edit.move(by)
    }
  }
  return (
    <li className={open ? "element element--open" : "element"} id={`part-${e.id}`} onKeyDown={press}>
      <div className="element-line">
        {!fixed && <span className="element-grip" title={t("forms.drag")} onPointerDown={(event) => drag(event, edit.place)}><GripVertical aria-hidden /></span>}
        <button type="button" className="element-name" aria-expanded={open} aria-controls={`settings-${e.id}`} onClick={edit.toggle}>
          <span className="element-icon"><Icon aria-hidden /></span>
          <span className="cell-main"><b className="cell-text">{name}</b><small className="cell-text">{[t(`forms.kind.${e.type as Kind}`), e.type === "field" && targetName(e.target ?? "", fields), e.required && t("forms.required"), e.marketing && t("forms.marketing_mark")].filter(Boolean).join(" · ")}</small></span>
          <ChevronDown aria-hidden className="element-fold" />
        </button>
        {!fixed && (
          <span className="element-moves">
            <button type="button" className="icon-button" data-move="-1" disabled={i === 0} aria-label={t("forms.move_up", { name })} onClick={() => edit.move(-1)}><ArrowUp aria-hidden /></button>
            <button type="button" className="icon-button" data-move="1" disabled={last} aria-label={t("forms.move_down", { name })} onClick={() => edit.move(1)}><ArrowDown aria-hidden /></button>
            <button type="button" className="icon-button" aria-label={t("forms.remove_part", { name })} onClick={edit.remove}><Trash2 aria-hidden /></button>
          </span>
        )}
      </div>
      {/* Closed settings stay, so that a problem finds its field. */}
      <div className="element-settings fields" id={`settings-${e.id}`} hidden={!open}><Settings e={e} at={`definition.elements[${i}]`} fields={fields} taken={taken} change={edit.change} /></div>
    </li>
  )
}

const targetName = (target: string, fields: CustomField[]) =>
  targetText(target) || (fields.find((f) => `${f.entity}.fields.${f.key}` === target)?.label ?? t("forms.target.own"))

function Settings({ e, at, fields, taken, change }: { e: Element; at: string; fields: CustomField[]; taken: string[]; change: Edit["change"] }) {
  const line = (name: "label" | "help" | "placeholder" | "purpose", max: number, extra: { wide?: boolean; help?: string; placeholder?: string } = {}) => (
    <TextField name={`${at}.${name}`} label={t(`forms.part.${name}`)} value={e[name] ?? ""} maxLength={max} onChange={(x) => change({ [name]: x.target.value })} {...extra} />
  )
  const check = (name: "required" | "marketing", help?: string) => <CheckField name={`${at}.${name}`} label={t(`forms.part.${name}`)} help={help} checked={e[name] ?? false} onChange={(x) => change({ [name]: x.target.checked })} />
  const width = <SelectField name={`${at}.width`} label={t("forms.part.width")} value={e.width || "full"} onChange={(x) => change({ width: x.target.value })} options={(["full", "half"] as const).map((value) => ({ value, label: t(`forms.width.${value}`) }))} />
  const words = (rows: number, max: number, help?: string) => <TextArea name={`${at}.text`} label={t(e.type === "consent" ? "forms.part.consent" : "forms.part.text")} help={help} rows={rows} value={e.text ?? ""} maxLength={max} onChange={(x) => change({ text: x.target.value })} />
  switch (e.type as Kind) {
    case "heading":
      return <>
        <TextField name={`${at}.text`} label={t("forms.part.text")} value={e.text ?? ""} maxLength={190} wide onChange={(x) => change({ text: x.target.value })} />
        <SelectField name={`${at}.level`} label={t("forms.part.level")} value={String(e.level || 2)} onChange={(x) => change({ level: Number(x.target.value) })} options={[2, 3, 4].map((n) => ({ value: String(n), label: t(`forms.level.${n as 2}`) }))} />
        {width}
      </>
    case "paragraph":
      return <>{words(4, 5000)}{width}</>
    case "consent":
      return <>
        {words(3, 2000, t("forms.part.consent_help"))}
        <TextField name={`${at}.label`} label={t("forms.part.consent_label")} value={e.label ?? ""} maxLength={190} onChange={(x) => change({ label: x.target.value })} />
        {line("purpose", 50, { help: t("forms.part.purpose_help"), placeholder: e.marketing ? "newsletter" : "privacy" })}
        {line("help", 500, { wide: true })}
        {check("required")}
        {check("marketing", t("forms.part.marketing_help"))}
        <MarketingProblem name={`${at}.marketing`} />
        {width}
      </>
  }
  const free = isFree(e.target ?? "", fields)
  const custom = fields.find((f) => `${f.entity}.fields.${f.key}` === e.target)
  const picks = free || custom?.type === "dropdown" || custom?.type === "choices"
  return <>
    <Target name={`${at}.target`} e={e} fields={fields} taken={taken} change={change} />
    {line("label", 190, { help: t("forms.part.label_help"), placeholder: custom?.label ?? (targetText(e.target ?? "") || humane((e.target ?? "").slice(own.length))) })}
    {free && <TextField name={`${at}.key`} label={t("forms.part.key")} help={t("forms.part.key_help")} value={(e.target ?? "").slice(own.length)} maxLength={64} spellCheck={false} onChange={(x) => change({ target: own + x.target.value.replace(/[^A-Za-z0-9_-]/g, "_") })} />}
    {picks && <TextArea name={`${at}.options`} label={t("forms.part.options")} help={t(free ? "forms.part.options_help" : "forms.part.options_some")} rows={3} value={(e.options ?? []).join("\n")} placeholder={custom?.options.join("\n")} onChange={(x) => change({ options: x.target.value === "" ? undefined : x.target.value.split("\n") })} />}
    {line("help", 500, { wide: true, help: t("forms.part.help_help") })}
    {!(picks && (e.options?.length || !free)) && line("placeholder", 190)}
    {width}
    {check("required")}
  </>
}

function MarketingProblem({ name }: { name: string }) {
  return useProblem(name) ? <p className="field field--wide problem" aria-live="polite">{t("forms.needs_email")}</p> : null
}

/** The target of a question: a value of the person or of their company, or an answer that stays with the submission. */
function Target({ name, e, fields, taken, change }: { name: string; e: Element; fields: CustomField[]; taken: string[]; change: Edit["change"] }) {
  const free = isFree(e.target ?? "", fields)
  const option = (target: string, label: string) => <option key={target} value={target} disabled={taken.includes(target)}>{label}</option>
  const custom = (entity: string) => fields.filter((f) => f.entity === entity)
  const choose = (target: string) => {
    let free = target
    for (let n = 1; free === own && n <= taken.length + 1; n++) if (!taken.includes(`${own}question_${n}`)) free = `${own}question_${n}`
    change({ target: free, options: undefined })
  }
  return (
    <Field name={name} label={t("forms.part.target")} help={t(free ? "forms.target.own_help" : e.target?.startsWith("submission.") ? "forms.target.own_help" : "forms.target.person_help")}>
      {(a) => (
        <select className="input" {...a} value={free ? own : e.target} onChange={(x) => choose(x.target.value)}>
          <optgroup label={t("forms.target.people")}>{people.map((x) => option(x, targetText(x)))}{custom("contact").map((f) => option(`contact.fields.${f.key}`, f.label))}</optgroup>
          <optgroup label={t("forms.target.answers")}>{custom("submission").map((f) => option(`submission.fields.${f.key}`, f.label))}<option value={own}>{t("forms.target.own")}</option></optgroup>
          <optgroup label={t("forms.target.company")}>{company.map((x) => option(x, targetText(x)))}</optgroup>
        </select>
      )}
    </Field>
  )
}
