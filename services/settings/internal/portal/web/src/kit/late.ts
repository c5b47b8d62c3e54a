import { lazy, type ComponentType } from "react"

/** A part of a screen that the first paint does not wait for. It loads a moment after the screen's program, so that it is there when somebody opens it. */
export function late<C extends ComponentType<any>>(load: () => Promise<{ default: C }>) {
  setTimeout(() => void load().catch(() => {}), 1500)
  return lazy(load)
}
