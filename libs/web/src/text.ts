export type Texts = Record<string, string>

/** Our languages, with the countries in whose way they are written; the first is that of businesses elsewhere. */
const spoken: Record<string, string[]> = { en: ["GB"], nl: ["NL", "BE"], fr: ["FR", "BE", "CH"], de: ["DE", "AT", "CH", "BE"] }

/** The language of a widget: its lang attribute, else the page's, else the browser's, else English. */
export function languageOf(element: Element): string {
  const wanted = [element.getAttribute("lang"), element.closest("[lang]")?.getAttribute("lang"), ...navigator.languages]
  for (const w of wanted) {
    const short = (w ?? "").slice(0, 2).toLowerCase()
    if (spoken[short]) return short
  }
  return "en"
}

/**
 * Makes the function that gives texts: a key, and values for its {placeholders}, as show writes them; a number n chooses between _one and _other. A key
 * without a text stands for itself.
 */
export const reader =
  (texts: Texts, language: string, swiss = false, show: (value: any) => string = String) =>
  (key: string, values: Record<string, any> = {}): string => {
    const { n } = values
    const one = n === 1 || (language === "fr" && n >= 0 && n < 2)
    let text = (texts[key] ?? (typeof n === "number" && texts[key + (one ? "_one" : "_other")])) || key
    for (const name in values) text = text.replaceAll(`{${name}}`, () => show(values[name]))
    return swiss ? text.replaceAll("ß", "ss") : text
  }

export type T = ReturnType<typeof reader>

/** The full locale: the language as it is written in the country of the business. The same rule as in Go. */
export function localeOf(language: string, country: string): string {
  const places = spoken[language] ?? ["GB"]
  return `${language}-${places.includes(country) ? country : places[0]}`
}
