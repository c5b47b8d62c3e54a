// Writes src/api/schema.d.ts from the OpenAPI document of a running system:
//   node schema.mjs http://localhost:8080          writes it
//   node schema.mjs http://localhost:8080 --check  ends with 1 when it differs
import openapi, { astToString } from "openapi-typescript"
import { readFileSync, writeFileSync } from "node:fs"

const [gateway = "http://localhost:8080", check] = process.argv.slice(2)
const answer = await fetch(gateway + "/v1/openapi.json")
if (!answer.ok) throw new Error(`${gateway} answered ${answer.status}`)
const document = await answer.json()
// An installation's own fields and address are not part of the contract.
delete document.servers
for (const name of ["ContactFields", "OrganizationFields"]) if (document.components.schemas[name]) document.components.schemas[name] = { type: "object", additionalProperties: true }
const text = "// Made by schema.mjs from the OpenAPI document of a running system. Do not change it by hand.\n\n" + astToString(await openapi(document))
const file = new URL("src/api/schema.d.ts", import.meta.url)
if (!check) writeFileSync(file, text)
else if (readFileSync(file, "utf8") !== text) {
  console.error("src/api/schema.d.ts is not what the running system describes: run make schema")
  process.exit(1)
}
