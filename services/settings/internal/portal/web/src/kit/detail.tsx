// The pattern of a record: values that are edited where they stand, changes that show at once and roll back when they are refused.
import { useQueryClient, type QueryKey } from "@tanstack/react-query"
import { CircleAlert, Pencil } from "lucide-react"
import { useEffect, useId, useRef, useState, type ReactNode } from "react"
import { asFault } from "@/api/fault"
import { saying, why } from "./problem"
import { t } from "./text"
import { toastFault } from "./toast"

/** The values that differ, as paths of one or two names. */
function touched(a: object, b: object, depth = 2): string[][] {
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(x), ...Object.keys(y)])].flatMap((k) => {
    if (JSON.stringify(x[k]) === JSON.stringify(y[k])) return []
    const inside = depth > 1 && [x[k], y[k]].every((v) => typeof v === "object" && v !== null && !Array.isArray(v))
    return inside ? touched(x[k] as object, y[k] as object, depth - 1).map((path) => [k, ...path]) : [[k]]
  })
}
const at = (o: unknown, path: string[]) => JSON.stringify(path.reduce((v, k) => (v as Record<string, unknown> | undefined)?.[k], o))

// Changes of one record go one after the other, because each needs the version that the one before made.
const queues = new Map<string, Promise<unknown>>()
function inOrder<T>(key: QueryKey, send: () => Promise<T>): Promise<T> {
  const name = JSON.stringify(key)
  const sent = (queues.get(name) ?? Promise.resolve()).then(send, send)
  queues.set(name, sent.catch(() => {}))
  return sent
}

/**
 * Shows a change of a cached record at once, sends it, and keeps the API's answer. A refusal brings the record back as it was and
 * is thrown; loud also says it in a toast. If somebody else changed the record meanwhile, the change is sent again unless they
 * changed the same values: then the record shows theirs, and the refusal says so.
 */
export function useChange<T extends object>(key: QueryKey) {
  const queries = useQueryClient()
  return async (change: (old: T) => T, send: () => Promise<T | undefined>, loud = true): Promise<void> => {
    void queries.cancelQueries({ queryKey: key })
    const before = queries.getQueryData<T>(key)
    if (before !== undefined) queries.setQueryData<T>(key, change(before))
    try {
      const after = await inOrder(key, () =>
        send().catch(async (e: unknown) => {
          if (asFault(e).status !== 412 || before === undefined) throw e
          await queries.refetchQueries({ queryKey: key, exact: true })
          const now = queries.getQueryData<T>(key)
          if (!now || touched(before, change(before)).some((path) => at(before, path) !== at(now, path))) throw e
          queries.setQueryData<T>(key, change(now))
          return send()
        }),
      )
      if (after !== undefined) queries.setQueryData<T>(key, after)
      else void queries.invalidateQueries({ queryKey: key })
    } catch (e) {
      if (asFault(e).status === 412) void queries.invalidateQueries({ queryKey: key })
      else queries.setQueryData(key, before)
      if (loud) toastFault(e)
      throw e
    }
  }
}

/** One value of a record: pressing it opens an input; Enter saves, Escape leaves it as it was. */
export function Inline({ label, name, value, show, onSave, type = "text", options, max, readOnly, multiline }: {
  label: string
  /** The parameter's name in data.details. */
  name: string
  value: string
  /** How the value is shown; the text itself when left out. */
  show?: ReactNode
  onSave: (value: string) => Promise<void>
  type?: "text" | "email" | "tel" | "url" | "date" | "number"
  options?: { value: string; label: string }[]
  max?: number
  readOnly?: boolean
  multiline?: boolean
}) {
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState("")
  const id = useId()
  const input = useRef<HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const open = typed !== undefined
  useEffect(() => {
    if (open) input.current?.focus()
  }, [open, problem])
  const close = () => {
    setTyped(undefined)
    setProblem("")
    requestAnimationFrame(() => button.current?.focus())
  }
  const save = async (next = typed!) => {
    close()
    if (next.trim() === value) return
    try {
      await onSave(next.trim())
    } catch (e) {
      const f = asFault(e)
      const p = f.details[name]
      setTyped(next)
      setProblem(p ? why(p) : saying(f))
    }
  }
  const shown = show ?? options?.find((o) => o.value === value)?.label ?? value
  const empty = value === "" && !show
  return (
    <div className="fact">
      <dt id={`${id}-label`}>{label}</dt>
      <dd>
        {open ? (
          <form className="inline-form" noValidate onSubmit={(e) => (e.preventDefault(), void save())} onKeyDown={(e) => e.key === "Escape" && (e.preventDefault(), e.stopPropagation(), close())}
            onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && !problem && void save()}>
            {options ? (
              <select ref={input} className="input" value={typed} aria-labelledby={`${id}-label`} aria-invalid={problem ? true : undefined} aria-describedby={problem ? `${id}-problem` : undefined} onChange={(e) => void save(e.target.value)}>
                {options.map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
              </select>
            ) : multiline ? (
              <textarea ref={input} className="input" rows={3} value={typed} maxLength={max} aria-labelledby={`${id}-label`} aria-invalid={problem ? true : undefined} aria-describedby={problem ? `${id}-problem` : undefined} onChange={(e) => (setTyped(e.target.value), setProblem(""))}
                onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && void save()} />
            ) : (
              <input ref={input} className="input" type={type} value={typed} maxLength={max} autoComplete="off" aria-labelledby={`${id}-label`} aria-invalid={problem ? true : undefined} aria-describedby={problem ? `${id}-problem` : undefined} onChange={(e) => (setTyped(e.target.value), setProblem(""))} />
            )}
            {problem && <p className="problem" id={`${id}-problem`}><CircleAlert aria-hidden />{problem}</p>}
          </form>
        ) : readOnly ? (
          <span className={empty ? "soft" : "inline-text"}>{empty ? "–" : shown}</span>
        ) : (
          <button ref={button} className="inline" onClick={() => setTyped(value)}>
            <span className="sr">{label}: </span>
            <span className={empty ? "soft" : undefined}>{empty ? t("inline.add") : shown}</span>
            <Pencil aria-hidden />
          </button>
        )}
      </dd>
    </div>
  )
}
