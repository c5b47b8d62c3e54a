// Sets a business up in the system of E2E_DATA_DIR, and runs the tests beside this file against it: those in JavaScript, then those in Python.
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Client, known, setUp, state } from "../browser/system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const wanted = process.argv.slice(2)
const run = (command, args, env) =>
  new Promise((resolve) => spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env } }).once("close", (code) => resolve(code ?? 1)))

const desk = await setUp()
const key = await desk.person.post("/me/application-passwords", { name: "assistant", assistant: true })
const basic = "Basic " + Buffer.from("admin:" + key.password).toString("base64")
await known(new Client({ Authorization: basic }))
const env = {
  MCP_URL: state().public_url + "/mcp",
  MCP_KEY: basic,
  MCP_DESK: JSON.stringify({ user: desk.user, intake: desk.intake.id, followUp: desk.followUp.id, login: "admin", password: process.env.SVC_ADMIN_PASSWORD }),
}
let code = 0
const files = readdirSync(here).filter((f) => f.endsWith(".test.mjs") && (wanted.length === 0 || wanted.some((w) => f.startsWith(w))))
for (const file of files) code = (await run(process.execPath, ["--test", "--test-reporter=spec", join(here, file)], env)) || code
if (wanted.length === 0 || wanted.includes("story.py")) code = (await run(process.env.PYTHON, [join(here, "story.py")], env)) || code
process.exit(code)
