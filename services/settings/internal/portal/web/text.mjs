// Holds the languages to English: the same keys in the same order with the same placeholders. Ends with 1 when they differ.
import { readdirSync, readFileSync } from "node:fs"

const src = new URL("src/", import.meta.url)
const read = (folder, language) => JSON.parse(readFileSync(new URL(`${folder}/text/${language}.json`, src)))
const holes = (text) => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort().join()
let wrong = 0
const say = (text) => (console.error(text), wrong++)

for (const folder of readdirSync(src)) {
  let english
  try {
    english = read(folder, "en")
  } catch {
    continue // a folder without texts
  }
  for (const key of Object.keys(english)) {
    if (folder !== "kit" && !key.startsWith(folder + ".")) say(`${folder}/text/en.json: ${key} has to begin with "${folder}."`)
  }
  for (const language of ["nl", "fr", "de"]) {
    const other = read(folder, language)
    const at = `${folder}/text/${language}.json`
    for (const key of Object.keys(english)) {
      if (!(key in other)) say(`${at}: ${key} is missing`)
      else if (holes(other[key]) !== holes(english[key])) say(`${at}: ${key} has other placeholders than English`)
    }
    for (const key of Object.keys(other)) if (!(key in english)) say(`${at}: ${key} is not in English`)
  }
}
process.exit(wrong > 0 ? 1 : 0)
