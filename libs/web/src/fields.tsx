// The questions of a form, for the booking widget. The same marks, classes and rules as page/parts.html and field.go.
import type { T } from "./text"
import { Icon } from "./icon"
import { keyOf, why, type Problems } from "./problem"

/** An element with all that is needed to ask it, as Go's form.Question gives it. */
export interface Question {
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
  max?: number
}

export type Answer = string | boolean | string[]
export type Answers = Record<string, Answer>
export type Errors = Record<string, string>

const autocomplete: Record<string, string> = { first_name: "given-name", last_name: "family-name", email: "email", phone: "tel" }

const last = (q: Question) => (q.target ?? "").split(".").pop() ?? ""

function labelOf(q: Question, t: T): string {
  return q.label || q.text || t("label_" + (q.target ?? "").replaceAll(".", "_"))
}

/** What is wrong with the answers, by element id, before anything is sent. */
export function check(questions: Question[], answers: Answers, t: T): Errors {
  const errors: Errors = {}
  for (const q of questions) {
    const kind = q.kind
    const a = answers[q.id]
    if (!kind) continue
    let code
    if (!a || (typeof a === "string" ? a.trim() === "" : Array.isArray(a) && a.length === 0)) {
      if (q.required) code = "required"
    } else if (kind === "email" ? !/^[^\s@"]+@[^\s@"]+\.[^\s@".]+$/.test(String(a).trim()) : kind === "number" && isNaN(Number(number(a)))) code = kind
    if (code) errors[q.id] = why({ code }, kind, t)
  }
  return errors
}

/** The errors of an svc_invalid_param by element id; undefined when it is about something else. */
export function errorsOf(problems: Problems, questions: Question[], t: T): Errors | undefined {
  const errors: Errors = {}
  for (const [name, problem] of Object.entries(problems)) {
    const key = keyOf(name)
    // Where to come to is a parameter of its own, and a form may have an element of that name.
    const q = questions.find((q) => (q.target === "location" ? name === "location" : q.id === key || q.target === key))
    if (q) errors[q.id] = why(problem, q.kind ?? "", t)
  }
  return Object.keys(errors).length > 0 ? errors : undefined
}

/** Most of our languages write a number with a comma. */
const number = (a: Answer) => String(a).trim().replace(",", ".")

/** The answers as the API takes them. */
export function toSend(questions: Question[], answers: Answers): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const q of questions) {
    const a = answers[q.id]
    if (q.kind && a !== undefined && a !== "") out[q.id] = q.kind === "number" ? number(a) : a
  }
  return out
}

interface Props {
  questions: Question[]
  answers: Answers
  errors: Errors
  t: T
  set: (id: string, answer: Answer) => void
}

export function Fields({ questions, answers, errors, t, set }: Props) {
  return (
    <div class="fields">
      {questions.map((e) => (
        <Field key={e.id} e={e} answer={answers[e.id]} error={errors[e.id]} t={t} set={(a) => set(e.id, a)} />
      ))}
    </div>
  )
}

function Field({ e, answer, error, t, set }: { e: Question; answer: Answer | undefined; error: string | undefined; t: T; set: (a: Answer) => void }) {
  const kind = e.kind
  const id = "f-" + e.id
  if (e.type === "heading") {
    const Tag = (e.level === 2 ? "h2" : e.level === 4 ? "h4" : "h3") as "h3"
    return <Tag class="subtitle">{e.text}</Tag>
  }
  if (!kind) return <p class="soft pre">{e.text}</p>
  const label = (
    <>
      {e.text || labelOf(e, t)}
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
        {e.text && e.label && <span class="label">{e.label}</span>}
        <label class="check" for={id}>
          <input id={id} type="checkbox" checked={answer === true} aria-required={e.required || undefined} {...aria} onChange={(ev) => set(ev.currentTarget.checked)} />
          <span class="pre">{label}</span>
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
  return (
    <div class={box}>
      <label class="label" for={id}>
        {label}
      </label>
      {kind === "long_text" ? (
        <textarea {...shared} maxLength={e.max} placeholder={e.placeholder} value={text} onInput={(ev) => set(ev.currentTarget.value)} />
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
          type={(kind === "phone" ? "tel" : kind === "email" || kind === "date" ? kind : "text") as "text"}
          inputMode={kind === "number" ? "decimal" : kind === "url" ? kind : undefined}
          autocomplete={e.target?.startsWith("contact.") ? autocomplete[last(e)] : undefined}
          maxLength={e.max}
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
export function Summary({ questions, errors, t, root }: { questions: Question[]; errors: Errors; t: T; root: () => ParentNode | null }) {
  const wrong = questions.filter((e) => errors[e.id])
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
