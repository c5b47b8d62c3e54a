// Texts in four languages. English gives the keys their types, and text.mjs holds the other languages to it.
import { once } from "./once"
import { start } from "./start"
import { reader } from "@/../../../../../../libs/web/src/text"

import type kit from "./text/en.json"

/** The texts of all folders by key; app/texts.ts adds those of the folders of screens. */
export interface Texts extends Kit {}
type Kit = typeof kit
type Plural<K> = K extends `${infer Base}_one` ? Base : never

/** The key of a text, or of a pair <key>_one and <key>_other. */
export type Key = (keyof Texts & string) | Plural<keyof Texts>

export const languages = { en: "English", nl: "Nederlands", fr: "Français", de: "Deutsch" }
export const { language, locale } = start

const texts: Record<string, string> = {}

/** Adds texts that have loaded. */
export const addTexts = (more: Record<string, string>) => void Object.assign(texts, more)

const numbers = once(() => new Intl.NumberFormat(locale))
/** A number as it is written in the language. Whole ones below a thousand look alike in all of ours, and need no format. */
export const number = (n: number) => (Number.isInteger(n) && Math.abs(n) < 1000 ? String(n) : numbers().format(n))

const show = (value: unknown): string => (typeof value === "number" ? number(value) : Array.isArray(value) ? value.join(", ") : String(value))
const read = reader(texts, language, locale === "de-CH", show)

/** A text, with values for its {placeholders}; a number n chooses between _one and _other. */
export const t: (key: Key, values?: Record<string, string | number>) => string = read

/** The text of a key made at run time, such as "status." + status; fallback when the texts lack that key. */
export function tOr(key: string, fallback: string, values?: Record<string, string | number>): string {
  const text = read(key, values)
  return text === key ? fallback : text
}
