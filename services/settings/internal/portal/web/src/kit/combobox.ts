// The one combobox: an input with the list of what fits, by the pattern of ARIA. The focus stays in the input; the arrows walk over the list and
// Enter chooses, a pointer does both.
import { useId, useState, type KeyboardEvent } from "react"

/** What the input, the list and each of its options are given. choose gets the place of an option; 0 of a list that has none yet. */
export function useCombobox(count: number, choose: (at: number) => void, { open = count > 0, show }: { open?: boolean; show?: (open: boolean) => void } = {}) {
  const id = useId()
  const [last, setLast] = useState(0)
  const at = Math.min(last, Math.max(0, count - 1))
  const go = (next: number) => {
    setLast(next)
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" })
  }
  const press = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (step) {
      if (!open) show?.(true)
      else if (count > 0) go((at + step + count) % count)
    } else if (e.key === "Enter" && (open || !show)) choose(at)
    else if (e.key === "Escape" && open && show) {
      // It closes the list, not the dialog around it.
      e.stopPropagation()
      show(false)
    } else return
    e.preventDefault()
  }
  return {
    /** The list is another: its first option is the likeliest. */
    begin: () => setLast(0),
    input: {
      role: "combobox", autoComplete: "off", spellCheck: false, "aria-autocomplete": "list", "aria-expanded": open, "aria-controls": `${id}-list`,
      "aria-activedescendant": open && count > 0 ? `${id}-${at}` : undefined, onKeyDown: press,
    } as const,
    list: { id: `${id}-list`, role: "listbox" } as const,
    option: (i: number) => ({
      id: `${id}-${i}`, role: "option", "aria-selected": i === at, onMouseMove: () => setLast(i), onClick: () => choose(i),
      // The focus stays in the input.
      onMouseDown: (e: { preventDefault: () => void }) => e.preventDefault(),
    }) as const,
  }
}
