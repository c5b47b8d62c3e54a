// The questions of a form, for both widgets. The same marks, classes and rules as page/parts.html and field.go.
import type { T } from "./text"
import { Icon } from "./icon"

export interface Element {
  id: string
  type: string
  kind?: string
  target?: string
  label?: string
  help?: string
  required?: boolean
  options?: string[]
  placeholder?: string
  width?: string
  text?: string
  level?: number
}

export type Answer = string | boolean | string[]
export type Answers = Record<string, Answer>
export type Errors = Record<string, string>

const kinds: Record<string, string> = { "contact.email": "email", "organization.email": "email", "contact.phone": "phone", "organization.phone": "phone", "organization.website": "url", message: "long_text" }
const autocomplete: Record<string, string> = { first_name: "given-name", last_name: "family-name", email: "email", phone: "tel" }
const maxima: Record<string, number> = { first_name: 100, last_name: 100, email: 190, phone: 50, message: 1800 }

const asked = (e: Element) => e.type === "field" || e.type === "consent"
const last = (e: Element) => (e.target ?? "").split(".").pop() ?? ""

export function kindOf(e: Element): string {
  if (e.type !== "field") return e.type
  return e.kind || kinds[e.target ?? ""] || (e.options?.length ? "dropdown" : "text")
}

export function labelOf(e: Element, t: T): string {
  if (e.label) return e.label
  if (e.type === "consent") return e.text ?? ""
  const key = "label_" + (e.target ?? "").replaceAll(".", "_")
  const text = t(key)
  return text === key ? e.id : text
}

/** What is wrong with the answers, by element id, before anything is sent. */
export function check(elements: Element[], answers: Answers, t: T): Errors {
  const errors: Errors = {}
  for (const e of elements) {
    if (!asked(e)) continue
    const kind = kindOf(e)
    const a = answers[e.id]
    const empty = a === undefined || a === false || (typeof a === "string" ? a.trim() === "" : Array.isArray(a) && a.length === 0)
    if (empty) {
      if (e.required) errors[e.id] = why("is required", kind, t)
    } else if (kind === "email" && !/^[^\s@"]+@[^\s@"]+\.[^\s@".]+$/.test(String(a).trim())) errors[e.id] = t("error_email")
    else if (kind === "number" && !Number.isFinite(Number(String(a).trim().replace(",", ".")))) errors[e.id] = t("error_number")
  }
  return errors
}

/** What the API says of an answer, in the visitor's language. */
export function why(said: string, kind: string, t: T): string {
  if (said === "is required") return t(kind === "consent" || kind === "checkbox" ? "error_tick" : kind === "dropdown" || kind === "choices" ? "error_choose" : "error_required")
  if (kind === "email") return t("error_email")
  if (said.includes("too long") || said.includes("at most")) return t("error_long")
  return t(["phone", "url", "number", "date"].includes(kind) ? "error_" + kind : "error_other")
}

/** The errors of an svc_invalid_param by element id; undefined when it is about something else. */
export function errorsOf(params: Record<string, string>, elements: Element[], t: T): Errors | undefined {
  const errors: Errors = {}
  for (const [name, said] of Object.entries(params)) {
    const key = name.replace(/^values\./, "")
    const e = elements.find((e) => e.id === key || e.target === key)
    if (e) errors[e.id] = why(said, kindOf(e), t)
  }
  return Object.keys(errors).length > 0 ? errors : undefined
}

/** The answers as the API takes them. */
export function toSend(elements: Element[], answers: Answers): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const e of elements) {
    const a = answers[e.id]
    if (!asked(e) || a === undefined || a === "") continue
    out[e.id] = kindOf(e) === "number" ? Number(String(a).trim().replace(",", ".")) : a
  }
  return out
}

interface Props {
  elements: Element[]
  answers: Answers
  errors: Errors
  t: T
  set: (id: string, answer: Answer) => void
}

export function Fields({ elements, answers, errors, t, set }: Props) {
  return (
    <div class="fields">
      {elements.map((e) => (
        <Field key={e.id} e={e} answer={answers[e.id]} error={errors[e.id]} t={t} set={(a) => set(e.id, a)} />
      ))}
    </div>
  )
}

