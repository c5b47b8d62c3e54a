// A select that saves or leads somewhere at once. On a closed one, an arrow or a letter is no choice yet: the person goes by it to
// another option, and chooses with Enter or by leaving.
import { useRef, type ChangeEvent, type FocusEvent, type KeyboardEvent } from "react"

/** The handlers of a select: set at each option that is gone to, choose when the person has chosen, leave when the select loses the focus. */
export function useChoice(set: (value: string) => void, choose: (value: string) => void, leave = choose) {
  const byKey = useRef(false)
  const gone = useRef(false)
  return {
    onPointerDown: () => void (byKey.current = false),
    onKeyDown: (e: KeyboardEvent<HTMLSelectElement>) => {
      byKey.current = e.key !== "Enter"
      if (byKey.current || !gone.current) return
      // Else the browser opens the list of options, in which the one that was gone to is chosen already.
      e.preventDefault()
      gone.current = false
      choose(e.currentTarget.value)
    },
    onChange: (e: ChangeEvent<HTMLSelectElement>) => {
      gone.current = byKey.current
      set(e.target.value)
      if (!byKey.current) choose(e.target.value)
    },
    onBlur: (e: FocusEvent<HTMLSelectElement>) => leave(e.currentTarget.value),
  }
}
