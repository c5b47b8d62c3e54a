// Lints the OpenAPI and the AsyncAPI document of the system in E2E_DATA_DIR, and runs the story by a TypeScript, a Go and a Python client that are generated from it.
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Parser } from "@asyncapi/parser"
import { Client, state, until } from "../browser/system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const work = join(here, "../../.run/clients")
const bin = (name) => join(here, "node_modules/.bin", name)

/** Runs a command to its end: its output. It throws the output if the command fails, unless fails is allowed. */
const run = (command, args, { cwd = here, env = {}, fails = false } = {}) =>
  new Promise((resolve, reject) => {
    let out = ""
    const p = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", fails ? "ignore" : "pipe"] })
    p.stdout.on("data", (d) => (out += d))
    p.stderr?.on("data", (d) => (out += d))
    p.once("error", reject)
    p.once("close", (code) => (code === 0 || fails ? resolve(out) : reject(new Error(`${command} ${args.join(" ")}\n${out}`))))
  })

async function step(name, f) {
  const begin = Date.now()
  await f()
  console.log(`${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`)
}

/** The findings of both linters' standard rules. The paths of the interface are given, and "/staff/invitations/{id}" goes before "/staff/{user}/access". */
async function lint(document) {
  const rules = join(work, "spectral.yaml")
  writeFileSync(rules, 'extends: ["spectral:oas"]\n')
  const [spectral, redocly] = await Promise.all([
    run(bin("spectral"), ["lint", "--ruleset", rules, "--fail-severity", "hint", document]),
    run(bin("redocly"), ["lint", "--extends=recommended", "--format=json", "--max-problems=1000", document], { fails: true, env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }),
  ])
  if (!/No results/.test(spectral)) throw new Error("Spectral: " + spectral)
  const { problems } = JSON.parse(redocly.slice(redocly.indexOf("{")))
  const found = problems.filter((p) => !(p.ruleId === "no-ambiguous-paths" && p.message.includes("`/staff/invitations/{id}` and `/staff/{user}/")))
  if (found.length) throw new Error("Redocly: " + JSON.stringify(found.slice(0, 5), null, 1))
}

/** The official parser reads the AsyncAPI document, its examples too, and finds nothing but that there is a 3.1 by now. */
async function events(api, described) {
  const { document, diagnostics } = await new Parser().parse(await (await fetch(api + "/asyncapi.json")).text())
  const found = diagnostics.filter((d) => d.code !== "asyncapi-latest-version")
  if (!document || found.length) throw new Error("AsyncAPI: " + JSON.stringify(found.slice(0, 5), null, 1))
  const sends = new Set(document.channels().all().map((c) => c.id()))
  const missing = Object.keys(described).filter((event) => !sends.has(event))
  if (missing.length) throw new Error("AsyncAPI has no channel of " + missing.join(", "))
}

