// Lints the OpenAPI and the AsyncAPI document of the system in E2E_DATA_DIR, builds the SDKs from it, and runs with them the story, the lines of
// the guides and the receivers of events. "run.mjs pack FOLDER" writes the packages, "run.mjs install FOLDER" installs them into empty projects.
import { spawn } from "node:child_process"
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Parser } from "@asyncapi/parser"
import { Client, known, state, until } from "../browser/system.mjs"
import { bin, build, here, run, samples, work } from "./build.mjs"
import { install, pack } from "./packages.mjs"
import { unsteady } from "./unsteady.mjs"

async function step(name, f) {
  const begin = Date.now()
  await f()
  console.log(`${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`)
}

/**
 * The findings of both linters' standard rules. The paths of the interface are given, and "/staff/invitations/{id}" goes before "/staff/{user}/access".
 * Redocly does not see that x-rehearsal refers to Rehearsal.
 */
async function lint(document) {
  const rules = join(work, "spectral.yaml")
  writeFileSync(rules, 'extends: ["spectral:oas"]\n')
  const [spectral, redocly] = await Promise.all([
    run(bin("spectral"), ["lint", "--ruleset", rules, "--fail-severity", "hint", document]),
    run(bin("redocly"), ["lint", "--extends=recommended", "--format=json", "--max-problems=1000", document], { fails: true, env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }),
  ])
  if (!/No results/.test(spectral)) throw new Error("Spectral: " + spectral)
  const { problems } = JSON.parse(redocly.slice(redocly.indexOf("{")))
  const given = (p) =>
    (p.ruleId === "no-ambiguous-paths" && p.message.includes("`/staff/invitations/{id}` and `/staff/{user}/")) ||
    (p.ruleId === "no-unused-components" && p.message.includes('"Rehearsal"'))
  const found = problems.filter((p) => !given(p))
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


/** A story by way of a gateway that loses answers: nothing was done twice, and nothing was asked for sooner than allowed. */
async function story(desk, env, name, command, args, options) {
  const gateway = await unsteady(state().gateway)
  try {
    await run(command, args, { ...options, env: { ...options?.env, ...env, API: gateway.url + "/v1" } })
    const made = (await desk.get("/services")).items.filter((s) => s.name === "Consultation by " + name)
    if (made.length !== 1) throw new Error(`${made.length} services were made`)
    gateway.check()
  } finally {
    gateway.close()
  }
}

const begin = Date.now()
const [what, folder] = process.argv.slice(2)
try {
  const login = await new Client().call("POST", "/auth/login", { login: "admin", password: process.env.SVC_ADMIN_PASSWORD })
  const person = await known(new Client({ Cookie: login.headers.getSetCookie()[0].split(";")[0] }))
  const me = await person.get("/me")
  const key = await person.post("/me/application-passwords", { name: "generated clients" })
  const desk = await known(new Client({ Authorization: "Basic " + btoa(`admin:${key.password}`) }))
  const api = state().gateway + "/v1"
  const env = { API: api, LOGIN: "admin", KEY: key.password, ME: String(me.user_id), MAILS: state().mail_page, FRONTDESK_URL: api, FRONTDESK_LOGIN: "admin", FRONTDESK_KEY: key.password }
  // The document is whole once all services have announced themselves.
  const doc = await until("the document", async () => {
    const d = await (await fetch(api + "/openapi.json")).json()
    return ["/contacts", "/services", "/forms", "/webhooks"].every((p) => d.paths[p]) && d.webhooks?.["contact.created"] && d
  })
  doc.servers[0].url = "https://frontdesk.test/v1" // a linter refuses localhost
  const document = join(work, "openapi.json")
  writeFileSync(document, JSON.stringify(doc))

  if (what === "pack") {
    await Promise.all(Object.values(build(doc)))
    await pack(folder)
  } else if (what === "install") {
    await desk.post("/services", { name: "Consultation", duration_min: 30, bookable_online: true, staff: [me.user_id] })
    await desk.call("PUT", `/staff/${me.user_id}/hours`, { hours: Object.fromEntries(["1", "2", "3", "4", "5", "6", "7"].map((day) => [day, [["09:00", "17:00"]]])) })
    await install(folder, env)
    const { items } = await desk.get("/appointments?search=Lovelace")
    if (items.length !== 3) throw new Error(`${items.length} of 3 packages booked`)
  } else {
    const built = build(doc)
    await Promise.all([
      step("linters", () => lint(document)),
      step("the parser of AsyncAPI", () => events(api, doc.webhooks)),
      step("TypeScript is generated and compiled", () => built.ts),
      step("Go is generated and compiled", () => built.go),
      run("go", ["build", "-o", join(work, "receive"), "./services/settings/internal/settings/web/sample/go"], { cwd: join(here, "../..") }),
      step("Python is generated", () => built.python),
    ])
    // One after the other, because each switches booking off and on again.
    const python = { cwd: join(here, "python") }
    await step("TypeScript's story", () => story(desk, env, "TypeScript", process.execPath, ["ts/dist/story.js"]))
    await step("Go's story", () => story(desk, env, "Go", join(work, "story"), []))
    await step("Python's story", () => story(desk, env, "Python", "python", ["story.py"], python))
    await step("the curl lines of the guides", () => guides(env))
    await step("the lines of the guides in TypeScript, Go and Python", () =>
      Promise.all([run(process.execPath, ["ts/dist/sample.js"], { env }), run(join(work, "sample"), [], { env }), run("python", ["-c", readFileSync(join(samples, "sdk/desk.py"), "utf8")], { ...python, env })]))
    for (const [i, [name, command, args]] of [["Go", join(work, "receive"), []], ["Python", "python", ["receive.py"]], ["Node", process.execPath, ["receive.mjs"]]].entries())
      await step(`the receiver in ${name}`, () => receiver(desk, freePort(i), command, args))
  }
  console.log(`all of it: ${((Date.now() - begin) / 1000).toFixed(0)} s`)
} catch (e) {
  console.error(e)
  process.exitCode = 1
}
