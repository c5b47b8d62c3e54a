// The pattern of a record: values that are edited where they stand.
import { CircleAlert, Pencil } from "lucide-react"
import { useEffect, useId, useRef, useState, type ReactNode } from "react"
import { flushSync } from "react-dom"
import { asFault } from "@/api/fault"
import { useChoice } from "./choice"
import { same } from "./draft"
import { withValue, type Limits } from "./form"
import { saying } from "./problem"
import { t } from "./text"
import { Clash, type Drafting } from "./use-draft"
import { why } from "./why"

/**
 * One value of a draft: pressing it opens an input; Enter or leaving it saves, Escape leaves it as it was. It shows at once; a refusal
 * opens it again with what was typed.
 */
export function Inline({ label, name, draft, parse = (text) => text, show, type = "text", options, limits, readOnly, multiline }: {
  label: string
  /** The value's path in the draft, which is its name in data.details. */
  name: string
  draft: Drafting
  /** The value of what is typed or chosen. */
  parse?: (text: string) => unknown
  /** How a value is shown; its text when left out. */
  show?: (value: string) => ReactNode
  type?: "text" | "email" | "tel" | "url" | "date"
  options?: { value: string; label: string }[]
  limits?: Limits
  readOnly?: boolean
  multiline?: boolean
}) {
  const [opened, setOpened] = useState(false)
  const [problem, setProblem] = useState("")
  const id = useId()
  const input = useRef<HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const clash = draft.theirs(name)
  const open = opened || clash !== undefined
  const value = String(draft.at(name) ?? "")
  useEffect(() => {
    if (open) input.current?.focus()
  }, [open, problem])
  const close = () => {
    flushSync(() => {
      setOpened(false)
      setProblem("")
    })
    button.current?.focus()
  }
  const set = (text: string) => (draft.set(name, parse(text)), setProblem(""))
  const save = async () => {
    close()
    try {
      await draft.save([name])
    } catch (e) {
      const f = asFault(e)
      setOpened(true)
      if (!f.shown) setProblem(f.details[name] ? why(f.details[name]) : saying(f))
    }
  }
  const cancel = () => (draft.drop([name]), close())
  const choice = useChoice(set, () => void save(), () => !problem && !clash && void save())
  const shown = show ? show(value) : options ? (options.find((o) => o.value === value)?.label ?? (value && "…")) : value
  const empty = shown === ""
  const a11y = { "aria-labelledby": `${id}-label`, "aria-invalid": problem ? (true as const) : undefined, "aria-describedby": problem ? `${id}-problem` : undefined }
  return (
    <div className="fact">
      <dt id={`${id}-label`}>{label}</dt>
      <dd>
        {open ? (
          <form className="inline-form" noValidate onSubmit={(e) => (e.preventDefault(), void save())} onKeyDown={(e) => e.key === "Escape" && (e.preventDefault(), e.stopPropagation(), cancel())}
            onBlur={(e) => !options && !e.currentTarget.contains(e.relatedTarget) && !problem && !clash && void save()}>
            {options ? (
              <select ref={input} className="input" value={value} {...a11y} {...choice}>
                {withValue(options, value).map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
              </select>
            ) : multiline ? (
              <textarea ref={input} className="input" rows={3} value={value} maxLength={limits?.[name]?.maxLength} {...a11y} onChange={(e) => set(e.target.value)} onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && void save()} />
            ) : (
              <input ref={input} className="input" type={type} value={value} maxLength={limits?.[name]?.maxLength} autoComplete="off" {...a11y} onChange={(e) => set(e.target.value)} />
            )}
            {problem && <p className="problem" id={`${id}-problem`}><CircleAlert aria-hidden />{problem}</p>}
            <Clash draft={draft} paths={[name]} />
            {clash && <p className="help">{t("draft.now", { value: options?.find((o) => same(o.value, clash.value))?.label ?? (String(clash.value ?? "") || "–") })}</p>}
          </form>
        ) : readOnly ? (
          <span className={empty ? "soft" : "inline-text"}>{empty ? "–" : shown}</span>
        ) : (
          <button ref={button} className="inline" onClick={() => setOpened(true)}>
            <span className="sr">{label}: </span>
            <span className={empty ? "soft" : undefined}>{empty ? t("inline.add") : shown}</span>
            <Pencil aria-hidden />
          </button>
        )}
      </dd>
    </div>
  )
}
