// Single keys, which a person can switch off. They do nothing while somebody types or a dialog is open.
import { useEffect, useRef } from "react"
import { kept } from "./start"

const typing = (e: KeyboardEvent) => {
  // Inside a widget, which has a document of its own, the event is at its field.
  const at = e.composedPath()[0] as HTMLElement
  // Arrows scroll what is wider than its place.
  if (e.key.startsWith("Arrow") && at !== document.body && at.scrollWidth > at.clientWidth) return true
  return at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || document.querySelector("dialog[open]") !== null
}

export const keysOn = () => kept.get("keys") !== "off"

type Handlers = React.RefObject<Record<string, () => void>>

/** The handlers of what is on the screen. Those that came last come first, and the shell's come after all others. */
const handlers: Handlers[] = []

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || !keysOn() || typing(e)) return
  const run = handlers.findLast((h) => h.current[e.key])?.current[e.key]
  if (run) {
    e.preventDefault()
    run()
  }
})

/** Runs what a key stands for while the component is there. A screen goes before the shell around it, whose effects run later than the screen's. */
export function useKeys(keys: Record<string, () => void>, of: "screen" | "shell" = "screen") {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    if (of === "shell") handlers.unshift(current)
    else handlers.push(current)
    return () => void handlers.splice(handlers.indexOf(current), 1)
  }, [])
}
