import { useSyncExternalStore } from "react"
import { choose } from "@/kit/start"

export type Theme = "" | "light" | "dark"
/** The person's choice, which the page begins with; empty without one, then the system's theme shows. */
export const theme = () => (document.documentElement.dataset.theme ?? "") as Theme

export function applyTheme(choice: Theme) {
  choose("theme", choice)
  document.documentElement.dataset.theme = choice
  for (const changed of watchers) changed()
}

const watchers = new Set<() => void>()
export const useTheme = () => useSyncExternalStore((w) => (watchers.add(w), () => void watchers.delete(w)), theme)
