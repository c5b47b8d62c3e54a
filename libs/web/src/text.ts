export type Texts = Record<string, string>

export const languages = ["en", "nl", "fr", "de"]

/** The language of a widget: its lang attribute, else the page's, else the browser's, else English. */
export function languageOf(element: Element): string {
  const wanted = [element.getAttribute("lang"), element.closest("[lang]")?.getAttribute("lang"), ...navigator.languages]
  for (const w of wanted) {
    const short = (w ?? "").slice(0, 2).toLowerCase()
    if (languages.includes(short)) return short
  }
  return "en"
}

/** Makes the function that gives texts: a key, and values for its {placeholders}; a number n chooses between _one and _other. */
export function reader(texts: Texts, language: string, swiss = false) {
  return (key: string, values?: Record<string, string | number>): string => {
    let text = texts[key]
    if (text === undefined && values && typeof values["n"] === "number") {
      const n = values["n"]
      text = texts[key + (n === 1 || (n === 0 && language === "fr") ? "_one" : "_other")]
    }
    text ??= key
    for (const [name, value] of Object.entries(values ?? {})) text = text.replaceAll(`{${name}}`, () => String(value))
    return swiss ? text.replaceAll("ß", "ss") : text
  }
}

export type T = ReturnType<typeof reader>

/** The full locale: the language as it is written in the country of the business. The same rule as in Go. */
export function localeOf(language: string, country: string): string {
  const spoken: Record<string, string[]> = { en: ["GB"], nl: ["NL", "BE"], fr: ["FR", "BE", "CH"], de: ["DE", "AT", "CH", "BE"] }
  const places = spoken[language] ?? ["GB"]
  return `${language}-${places.includes(country) ? country : places[0]}`
}
