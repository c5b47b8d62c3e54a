// Writes src/api/schema.d.ts and src/api/limits.ts from the OpenAPI document of a running system:
//   node schema.mjs http://localhost:8080          writes them
//   node schema.mjs http://localhost:8080 --check  ends with 1 when they differ
import openapi, { astToString } from "openapi-typescript"
import { readFileSync, writeFileSync } from "node:fs"

const [gateway = "http://localhost:8080", check] = process.argv.slice(2)
const answer = await fetch(gateway + "/v1/openapi.json")
if (!answer.ok) throw new Error(`${gateway} answered ${answer.status}`)
const document = await answer.json()
// An installation's own fields and address are not part of the contract.
delete document.servers
for (const name of ["ContactFields", "OrganizationFields"]) if (document.components.schemas[name]) document.components.schemas[name] = { type: "object", additionalProperties: true }
// What a person does waits for nobody.
for (const { responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) if (responses?.[202]?.$ref?.endsWith("/ApprovalNeeded")) delete responses[202]
const head = "// Made by schema.mjs from the OpenAPI document of a running system. Do not change it by hand.\n\n"

/** The limits of a body's parameters by their names, such as business.name or elements.*.label: as attributes of an input. */
function limitsOf(schema, at = "", found = {}) {
  const s = schema.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema
  const own = [s, ...(s.anyOf ?? []), ...(s.oneOf ?? [])].find((x) => x.maxLength || x.minimum !== undefined || x.maximum !== undefined)
  const { maxLength, minimum: min, maximum: max } = own ?? {}
  if (at && own) found[at] = maxLength ? { maxLength } : { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  for (const [name, property] of Object.entries(s.properties ?? {})) if (at.split(".").length < 4) limitsOf(property, at ? `${at}.${name}` : name, found)
  if (s.items) limitsOf(s.items, `${at}.*`, found)
  return found
}
const words = (name) => name.replace(/-(\w)/g, (_, c) => c.toUpperCase())
const limits = Object.values(document.paths).flatMap((methods) => Object.values(methods)).flatMap(({ operationId, requestBody }) => {
  const schema = requestBody?.content["application/json"]?.schema
  const found = schema ? limitsOf(schema) : {}
  return Object.keys(found).length > 0 ? [[words(operationId), found]] : []
})
const files = {
  "schema.d.ts": head + astToString(await openapi(structuredClone(document))),
  "limits.ts": head + limits.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, found]) => `export const ${name} = ${JSON.stringify(found)}\n`).join(""),
}
for (const [name, text] of Object.entries(files)) {
  const file = new URL("src/api/" + name, import.meta.url)
  if (!check) writeFileSync(file, text)
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/api/${name} is not what the running system describes: run make schema`)
    process.exitCode = 1
  }
}
