// The properties of a form style, from the one list of them (libs/look).
import list from "@/../../../../../../libs/look/look.json"

export type Property = { name: string; kind: string; low?: number; high?: number; values?: string[] }

export const properties: Property[] = list.properties
export const fonts: Record<string, string> = list.fonts

/** The values that a property can have, of those that are neither numbers nor colours. */
export const valuesOf = (name: string): string[] => properties.find((p) => p.name === name)?.values ?? []
