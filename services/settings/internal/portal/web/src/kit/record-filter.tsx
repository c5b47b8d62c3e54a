// A filter of a list by one record: a field that finds it, and in its place the record's name once it is chosen. The field loads after the list: what
// it finds stands in React Aria's popover.
import { X } from "lucide-react"
import { Suspense, useState } from "react"
import { late } from "./late"
import type { Choice } from "./picker"

const Picker = late(() => import("./picker").then((m) => ({ default: m.Picker })))

export function RecordFilter({ name, label, clear, source, find, value, shown, onChange }: {
  name: string
  label: string
  /** What the button says that takes the record out. */
  clear: string
  /** The first part of the query key, such as "contacts". */
  source: string
  find: (words: string, signal: AbortSignal) => Promise<Choice[]>
  value: string | undefined
  /** What the chosen record is called. */
  shown: string
  onChange: (id: string | undefined) => void
}) {
  // The field and the chosen record stand in for each other: the focus goes along.
  const [moved, setMoved] = useState(false)
  const set = (id: string | undefined) => (setMoved(true), onChange(id))
  if (value) return <span className="tag tag--filter"><span>{shown}</span><button autoFocus={moved} aria-label={clear} onClick={() => set(undefined)}><X aria-hidden /></button></span>
  return (
    <Suspense fallback={<div className="field picker--filter"><input className="input" readOnly placeholder={label} aria-label={label} /></div>}>
      <Picker filter name={name} label={label} source={source} find={find} value={null} onChange={(c) => c && set(c.id)} autoFocus={moved} />
    </Suspense>
  )
}
