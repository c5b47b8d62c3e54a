// What a person asks of a screen from elsewhere, such as a new contact from the palette: the screen does it once it is there.
import { useEffect, useRef } from "react"

type Ask = "contact" | "organization" | "task"

let asked: Ask | undefined
const watchers = new Set<() => void>()

/** Asks the screen that is open, or the one that opens next. */
export function ask(what: Ask) {
  asked = what
  for (const look of watchers) look()
}

/** Runs what is asked for while the component is there, or was asked for before it came. */
export function useAsked(what: Ask, run: () => void) {
  const current = useRef(run)
  current.current = run
  useEffect(() => {
    const look = () => {
      if (asked !== what) return
      asked = undefined
      current.current()
    }
    look()
    watchers.add(look)
    return () => void watchers.delete(look)
  }, [what])
}
