// A select that saves or leads somewhere at once. On a closed one, an arrow or a letter is no choice yet: the person goes by it to
// another option, and chooses with Enter or by leaving.
import { useRef, type ChangeEvent, type FocusEvent, type KeyboardEvent } from "react"

/** The handlers of a select: set at each option that is gone to, choose when the person has chosen, leave when the select loses the focus. */
export function useChoice(set: (value: string) => void, choose: (value: string) => void, leave = choose) {
  const byKey = useRef(false)
  const entered = useRef(false)
  return {
    onPointerDown: () => void (byKey.current = false),
    onKeyDown: (e: KeyboardEvent<HTMLSelectElement>) => {
      entered.current = e.key === "Enter"
      byKey.current = e.key !== "Enter"
    },
    onKeyUp: (e: KeyboardEvent<HTMLSelectElement>) => {
      if (e.key === "Enter" && entered.current) choose(e.currentTarget.value)
    },
    onChange: (e: ChangeEvent<HTMLSelectElement>) => {
      set(e.target.value)
      if (!byKey.current) choose(e.target.value)
    },
    onBlur: (e: FocusEvent<HTMLSelectElement>) => leave(e.currentTarget.value),
  }
}
