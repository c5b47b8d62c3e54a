// The pattern of every form: native inputs, problems of data.details at their fields, the focus at the first of them, nothing
// typed is lost.
import { CircleAlert } from "lucide-react"
import { createContext, use, useId, useLayoutEffect, useRef, useState, type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, type SyntheticEvent, type TextareaHTMLAttributes } from "react"
import { Keys } from "@/api/attempts"
import { asFault, type Fault, type Problem } from "@/api/fault"
import { Button } from "./button"
import { same, typedNumber } from "./draft"
import { saying } from "./problem"
import { t } from "./text"
import { Clash, type Drafting } from "./use-draft"
import { why } from "./why"

type State = { problems: Record<string, Problem>; clear: (name: string) => void; draft?: Drafting; limits?: Limits }
const Context = createContext<State>({ problems: {}, clear: () => {} })

/** What is wrong with a parameter, for inputs that are not one of the fields below. */
export const useProblem = (name: string): Problem | undefined => use(Context).problems[name]

export type FormHandle = ReturnType<typeof useForm>

/**
 * Runs submit with the form's values. key is the same for every attempt with the same values: pass it as Idempotency-Key.
 * A refusal's details stand at the fields; onFault may handle one of its own and return true.
 */
export function useForm(submit: (values: FormData, key: string) => Promise<void>, onFault?: (f: Fault) => boolean | undefined) {
  const ref = useRef<HTMLFormElement>(null)
  const [keys] = useState(() => new Keys())
  const [busy, setBusy] = useState(false)
  const [dirty, setDirty] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const [problems, setProblems] = useState<Record<string, Problem>>({})
  const [refusals, setRefusals] = useState(0)
  useLayoutEffect(() => {
    if (refusals > 0) (ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? ref.current?.querySelector<HTMLElement>('[role="alert"]'))?.focus()
  }, [refusals])
  const clear = (name: string) => setProblems(({ [name]: _, ...rest }) => rest)

  const onSubmit = async (e?: SyntheticEvent) => {
    e?.preventDefault()
    if (busy) return
    const values = new FormData(ref.current!)
    const words = JSON.stringify([...values])
    setBusy(true)
    setFault(undefined)
    try {
      await submit(values, keys.of(words))
      keys.settle(words)
      setProblems({})
      setDirty(false)
    } catch (e) {
      const f = asFault(e)
      setProblems(f.details)
      if (!onFault?.(f)) {
        const known = Object.keys(f.details).every((name) => ref.current?.elements.namedItem(name))
        setFault(f.shown || (known && Object.keys(f.details).length > 0) ? undefined : f)
        setRefusals((n) => n + 1)
      }
    } finally {
      setBusy(false)
    }
  }
  return { ref, busy, dirty, fault, problems, clear, onSubmit, setDirty }
}

/** Runs a draft's save as a form: problems stand at the fields, and what somebody else changed as well is said by the form. */
export const useDraftForm = (draft: Drafting, done: () => void) => useForm(async () => (await draft.save(), done()))

/** The limits of an operation's parameters by their names, as api/limits.ts has them. */
export type Limits = { [name: string]: { maxLength?: number; min?: number; max?: number } }

/**
 * Its fields have the limits of the operation that it calls. With a draft, the fields below show and change its values at their names, and somebody else's change of the same is said. Without one
 * they keep their values themselves, and nothing can be typed while they are sent.
 */
export function Form({ form, draft, limits, children, className = "form" }: { form: FormHandle; draft?: Drafting; limits?: Limits; children: ReactNode; className?: string }) {
  const waits = !draft && form.busy
  const focus = useRef<Element>(null)
  useLayoutEffect(() => {
    if (!waits) return
    focus.current = document.activeElement
    return () => {
      // What is inert loses the focus; a problem gets it by itself.
      if (focus.current instanceof HTMLElement && focus.current.isConnected && document.activeElement === document.body) focus.current.focus()
    }
  }, [waits])
  return (
    <Context value={{ problems: form.problems, clear: form.clear, draft, limits }}>
      <form ref={form.ref} className={className} onSubmit={(e) => void form.onSubmit(e)} onChange={() => form.setDirty(true)} inert={waits} noValidate>
        {form.fault && (
          <div className="notice notice--bad" role="alert" tabIndex={-1}>
            <CircleAlert aria-hidden />
            <div>
              <p>{saying(form.fault)}</p>
              {Object.entries(form.fault.details).map(([name, p]) => !form.ref.current?.elements.namedItem(name) && <p key={name}>{name}: {why(p)}</p>)}
            </div>
          </div>
        )}
        {draft && <Clash draft={draft} />}
        {children}
      </form>
    </Context>
  )
}

