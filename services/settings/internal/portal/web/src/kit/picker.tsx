// A field that finds a record while somebody types, such as a contact. Its list stands in React Aria's popover: load it with a screen, not with
// the shell.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { CircleAlert } from "lucide-react"
import { useDeferredValue, useId, useRef, useState } from "react"
import { useCombobox } from "./combobox"
import { Popover } from "./popover"
import { t } from "./text"
import { useProblem } from "./form"
import { why } from "./why"

export type Choice = { id: string; name: string; detail?: string }

/** The chosen id stands in the form under name. find gets the typed words and answers the best few. */
export function Picker({ name, label, source, find, value, onChange, autoFocus, placeholder, filter }: {
  name: string
  label: string
  /** The first part of the query key, such as "contacts". */
  source: string
  find: (words: string, signal: AbortSignal) => Promise<Choice[]>
  value: Choice | null
  onChange: (c: Choice | null) => void
  autoFocus?: boolean
  placeholder?: string
  /**
   * Stands among the filters of a list: the label is in the field, as with Choice of kit/list. It opens when somebody types, not with
   * the focus.
   */
  filter?: boolean
}) {
  const [words, setWords] = useState(value?.name ?? "")
  const [open, setOpen] = useState(false)
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const asked = useDeferredValue(words === value?.name ? "" : words.trim())
  const problem = useProblem(name)
  const found = useQuery({
    queryKey: [source, "picker", asked],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 120))
      return signal.aborted ? [] : find(asked, signal)
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
  const items = found.data ?? []
  const box = useCombobox(items.length, (i) => {
    const c = items[i]
    if (!c) return
    setWords(c.name)
    onChange(c)
    setOpen(false)
  }, { open, show: setOpen })
  const none = items.length === 0 ? (found.isFetching ? t("loading") : t("list.nothing")) : undefined
  return (
    <div className={filter ? "field picker--filter" : "field"}>
      <label className={filter ? "sr" : "label"} htmlFor={id}>{label}</label>
      <input ref={input} id={id} className="input" {...box.input} value={words} autoFocus={autoFocus} placeholder={placeholder ?? (filter ? label : t("picker.hint"))} aria-invalid={problem ? true : undefined} aria-describedby={problem && `${id}-problem`}
        onChange={(e) => {
          setWords(e.target.value)
          setOpen(true)
          box.begin()
          if (e.target.value !== value?.name) onChange(null)
        }}
        onFocus={() => !filter && setOpen(true)} onBlur={() => (setOpen(false), !value && setWords(""))} />
      <input type="hidden" name={name} value={value?.id ?? ""} />
      {problem && <p className="problem" id={`${id}-problem`}><CircleAlert aria-hidden />{why(problem)}</p>}
      <span className="sr" role="status">{open ? (none ?? t("palette.count", { n: items.length })) : ""}</span>
      <Popover className="popover picker-list" triggerRef={input} isOpen={open} isNonModal placement="bottom start">
        <div className="picker-box" {...box.list} aria-label={label}>
          {items.map((c, i) => (
            <div key={c.id} {...box.option(i)} className="menu-item picker-item">
              <span className="palette-name">{c.name}</span>
              {c.detail && <span className="palette-detail">{c.detail}</span>}
            </div>
          ))}
        </div>
        {none && <p className="picker-none soft" aria-hidden>{none}</p>}
      </Popover>
    </div>
  )
}
