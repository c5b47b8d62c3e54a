// Where the portal leads. The table of the screens (app/screens.ts) says what there is.
import { useRouter } from "@tanstack/react-router"
import type { LucideIcon } from "lucide-react"
import { can, on, type AppID, type Capability } from "./start"
import type { Key } from "./text"

/** When something exists: while its app is on, for people with the permission, who see the records of everybody if sees is "all". */
export type Terms = { app?: AppID; can?: Capability; sees?: "all" }

export const isOpen = (terms: Terms) => on(terms.app) && can(terms.can, terms.sees)

/** The headings of the navigation. */
export const groups = ["day", "people", "site", "settings"] as const
export type Group = (typeof groups)[number]

/** A screen that has a name, and its group in the navigation if it stands there. */
export type Place = { to: string; label: Key; icon: LucideIcon; menu?: Group }

/** The screens that this person has. */
export const usePlaces = (): Place[] => useRouter().options.context.places

/** What the palette finds: where it leads, and what it does. */
export type Hit = { id: string; title: string; detail?: string; icon: LucideIcon; to?: string; params?: Record<string, string>; run?: () => void }

/** A source of the palette: records that fit the words, the best first. */
export type Source = Terms & {
  label: Key
  find: (words: string, signal: AbortSignal) => Promise<Hit[]>
}