/** Runs the curl lines of the guides as they stand there; each answers with JSON. */
async function guides(env) {
  const read = async (path) => (await fetch(state().gateway + path)).text()
  const addresses = [...(await read("/v1/docs")).matchAll(/href="(\/v1\/docs\/guides\/[^"]+)"/g)].map((m) => m[1])
  const pages = await Promise.all(addresses.map(read))
  const text = (html) => html.replaceAll("&#34;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
  const lines = pages.flatMap((page) => [...page.matchAll(/<pre data-run>([^]*?)<\/pre>/g)].map((m) => text(m[1])))
  if (pages.length < 9 || lines.length < 12) throw new Error("the guides have lost their curl lines")
  for (const line of lines) {
    const answer = JSON.parse(await run("bash", ["-c", line], { env }))
    const wanted = line.includes("per_page=1000") ? "svc_invalid_param" : undefined
    if (answer.code !== wanted) throw new Error(line + "\n" + JSON.stringify(answer))
  }
}

const samples = join(here, "../../services/settings/internal/settings/web/sample")

/** A port that nothing else takes while the system runs: it lies in the system's own block (deploy/local/README.md). There are four. */
const freePort = (i) => Number(new URL(state().gateway).port) + 16 + i

/** The receiver of the guides takes a test event, and refuses one with another signature. */
async function receiver(desk, port, command, args) {
  const url = `http://127.0.0.1:${port}/`
  const hook = await desk.post("/webhooks", { name: "Sample", url, active: true, events: ["contact.created"] })
  for (const file of ["receive.py", "receive.mjs"]) copyFileSync(join(samples, file), join(here, file)) // Node looks for libraries beside the file
  const p = spawn(command, args, { cwd: here, stdio: "inherit", env: { ...process.env, PORT: String(port), SECRET: hook.secret } })
  try {
    const forged = await until("the receiver", () =>
      fetch(url, { method: "POST", body: "{}", headers: { "webhook-id": "evt_1", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,AAAA" } }).catch(() => undefined))
    if (forged.status !== 400) throw new Error("a forged event is answered with " + forged.status)
    const sent = await desk.post(`/webhooks/${hook.webhook.id}/test`)
    if (sent.status !== "delivered") throw new Error("the event was not accepted: " + JSON.stringify(sent))
  } finally {
    p.kill()
    await desk.call("DELETE", `/webhooks/${hook.webhook.id}`)
    for (const file of ["receive.py", "receive.mjs"]) rmSync(join(here, file))
  }
}

const begin = Date.now()
mkdirSync(work, { recursive: true })
try {
  const login = await new Client().call("POST", "/auth/login", { login: "admin", password: process.env.SVC_ADMIN_PASSWORD })
  const person = new Client({ Cookie: login.headers.getSetCookie()[0].split(";")[0] })
  const me = await until("the session", () => person.get("/me").catch(() => undefined))
  const key = await person.post("/me/application-passwords", { name: "generated clients" })
  const api = state().gateway + "/v1"
  const env = { API: api, LOGIN: "admin", KEY: key.password, ME: String(me.user_id), MAILS: state().mail_page }
  // The document is whole once all services have announced themselves.
  const doc = await until("the document", async () => {
    const d = await (await fetch(api + "/openapi.json")).json()
    return ["/contacts", "/services", "/forms", "/webhooks"].every((p) => d.paths[p]) && d.webhooks?.["contact.created"] && d
  })
  doc.servers[0].url = "https://frontdesk.test/v1" // a linter refuses localhost
  const document = join(work, "openapi.json")
  writeFileSync(document, JSON.stringify(doc))

  const python = join(here, "python/frontdesk_client")
  await Promise.all([
    step("linters", () => lint(document)),
    step("the parser of AsyncAPI", () => events(api, doc.webhooks)),
    step("TypeScript is generated and compiled", async () => {
      await run(bin("openapi-typescript"), [document, "-o", "ts/api.d.ts"])
      await run(bin("tsc"), ["-p", "ts/tsconfig.json"])
    }),
    step("Go is generated and compiled", async () => {
      mkdirSync(join(here, "go/api"), { recursive: true })
      await run(process.env.OAPI_CODEGEN, ["-generate", "types,client", "-package", "api", "-o", "go/api/api.go", document])
      await run("go", ["build", "-o", join(work, "story"), "."], { cwd: join(here, "go"), env: { GOWORK: "off", GOFLAGS: "-mod=readonly -buildvcs=false -trimpath" } })
    }),
    run("go", ["build", "-o", join(work, "receive"), "./services/settings/internal/settings/web/sample/go"], { cwd: join(here, "../..") }),
    step("Python is generated", async () => {
      rmSync(python, { recursive: true, force: true })
      const said = await run("openapi-python-client", ["generate", "--path", document, "--output-path", python, "--meta", "none", "--config", join(here, "python/generator.yml")])
      // The generator knows no bodies of pictures, and takes the form with a file that stands beside them.
      const pictures = /WARNING parsing POST \/media within pictures\.\s+Unsupported content type image\/\w+/g
      const rest = said.replaceAll(pictures, "").replace("Warning(s) encountered while generating.", "")
      if (/warning|unable|error/i.test(rest)) throw new Error(said)
    }),
  ])
  // One after the other, because each switches booking off and on again.
  await step("TypeScript's story", () => run(process.execPath, ["ts/out/story.js"], { env }))
  await step("Go's story", () => run(join(work, "story"), [], { env }))
  await step("Python's story", () => run("python", ["story.py"], { cwd: join(here, "python"), env }))
  await step("the curl lines of the guides", () => guides(env))
  for (const [i, [name, command, args]] of [["Go", join(work, "receive"), []], ["Python", "python", ["receive.py"]], ["Node", process.execPath, ["receive.mjs"]]].entries())
    await step(`the receiver in ${name}`, () => receiver(new Client({ Authorization: "Basic " + btoa(`admin:${key.password}`) }), freePort(i), command, args))
  console.log(`all of it: ${((Date.now() - begin) / 1000).toFixed(0)} s`)
} catch (e) {
  console.error(e)
  process.exitCode = 1
}