/** The foot of a form over a draft. */
export function SaveBar({ draft, busy, disabled, kind = "main", save = t("save"), className = "save-bar" }: { draft: Drafting; busy: boolean; disabled?: boolean; kind?: "main" | "plain"; save?: string; className?: string }) {
  return (
    <div className={className}>
      <span className="soft" role="status">{draft.dirty ? t("draft.unsaved") : ""}</span>
      <span className="row">
        {draft.dirty && <Button onClick={() => draft.drop()}>{t("draft.discard")}</Button>}
        <Button kind={kind} type="submit" busy={busy} disabled={disabled}>{save}</Button>
      </span>
    </div>
  )
}

type Common = { name: string; label: string; help?: ReactNode; wide?: boolean; optional?: boolean; hideLabel?: boolean }

/** A label, help and the problem of a parameter around one input, which gets the attributes. */
export function Field({ name, label, help, wide, hideLabel, children }: Common & {
  children: (a: { id: string; name: string; "aria-describedby"?: string; "aria-invalid"?: true; onInput: () => void }) => ReactNode
}) {
  const { problems, clear, draft } = use(Context)
  const id = useId()
  const problem = problems[name]
  const theirs = draft?.theirs(name)
  const described = [help && `${id}-help`, problem && `${id}-problem`, theirs && `${id}-theirs`].filter(Boolean).join(" ")
  return (
    <div className={wide ? "field field--wide" : "field"}>
      <label className={hideLabel ? "sr" : "label"} htmlFor={id}>{label}</label>
      {children({ id, name, "aria-describedby": described || undefined, "aria-invalid": problem ? true : undefined, onInput: () => problem && clear(name) })}
      {help && <p className="help" id={`${id}-help`}>{help}</p>}
      {theirs && <p className="help" id={`${id}-theirs`}>{t("draft.now", { value: String(theirs.value ?? "") || "–" })}</p>}
      {problem && <p className="problem" id={`${id}-problem`}><CircleAlert aria-hidden />{why(problem)}</p>}
    </div>
  )
}

/** A field's value in the draft of its form, unless the field has one of its own. */
function useBound(name: string, own: { value?: unknown; defaultValue?: unknown; number?: boolean; required?: boolean }) {
  const { draft } = use(Context)
  if (!draft || own.value !== undefined || own.defaultValue !== undefined) return {}
  return {
    value: String(draft.at(name) ?? ""),
    onChange: (e: { target: { value: string } }) => draft.set(name, own.number ? typedNumber(e.target.value, own.required) : e.target.value),
  }
}

/** How long a text may be in the operation that its form calls. */
const useLength = (name: string) => use(Context).limits?.[name]?.maxLength

/** A number is typed as a text: a browser's own input of numbers has no value as long as it does not understand what stands there. */
export function TextField({ name, label, help, wide, hideLabel, number, ...rest }: Common & { number?: boolean } & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  const bound = useBound(name, { ...rest, number })
  const maxLength = useLength(name)
  return <Field {...{ name, label, help, wide, hideLabel }}>{(a) => <input className="input" type="text" autoComplete="off" maxLength={maxLength} inputMode={number ? "numeric" : undefined} {...bound} {...rest} {...a} />}</Field>
}

export function TextArea({ name, label, help, wide = true, hideLabel, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const bound = useBound(name, rest)
  const maxLength = useLength(name)
  return <Field {...{ name, label, help, wide, hideLabel }}>{(a) => <textarea className="input" rows={4} maxLength={maxLength} {...bound} {...rest} {...a} />}</Field>
}

type Option = { value: string; label: string }

/** The options with the value that is set, even before the list that has it has loaded. */
export const withValue = (options: Option[], value: unknown): Option[] =>
  value === undefined || options.some((o) => same(o.value, value)) ? options : [...options, { value: String(value), label: "…" }]

export function SelectField({ name, label, help, wide, hideLabel, options, number, ...rest }: Common & { number?: boolean } & SelectHTMLAttributes<HTMLSelectElement> & { options: Option[] }) {
  const bound = useBound(name, { ...rest, number })
  return (
    <Field {...{ name, label, help, wide, hideLabel }}>
      {(a) => (
        <select className="input" {...bound} {...rest} {...a}>
          {withValue(options, bound.value ?? rest.value).map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
        </select>
      )}
    </Field>
  )
}

export function CheckField({ name, label, help, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const { draft } = use(Context)
  const bound = draft && rest.checked === undefined && rest.defaultChecked === undefined ? { checked: draft.at(name) === true, onChange: (e: { target: HTMLInputElement }) => draft.set(name, e.target.checked) } : {}
  return (
    <div className="field field--wide">
      <label className="check"><input type="checkbox" name={name} aria-describedby={help ? id : undefined} {...bound} {...rest} /><span>{label}</span></label>
      {help && <p className="help help--check" id={id}>{help}</p>}
    </div>
  )
}

/** The text of a field, trimmed. */
export const text = (values: FormData, name: string) => String(values.get(name) ?? "").trim()
