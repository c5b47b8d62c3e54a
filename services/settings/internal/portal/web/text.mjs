// Holds the languages to English: the same keys in the same order with the same placeholders, and one word for one thing.
// Ends with 1 when they differ.
import { readdirSync, readFileSync } from "node:fs"

const src = new URL("src/", import.meta.url)
const read = (folder, language) => JSON.parse(readFileSync(new URL(`${folder}/text/${language}.json`, src)))
const holes = (text) => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort().join()
/** What people know by one word on every screen: in English, and then in each language. */
const words = [
  ["tags?", { nl: "labels?", fr: "étiquettes?", de: "schlagw(ort|örter)" }],
  ["appointments?", { nl: "afspra(ak|ken)", fr: "rendez-vous", de: "termine?" }],
  ["submissions?", { nl: "inzendingen|inzending", fr: "envois?|réponses?", de: "einsendung" }],
  ["organizations?", { nl: "organisatie", fr: "organisation", de: "organisation" }],
  ["tasks?", { nl: "ta(ak|ken)", fr: "tâches?", de: "aufgabe" }],
  ["notes?", { nl: "notitie", fr: "notes?", de: "notiz" }],
  ["fields?", { nl: "veld", fr: "champ", de: "feld" }],
  ["clients?", { nl: "klant", fr: "client", de: "kund" }],
  ["timeline", { nl: "tijdlijn", fr: "historique", de: "verlauf" }],
  ["trash", { nl: "prullenbak", fr: "corbeille", de: "papierkorb" }],
  ["colleagues?", { nl: "collega", fr: "collègue", de: "kolleg" }],
  ["passwords?", { nl: "wachtwoord", fr: "mots? de passe", de: "passw" }],
  ["closures?", { nl: "sluiting", fr: "fermeture", de: "schließ" }],
  ["approvals?", { nl: "goedkeuring", fr: "accord", de: "freigabe" }],
  // With a large letter it is the name of a program.
  ["calendars?", { nl: "agenda", fr: "agenda", de: "kalender" }, ""],
].map(([english, of, flags = "i"]) => [new RegExp(`(?<![\\w{./-])(${english})(?![\\w}/-])`, flags), Object.fromEntries(Object.entries(of).map(([language, word]) => [language, new RegExp(word, "i")]))])
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
    if (!["kit", "parts"].includes(folder) && !key.startsWith(folder + ".")) say(`${folder}/text/en.json: ${key} has to begin with "${folder}."`)
  }
  for (const language of ["nl", "fr", "de"]) {
    const other = read(folder, language)
    const at = `${folder}/text/${language}.json`
    for (const key of Object.keys(english)) {
      if (!(key in other)) {
        say(`${at}: ${key} is missing`)
        continue
      }
      if (holes(other[key]) !== holes(english[key])) say(`${at}: ${key} has other placeholders than English`)
      for (const [word, of] of words) if (word.test(english[key]) && !of[language].test(other[key])) say(`${at}: ${key} has another word than ${of[language]} for what English calls ${word.exec(english[key])[0]}`)
    }
    for (const key of Object.keys(other)) if (!(key in english)) say(`${at}: ${key} is not in English`)
  }
}
process.exit(wrong > 0 ? 1 : 0)