function Field({ e, answer, error, t, set }: { e: Element; answer: Answer | undefined; error: string | undefined; t: T; set: (a: Answer) => void }) {
  const kind = kindOf(e)
  const id = "f-" + e.id
  if (kind === "heading") {
    const Tag = (e.level === 2 ? "h2" : e.level === 4 ? "h4" : "h3") as "h3"
    return <Tag class="subtitle">{e.text}</Tag>
  }
  if (kind === "paragraph") return <p class="soft pre">{e.text}</p>
  const label = (
    <>
      {labelOf(e, t)}
      {!e.required && <span class="soft"> ({t("optional")})</span>}
    </>
  )
  const below = (
    <>
      {e.help && (
        <p class="help" id={id + "-help"}>
          {e.help}
        </p>
      )}
      {error && (
        <p class="error" id={id + "-error"}>
          <Icon name="circle-alert" />
          <span>{error}</span>
        </p>
      )}
    </>
  )
  const described = [e.help && id + "-help", error && id + "-error"].filter(Boolean).join(" ") || undefined
  const aria = { "aria-describedby": described, "aria-invalid": error ? ("true" as const) : undefined }
  const box = "field" + (e.width === "half" ? " half" : "")
  if (kind === "consent" || kind === "checkbox") {
    return (
      <div class={box}>
        <label class="check" for={id}>
          <input id={id} type="checkbox" checked={answer === true} aria-required={e.required || undefined} {...aria} onChange={(ev) => set(ev.currentTarget.checked)} />
          <span>{label}</span>
        </label>
        {below}
      </div>
    )
  }
  if (kind === "choices") {
    const chosen = Array.isArray(answer) ? answer : []
    return (
      <fieldset class={box} id={id} tabIndex={-1} {...aria}>
        <legend class="label">{label}</legend>
        <div class="options">
          {e.options?.map((o) => (
            <label class="check" key={o}>
              <input type="checkbox" checked={chosen.includes(o)} onChange={(ev) => set(ev.currentTarget.checked ? [...chosen, o] : chosen.filter((x) => x !== o))} />
              <span>{o}</span>
            </label>
          ))}
        </div>
        {below}
      </fieldset>
    )
  }
  const text = typeof answer === "string" ? answer : ""
  const shared = { id, class: "input", "aria-required": e.required || undefined, ...aria }
  const max = maxima[last(e)] ?? 10000
  return (
    <div class={box}>
      <label class="label" for={id}>
        {label}
      </label>
      {kind === "long_text" ? (
        <textarea {...shared} maxLength={max} placeholder={e.placeholder} value={text} onInput={(ev) => set(ev.currentTarget.value)} />
      ) : kind === "dropdown" ? (
        <select {...shared} value={text} onChange={(ev) => set(ev.currentTarget.value)}>
          <option value="">{t("choose")}</option>
          {e.options?.map((o) => (
            <option key={o} value={o}>
              {o}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          name={last(e)}
          type={(kind === "phone" ? "tel" : kind === "email" || kind === "url" || kind === "date" ? kind : "text") as "text"}
          inputMode={kind === "number" ? "decimal" : undefined}
          autocomplete={e.target?.startsWith("contact.") ? autocomplete[last(e)] : undefined}
          maxLength={max}
          placeholder={e.placeholder}
          value={text}
          onInput={(ev) => set(ev.currentTarget.value)}
        />
      )}
      {below}
    </div>
  )
}

/** The summary over a form with several errors; it takes focus, its links lead to the fields. */
export function Summary({ elements, errors, t, root }: { elements: Element[]; errors: Errors; t: T; root: () => ParentNode | null }) {
  const wrong = elements.filter((e) => errors[e.id])
  return (
    <div class="notice notice--bad" tabIndex={-1} data-summary>
      <Icon name="circle-alert" />
      <div>
        <p>
          <strong>{t("fix", { n: wrong.length })}</strong>
        </p>
        <ul>
          {wrong.map((e) => (
            <li key={e.id}>
              <a
                href={"#f-" + e.id}
                onClick={(ev) => {
                  ev.preventDefault()
                  focusField(root(), e.id)
                }}
              >
                {labelOf(e, t)}: {errors[e.id]}
              </a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

export function focusField(root: ParentNode | null, id: string) {
  const target = root?.querySelector<HTMLElement>("#f-" + CSS.escape(id))
  ;(target?.matches("fieldset") ? (target.querySelector<HTMLElement>("input") ?? target) : target)?.focus()
}

/** After a refusal: one error takes focus itself, several give it to the summary. */
export function focusErrors(root: ParentNode | null, errors: Errors) {
  const ids = Object.keys(errors)
  if (ids.length === 1 && ids[0]) focusField(root, ids[0])
  else root?.querySelector<HTMLElement>("[data-summary]")?.focus()
}

/** The field that people do not see and programs fill in. */
export function Trap({ set }: { set: (value: string) => void }) {
  return (
    <div class="trap" aria-hidden="true">
      <label>
        Website
        <input type="text" name="hp_url" tabIndex={-1} autocomplete="off" onInput={(e) => set(e.currentTarget.value)} />
      </label>
    </div>
  )
}
