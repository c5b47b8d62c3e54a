import { useLayoutEffect, useRef } from "preact/hooks"

/** Moves focus to an element each time key changes, never when it is first shown: that would scroll the page around. */
export function useFocusOn<E extends HTMLElement>(key: unknown) {
  const ref = useRef<E>(null)
  const first = useRef(true)
  // Before the next key: a later effect would take focus from where that key had put it.
  useLayoutEffect(() => {
    if (first.current) first.current = false
    else ref.current?.focus()
  }, [key])
  return ref
}
