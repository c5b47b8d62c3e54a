// Texts in four languages. Each folder has text/<language>.json, whose keys begin with the folder's name; a screen's texts load
// with its program. English gives the keys their types, and texts.test.mjs holds the other languages to it.
import type booking from "@/booking/text/en.json"
import type contacts from "@/contacts/text/en.json"
import type forms from "@/forms/text/en.json"
import type settings from "@/settings/text/en.json"
import type webhooks from "@/webhooks/text/en.json"
import type kit from "./text/en.json"
import { once } from "./once"
import { start } from "./start"

type Texts = typeof kit & typeof contacts & typeof booking & typeof forms & typeof webhooks & typeof settings
type Plural<K> = K extends `${infer Base}_one` ? Base : never

/** The key of a text, or of a pair <key>_one and <key>_other. */
export type Key = (keyof Texts & string) | Plural<keyof Texts>
export type Folder = "kit" | "contacts" | "booking" | "forms" | "webhooks" | "settings"

export const languages = { en: "English", nl: "Nederlands", fr: "Français", de: "Deutsch" }
export const { language, locale } = start

const files = import.meta.glob<{ default: Record<string, string> }>("../*/text/*.json")
const texts: Record<string, string> = {}
const loaded = new Map<Folder, Promise<void>>()

/** Loads the texts of a folder in the person's language, once. */
export function loadTexts(folder: Folder): Promise<void> {
  let load = loaded.get(folder)
  if (!load) {
    load = files[folder === "kit" ? `./text/${language}.json` : `../${folder}/text/${language}.json`]!().then((m) => void Object.assign(texts, m.default))
    loaded.set(folder, load)
    load.catch(() => loaded.delete(folder))
  }
  return load
}

const plural = once(() => new Intl.PluralRules(language))

/** A text, with values for its {placeholders}; a number n chooses between _one and _other. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  let text = texts[key]
  if (text === undefined && typeof values.n === "number") text = texts[`${key}_${plural().select(values.n) === "one" ? "one" : "other"}`]
  text ??= key
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(`{${name}}`, () => (typeof value === "number" ? number(value) : value))
  return locale === "de-CH" ? text.replaceAll("ß", "ss") : text
}

/** The text of a key made at run time, such as "status." + status; fallback when the texts lack that key. */
export function tOr(key: string, fallback: string, values?: Record<string, string | number>): string {
  return key in texts || `${key}_other` in texts ? t(key as Key, values) : fallback
}

const numbers = once(() => new Intl.NumberFormat(locale))
/** A number as it is written in the language. Whole ones below a thousand look alike in all of ours, and need no format. */
export const number = (n: number) => (Number.isInteger(n) && Math.abs(n) < 1000 ? String(n) : numbers().format(n))
