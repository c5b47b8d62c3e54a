// The rules of HTML: html-validate knows which element may stand in which, the attributes of each, and what ids and labels lead to.
import { HtmlValidate, StaticConfigLoader } from "html-validate/node"

const rules = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }))

/** What is wrong in a document or a part of one. */
export async function wrong(name, html) {
  const { results } = await rules.validateString(html)
  return results.flatMap((r) => r.messages.map((m) => `${name}: ${m.ruleId}: ${m.message} at ${m.selector} in ${html.split("\n")[m.line - 1].slice(Math.max(0, m.column - 80), m.column + 120)}`))
}
