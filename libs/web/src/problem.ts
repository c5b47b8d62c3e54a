// What is wrong with a value, in words.
import type { T } from "./text"

/** A problem as the API names it in data.details: a code and facts. */
export type Problem = { code: string } & Record<string, any>
/** Problems by the name of the parameter. */
export type Problems = Record<string, Problem>

/** The text of the first key that has one, with the problem's facts in its placeholders. */
export const inWords = (t: T, p: Problem, ...keys: string[]) => keys.map((key) => [key, t(key, p)]).find(([key, text]) => text !== key)?.[1]

const required: Record<string, string> = { consent: "tick", checkbox: "tick", dropdown: "not_one_of", choices: "not_one_of" }

/** How a visitor puts an answer right. The same rule as Reader.Why in field.go. */
export const why = (p: Problem, kind: string, t: T) => inWords(t, p, "error_" + ((p.code === "required" && required[kind]) || p.code), "error_other")!

/** The name of an answer's problem without its prefix: an element's id or target. */
export const keyOf = (name: string) => name.replace(/^values\./, "")
