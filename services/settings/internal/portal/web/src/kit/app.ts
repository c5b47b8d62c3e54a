// What a folder adds to the portal. Each folder's app.ts exports its places in the navigation; its routes.ts the routes.
import type { LucideIcon } from "lucide-react"
import type { AppID, Capability } from "./start"
import type { Key } from "./text"

/** When something exists: while its app is on, for people with the permission, who see the records of everybody if sees is "all". */
export type Terms = { app?: AppID; can?: Capability; sees?: "all" }

/** A screen in the navigation and the palette. */
export type Place = Terms & {
  to: string
  label: Key
  icon: LucideIcon
  /** The heading in the navigation under which it stands. */
  group: "day" | "people" | "site" | "settings"
}

/** What the palette finds. */
export type Hit = { id: string; title: string; detail?: string; icon: LucideIcon; to: string; params?: Record<string, string> }

/** A source of the palette: records that fit the words, the best first. */
export type Source = Terms & {
  label: Key
  find: (words: string, signal: AbortSignal) => Promise<Hit[]>
}
