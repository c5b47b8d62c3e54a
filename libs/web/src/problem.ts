// why says in the visitor's language how to put an answer right. The same rule as Reader.Why in field.go.
import type { T } from "./text"

/** A problem as the API names it in data.details: a code and facts. */
export type Problem = { code: string } & Record<string, any>
/** Problems by the name of the parameter. */
export type Problems = Record<string, Problem>

const required: Record<string, string> = { consent: "tick", checkbox: "tick", dropdown: "not_one_of", choices: "not_one_of" }

export function why(p: Problem, kind: string, t: T): string {
  const key = "error_" + ((p.code === "required" && required[kind]) || p.code)
  const text = t(key, p)
  return text === key ? t("error_other") : text
}

/** The name of an answer's problem without its prefix: an element's id or target. */
export const keyOf = (name: string) => name.replace(/^values\./, "")
