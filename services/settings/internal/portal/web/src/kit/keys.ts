// Single keys, which a person can switch off. They do nothing while somebody types or a dialog is open.
import { useEffect, useRef } from "react"
import { kept } from "./start"

const typing = (e: KeyboardEvent) => {
  // Inside a widget, which has a document of its own, the event is at its field.
  const at = e.composedPath()[0] as HTMLElement
  return at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || document.querySelector("dialog[open]") !== null
}

export const keysOn = () => kept.get("keys") !== "off"

export function useKeys(keys: Record<string, () => void>) {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || !keysOn() || typing(e)) return
      const run = current.current[e.key]
      if (run) {
        e.preventDefault()
        run()
      }
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [])
}
