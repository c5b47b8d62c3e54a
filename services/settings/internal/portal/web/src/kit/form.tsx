// The pattern of every form: native inputs, problems of data.details at their fields, the focus at the first of them, nothing
// typed is lost.
import { useBlocker } from "@tanstack/react-router"
import { CircleAlert } from "lucide-react"
import { createContext, use, useId, useLayoutEffect, useRef, useState, type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, type SyntheticEvent, type TextareaHTMLAttributes } from "react"
import { Keys } from "@/api/attempts"
import { asFault, type Fault, type Problem } from "@/api/fault"
import { confirm } from "./dialog"
import { saying, why } from "./problem"
import { t } from "./text"

type State = { problems: Record<string, Problem>; clear: (name: string) => void }
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
        setFault(known && Object.keys(f.details).length > 0 ? undefined : f)
        setRefusals((n) => n + 1)
      }
    } finally {
      setBusy(false)
    }
  }
  return { ref, busy, dirty, fault, problems, clear, onSubmit, setDirty }
}

export function Form({ form, children, className = "form" }: { form: FormHandle; children: ReactNode; className?: string }) {
  return (
    <Context value={form}>
      <form ref={form.ref} className={className} onSubmit={(e) => void form.onSubmit(e)} onChange={() => form.setDirty(true)} noValidate>
        {form.fault && (
          <div className="notice notice--bad" role="alert" tabIndex={-1}>
            <CircleAlert aria-hidden />
            <div>
              <p>{saying(form.fault)}</p>
              {Object.entries(form.fault.details).map(([name, p]) => !form.ref.current?.elements.namedItem(name) && <p key={name}>{name}: {why(p)}</p>)}
            </div>
          </div>
        )}
        {children}
      </form>
    </Context>
  )
}

/** Asks before the person leaves a screen on which something was typed. */
export function useUnsavedGuard(dirty: boolean) {
  useBlocker({
    shouldBlockFn: async () => dirty && !(await confirm({ title: t("unsaved.title"), text: t("unsaved.text"), action: t("unsaved.leave"), bad: true })),
    enableBeforeUnload: () => dirty,
    disabled: !dirty,
  })
}

type Common = { name: string; label: string; help?: ReactNode; wide?: boolean; optional?: boolean; hideLabel?: boolean }

/** A label, help and the problem of a parameter around one input, which gets the attributes. */
export function Field({ name, label, help, wide, hideLabel, children }: Common & {
  children: (a: { id: string; name: string; "aria-describedby"?: string; "aria-invalid"?: true; onInput: () => void }) => ReactNode
}) {
  const { problems, clear } = use(Context)
  const id = useId()
  const problem = problems[name]
  const described = [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ")
  return (
    <div className={wide ? "field field--wide" : "field"}>
      <label className={hideLabel ? "sr" : "label"} htmlFor={id}>{label}</label>
      {children({ id, name, "aria-describedby": described || undefined, "aria-invalid": problem ? true : undefined, onInput: () => problem && clear(name) })}
      {help && <p className="help" id={`${id}-help`}>{help}</p>}
      {problem && <p className="problem" id={`${id}-problem`}><CircleAlert aria-hidden />{why(problem)}</p>}
    </div>
  )
}

export function TextField({ name, label, help, wide, hideLabel, ...rest }: Common & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <Field {...{ name, label, help, wide, hideLabel }}>{(a) => <input className="input" type="text" autoComplete="off" {...rest} {...a} />}</Field>
}

export function TextArea({ name, label, help, wide = true, hideLabel, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <Field {...{ name, label, help, wide, hideLabel }}>{(a) => <textarea className="input" rows={4} {...rest} {...a} />}</Field>
}

export function SelectField({ name, label, help, wide, hideLabel, options, ...rest }: Common & SelectHTMLAttributes<HTMLSelectElement> & { options: { value: string; label: string }[] }) {
  return (
    <Field {...{ name, label, help, wide, hideLabel }}>
      {(a) => (
        <select className="input" {...rest} {...a}>
          {options.map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
        </select>
      )}
    </Field>
  )
}

export function CheckField({ name, label, help, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="field field--wide">
      <label className="check"><input type="checkbox" name={name} aria-describedby={help ? id : undefined} {...rest} /><span>{label}</span></label>
      {help && <p className="help help--check" id={id}>{help}</p>}
    </div>
  )
}

/** The text of a field, trimmed. */
export const text = (values: FormData, name: string) => String(values.get(name) ?? "").trim()
