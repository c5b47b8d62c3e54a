// The nodes in a real n8n, beside a real system; and each action of the node against the system, without n8n around it.
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { createHmac } from "node:crypto"
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { after, before, test } from "node:test"
import { Client, ripe, setUp, sql, state, until } from "../../browser/system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const folder = join(here, "..")
const dir = mkdtempSync(join(tmpdir(), "frontdesk-n8n-"))
/** A port of the system's own block (deploy/local/README.md). */
const port = (i) => Number(new URL(state().gateway).port) + 16 + i
const url = `http://127.0.0.1:${port(0)}`

let desk, key, n8n, rest, credential
before(async () => {
  desk = await setUp()
  key = (await desk.person.post("/me/application-passwords", { name: "n8n" })).password
})
after(() => {
  n8n?.kill("SIGKILL")
  rmSync(dir, { recursive: true, force: true })
})

/** Installs the package as n8n does, and starts n8n on a database beside ours: rest(method, path, body) calls what its screens call. */
async function start() {
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", dir], { cwd: folder, encoding: "utf8" })
  assert.equal(packed.status, 0, packed.stderr)
  const nodes = join(dir, ".n8n/nodes/node_modules/n8n-nodes-frontdesk")
  mkdirSync(nodes, { recursive: true })
  assert.equal(spawnSync("tar", ["-xzf", join(dir, packed.stdout.trim()), "-C", nodes, "--strip-components=1"]).status, 0)
  sql("create database n8n")
  const db = new URL(state().database_url)
  n8n = spawn(process.execPath, [join(process.env.N8N, "node_modules/n8n/bin/n8n"), "start"], { env: { ...process.env, N8N_USER_FOLDER: dir, N8N_PORT: String(port(0)), N8N_LISTEN_ADDRESS: "127.0.0.1", WEBHOOK_URL: url + "/",
    N8N_ENCRYPTION_KEY: "of a test", N8N_DIAGNOSTICS_ENABLED: "false", N8N_VERSION_NOTIFICATIONS_ENABLED: "false", N8N_TEMPLATES_ENABLED: "false", N8N_PERSONALIZATION_ENABLED: "false", N8N_RUNNERS_BROKER_PORT: String(port(1)),
    N8N_SECURE_COOKIE: "false", DB_TYPE: "postgresdb", DB_POSTGRESDB_HOST: db.hostname, DB_POSTGRESDB_PORT: db.port, DB_POSTGRESDB_USER: decodeURIComponent(db.username), DB_POSTGRESDB_PASSWORD: decodeURIComponent(db.password), DB_POSTGRESDB_DATABASE: "n8n" }, stdio: ["ignore", "pipe", "pipe"] })
  const log = createWriteStream(join(dir, "log"))
  n8n.stdout.pipe(log)
  n8n.stderr.pipe(log)
  const ended = new Promise((_, reject) => n8n.once("exit", () => reject(new Error("n8n ended:\n" + readFileSync(join(dir, "log"), "utf8").slice(-3000)))))
  ended.catch(() => {})
  await Promise.race([ended, until("n8n", () => fetch(url + "/healthz/readiness").then((a) => a.ok, () => false), 240)])
  let cookie = ""
  rest = async (method, path, body) => {
    const answer = await fetch(url + "/rest" + path, { method, headers: { "Content-Type": "application/json", "browser-id": "test", Cookie: cookie }, body: body && JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    cookie = answer.headers.getSetCookie().map((c) => c.split(";")[0]).find((c) => c.startsWith("n8n-auth=")) ?? cookie
    return text ? JSON.parse(text).data : undefined
  }
  await until("the owner", () => rest("POST", "/owner/setup", { email: "owner@example.com", firstName: "Own", lastName: "Er", password: "Correct1horse" }).catch((e) => (/404|400/.test(e.message) ? undefined : Promise.reject(e))), 60)
}

const node = (name, type, parameters, x) => ({ id: name, name, type, typeVersion: 1, position: [x, 0], parameters, ...(type.startsWith("n8n-nodes-frontdesk") ? { credentials: { frontdeskApi: { id: credential.id, name: credential.name } } } : {}) })
const chain = (...nodes) => Object.fromEntries(nodes.slice(0, -1).map((n, i) => [n.name, { main: [[{ node: nodes[i + 1].name, type: "main", index: 0 }]] }]))

/** Makes a workflow of nodes in a row, and switches it on. off() switches it off. */
async function workflow(name, ...nodes) {
  const made = await rest("POST", "/workflows", { name, nodes, connections: chain(...nodes), settings: { executionOrder: "v1" }, active: false })
  await rest("POST", `/workflows/${made.id}/activate`, { versionId: made.versionId })
  return { id: made.id, off: () => rest("POST", `/workflows/${made.id}/deactivate`) }
}

async function visit(email) {
  const free = await new Client().get(`/booking/slots?service=${desk.intake.id}`)
  await ripe(Date.now())
  await new Client().post("/booking/book", { service: desk.intake.id, starts_at: free.items[Math.floor(free.items.length / 2)].starts_at, token: free.token, hp_url: "", page: "", values: { email, first_name: "Ada" } })
}

test("a visitor books, the flow runs, and a note stands at the contact", { timeout: 400_000 }, async () => {
  await start()
  const data = { address: desk.gateway, login: "admin", password: key }
  credential = await rest("POST", "/credentials", { name: "Desk", type: "frontdeskApi", data })
  const tried = async (more) => (await rest("POST", "/credentials/test", { credentials: { id: credential.id, name: "Desk", type: "frontdeskApi", data: { ...data, ...more } } })).status
  assert.equal(await tried({}), "OK")
  assert.equal(await tried({ password: "wrong" }), "Error")

  const trigger = node("When booked", "n8n-nodes-frontdesk.frontdeskTrigger", { events: ["appointment.booked"] }, 0)
  trigger.webhookId = "5a1f6f1e-6f5c-4a3b-9f0e-0c1d2e3f4a5b"
  const note = node("Note", "n8n-nodes-frontdesk.frontdesk", { resource: "contact", operation: "addNote", id: "={{ $json.data.appointment.contact.id }}", body: "=A flow saw {{ $json.data.appointment.service.name }}" }, 200)
  const flow = await workflow("Bookings", trigger, note)
  const ours = async () => (await desk.admin.get("/webhooks")).items.filter((w) => w.url.startsWith(url))
  const [hook] = await ours()
  assert.deepEqual(hook.events, ["appointment.booked"])
  assert.equal(hook.name, "n8n: Bookings")

  await visit("ada@n8n.example")
  const ada = await until("the contact", async () => (await desk.admin.get("/contacts?search=ada@n8n.example")).items[0])
  const notes = async () => (await desk.admin.get(`/contacts/${ada.id}/activities?type=note`)).items.filter((a) => a.body === "A flow saw " + desk.intake.name).length
  await until("the note", notes, 60)

  const executions = async () => (await rest("GET", "/executions?filter=" + encodeURIComponent(JSON.stringify({ workflowId: flow.id })))).results.length
  assert.equal(await executions(), 1)
  const forged = await fetch(hook.url, { method: "POST", headers: { "Content-Type": "application/json", "X-Svc-Signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` }, body: JSON.stringify({ id: "evt_x", event: "appointment.booked", data: {} }) })
  assert.equal(forged.status, 401)
  const [delivery] = (await desk.admin.get(`/webhooks/${hook.id}/deliveries`)).items
  assert.equal((await desk.admin.post(`/webhook-deliveries/${delivery.id}/resend`)).status, "delivered")
  assert.equal(await executions(), 1, "neither a forged event nor a second delivery runs the flow")
  assert.equal(await notes(), 1)

  await flow.off()
  assert.deepEqual(await ours(), [], "the webhook goes with the flow")
})

test("a flow reads more contacts than one page has, and says what was refused", { timeout: 120_000 }, async () => {
  for (let n = 0; n < 105; n++) await desk.admin.post("/contacts", { first_name: `Many ${n}`, source: "n8n" })
  const asked = (path) => ({ ...node("Asked", "n8n-nodes-base.webhook", { path, httpMethod: "GET", responseMode: "lastNode", responseData: "allEntries", options: {} }, 0), typeVersion: 2, webhookId: path })
  const many = await workflow("Many", asked("many"), node("All", "n8n-nodes-frontdesk.frontdesk", { resource: "contact", operation: "getAll", returnAll: true, more: { search: "Many" } }, 200))
  const found = await (await fetch(url + "/webhook/many")).json()
  assert.equal(new Set(found.map((c) => c.id)).size, 105)
  await many.off()
  const wrong = await workflow("Wrong", asked("wrong"), { ...node("Task", "n8n-nodes-frontdesk.frontdesk", { resource: "task", operation: "create", title: "Call", more: { due_on: "someday" } }, 200), onError: "continueRegularOutput" })
  const [said] = await (await fetch(url + "/webhook/wrong")).json()
  assert.equal(said.code, "svc_invalid_param", JSON.stringify(said))
  await wrong.off()
})

const built = (file) => createRequire(import.meta.url)("../dist/nodes/" + file)

/** A node's context without n8n, whose requests go to our system. */
const caller = () => ({
  getNode: () => ({ name: "Frontdesk", type: "frontdesk", typeVersion: 1, position: [0, 0], parameters: {} }),
  getCredentials: async () => ({ address: desk.gateway + "/", login: "admin", password: key }),
  helpers: { async httpRequestWithAuthentication(_, { method, url, qs, headers, body }) {
    const at = new URL(url)
    for (const [name, value] of Object.entries(qs)) for (const one of [value].flat()) at.searchParams.append(name, one)
    const answer = await fetch(at, { method, headers: { ...headers, ...(body ? { "Content-Type": "application/json" } : {}), Authorization: "Basic " + btoa("admin:" + key) }, body: body && JSON.stringify(body) })
    const text = await answer.text()
    return { statusCode: answer.status, headers: {}, body: text ? JSON.parse(text) : undefined }
  } },
})

test("the trigger knows its webhook again, and makes one that has changed or gone anew", async () => {
  const { FrontdeskTrigger, signed } = built("FrontdeskTrigger/FrontdeskTrigger.node.js")
  const kept = {}
  let events = ["contact.created", "contact.deleted"]
  const { checkExists, create, delete: remove } = new FrontdeskTrigger().webhookMethods.default
  const call = (f) => f.call({ ...caller(), getWorkflowStaticData: () => kept, getNodeWebhookUrl: () => `http://127.0.0.1:${port(2)}/hook`, getNodeParameter: () => events, getWorkflow: () => ({ name: "Again" }) })
  const ours = async () => (await desk.admin.get("/webhooks")).items.filter((w) => w.name === "n8n: Again").map((w) => w.events.join())
  assert.equal(await call(checkExists), false)
  await call(create)
  events = events.toReversed()
  assert.equal(await call(checkExists), true)
  events = ["contact.created"]
  assert.equal(await call(checkExists), false)
  await call(create)
  assert.deepEqual(await ours(), ["contact.created"])
  await desk.admin.call("DELETE", `/webhooks/${kept.id}`)
  assert.equal(await call(checkExists), false)
  await call(create)
  assert.equal(await call(remove), true)
  assert.deepEqual([await ours(), kept.secret], [[], undefined])

  assert.ok((await new FrontdeskTrigger().methods.loadOptions.getEvents.call(caller())).some((e) => e.value === "appointment.booked"))
  const raw = Buffer.from("{}"), at = 1_000_000
  const header = `t=${at},v1=${createHmac("sha256", "secret").update(at + ".").update(raw).digest("hex")}`
  assert.equal(signed("secret", header, raw, at + 300), true)
  for (const [secret, given, body, now] of [["other", header, raw, at], ["secret", header, Buffer.from("{ }"), at], ["secret", header, raw, at + 301], ["secret", header, raw, at - 301], ["secret", header + "0", raw, at], ["secret", "", raw, at]])
    assert.equal(signed(secret, given, body, now), false)
})

test("each action does what it says", async () => {
  const { resources } = built("Frontdesk/operations.js")
  const { Frontdesk } = built("Frontdesk/Frontdesk.node.js")
  const done = new Set()
  /** Runs an action as n8n would, for one item. */
  const act = async (resource, operation, parameters = {}) => {
    done.add(resource + "/" + operation)
    const given = { resource, operation, more: {}, returnAll: false, limit: 50, ...parameters }
    const [out] = await new Frontdesk().execute.call({ ...caller(), getInputData: () => [{ json: {} }], continueOnFail: () => false, getNodeParameter: (name, _, otherwise) => given[name] ?? otherwise })
    return out.map((item) => item.json)
  }

  const [ada] = await act("contact", "create", { more: { first_name: "Ada", email: "ada@actions.example", tags: "friend, garden", fields: "{}" } })
  const of = { id: ada.id }
  const [updated] = await act("contact", "update", { ...of, mode: "overwrite", more: { status: "customer" } })
  assert.deepEqual([updated.status, ...updated.tags.sort()], ["customer", "friend", "garden"])
  assert.equal((await act("contact", "update", { ...of, mode: "fill_empty", more: { status: "lead", last_name: "Lovelace" } }))[0].status, "customer")
  assert.equal((await act("contact", "addNote", { ...of, body: "Hello" }))[0].body, "Hello")
  assert.equal((await act("contact", "get", of))[0].status, "customer")
  assert.equal((await act("contact", "getAll", { more: { search: "ada@actions.example", sort: "name" } })).length, 1)
  await assert.rejects(act("contact", "create", { more: { email: "ada@actions.example" } }), (e) => e.code === "svc_duplicate" && e.httpCode === "409")
  await assert.rejects(act("contact", "get", { id: "x" }), /id|uuid/i)

  const [firm] = await act("organization", "create", { name: "Gardens", more: { city: "Gent", country: "BE" } })
  await act("organization", "update", { id: firm.id, mode: "overwrite", more: { website: "gardens.example" } })
  await act("organization", "addNote", { id: firm.id, body: "Big" })
  assert.equal((await act("organization", "get", { id: firm.id }))[0].website, "https://gardens.example")
  assert.ok((await act("organization", "getAll", { more: { search: "Gardens" } })).length)

  const [task] = await act("task", "create", { title: "Call", more: { contact: ada.id, due_on: "2027-01-01T00:00:00.000Z" } })
  assert.equal(task.due_on, "2027-01-01")
  await act("task", "update", { id: task.id, more: { body: "Soon" } })
  assert.ok((await act("task", "done", { id: task.id }))[0].done_at)
  await act("task", "reopen", { id: task.id })
  assert.equal((await act("task", "get", { id: task.id }))[0].title, "Call")
  assert.equal((await act("task", "getAll", { more: { contact: ada.id, done: false } })).length, 1)
  assert.equal((await act("task", "delete", { id: task.id }))[0].deleted, true)

  const free = await act("freeTime", "getAll", { service: desk.followUp.id, limit: 30 })
  assert.equal(free.length, 30)
  const book = async (n, status) => (await act("appointment", "book", { contact: ada.id, service: desk.followUp.id, starts_at: free[n].starts_at, more: { status, meeting_url: "https://meet.example.com/a" } }))[0]
  const first = await book(0, "pending")
  assert.equal((await act("appointment", "confirm", { id: first.id }))[0].status, "confirmed")
  await act("appointment", "update", { id: first.id, notes: "Bring plans" })
  assert.equal((await act("appointment", "get", { id: first.id }))[0].notes, "Bring plans")
  assert.equal((await act("appointment", "reschedule", { id: first.id, starts_at: free[8].starts_at }))[0].starts_at, free[8].starts_at)
  assert.ok((await act("appointment", "getAll", { more: { contact: ada.id, status: "confirmed" } })).length)
  for (const early of ["complete", "noShow"]) await assert.rejects(act("appointment", early, { id: first.id }), (e) => e.httpCode === "409")
  assert.equal((await act("appointment", "cancel", { id: first.id, more: { reason: "ill" } }))[0].status, "cancelled")
  assert.equal((await act("appointment", "decline", { id: (await book(2, "pending")).id }))[0].status, "declined")

  const form = await desk.admin.post("/forms", { name: "Ask", status: "publish", definition: { elements: [{ id: "email", type: "field", target: "contact.email", required: true }] } })
  const { token } = await until("the form", () => new Client().get(`/forms/${form.id}/token`).catch(() => undefined))
  await ripe(Date.now())
  await new Client().post(`/forms/${form.id}/submit`, { token, hp_url: "", page: "", values: { email: "grace@actions.example" } })
  const [sent] = await until("the submission", async () => { const all = await act("submission", "getAll", { more: { form: form.id } }); return all.length ? all : undefined })
  assert.equal((await act("submission", "spam", { id: sent.id }))[0].status, "spam")
  assert.equal((await act("submission", "notSpam", { id: sent.id }))[0].status, "received")
  assert.equal((await act("submission", "get", { id: sent.id }))[0].values.email, "grace@actions.example")
  assert.equal((await act("submission", "delete", { id: sent.id }))[0].deleted, true)

  await act("organization", "delete", { id: firm.id })
  await act("contact", "delete", of)
  assert.equal((await act("contact", "restore", of))[0].deleted_at, null)
  assert.deepEqual([...done].sort(), Object.entries(resources).flatMap(([r, { operations }]) => operations.map((o) => r + "/" + o.value)).sort(), "every action is tried")
})

test("the package holds what n8n loads", () => {
  const { n8n: declared } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  for (const file of [...declared.nodes, ...declared.credentials]) assert.ok(readFileSync(join(folder, file)).length > 0, file)
  assert.ok(readdirSync(join(folder, "dist/nodes/Frontdesk")).includes("frontdesk.svg"))
})
