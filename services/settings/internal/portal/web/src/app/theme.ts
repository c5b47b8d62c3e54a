import { useSyncExternalStore } from "react"

/** Keeps what the person chose in a cookie of a year: the server writes the page in that language and theme. */
export const choose = (name: "language" | "theme", value: string) => {
  document.cookie = `svc_${name}=${value}; path=/; max-age=${value ? 365 * 86_400 : 0}; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`
}

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
