// What a business asks of its assistant, by the official client in JavaScript: a tool per ability, with a key.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { Client, known, state, until } from "../browser/system.mjs"
import { connect, desk, unique } from "./desk.mjs"

let assistant, run
before(async () => {
  assistant = await connect()
  run = assistant.run
})
after(() => assistant?.close())

const person = (first = "Ada") => run("create-contact", { first_name: first, last_name: "Visser", email: unique(first.toLowerCase()) + "@example.com" })
/** Books at the first free time that is left; booking gets to hear of a new contact within moments. */
async function book(contact, service = desk.intake, more = {}) {
  const { items } = await run("get-available-slots", { service })
  return until("the contact in booking", async () => {
    for (const slot of items.slice(0, 20)) {
      try {
        return await run("book-appointment", { contact: contact.id, service, starts_at: slot.starts_at, ...more })
      } catch (e) {
        if (e.code === "svc_not_found") return undefined
        if (e.code !== "svc_slot_taken") throw e
      }
    }
  })
}

test("every tool is described for a model, without references, and says what it does to the data", () => {
  assert.ok(assistant.listed.size >= 115, String(assistant.listed.size))
  for (const [name, tool] of assistant.listed) {
    assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
    assert.ok(tool.description.length > 50, name)
    assert.ok(!JSON.stringify([tool.inputSchema, tool.outputSchema ?? {}]).includes("$ref"), name)
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) assert.equal(typeof tool.annotations[hint], "boolean", `${name} ${hint}`)
  }
  assert.equal(assistant.listed.get("svc-merge-contacts").annotations.destructiveHint, true)
  assert.equal(assistant.listed.get("svc-book-appointment").annotations.openWorldHint, true)
  assert.equal(assistant.listed.get("svc-find-contacts").annotations.readOnlyHint, true)
  assert.ok(!assistant.listed.has("svc-update-role"))
})

test("find a person, and note what was said", async () => {
  const ada = await person()
  const found = await run("find-contacts", { search: ada.email })
  assert.deepEqual(found.items.map((c) => c.id), [ada.id])
  await run("add-note", { id: ada.id, body: "Prefers mornings." })
  const { items } = await run("get-contact-timeline", { id: ada.id })
  assert.ok(items.some((e) => e.type === "note" && e.channel === "ability" && e.actor_label === "assistant"))
})

test("book a free time, move it, and cancel it", async () => {
  const booked = await book(await person("Grace"))
  assert.equal(booked.status, "confirmed")
  const { items } = await run("get-available-slots", { service: desk.intake })
  const moved = await run("reschedule-appointment", { id: booked.id, starts_at: items.at(-1).starts_at })
  assert.equal(moved.starts_at, items.at(-1).starts_at)
  await assert.rejects(run("reschedule-appointment", { id: booked.id, starts_at: "2020-01-01T09:00:00Z" }), (e) => e.code === "svc_slot_taken" && e.data.alternatives.length > 0)
  assert.equal((await run("cancel-appointment", { id: booked.id, reason: "ill" })).status, "cancelled")
})

test("answer two requests", async () => {
  const client = await person("Edith")
  const yes = await book(client, desk.followUp, { status: "pending", location_type: "online", meeting_url: "https://meet.example/1" })
  const no = await book(client, desk.followUp, { status: "pending", location_type: "online", meeting_url: "https://meet.example/2" })
  await until("the requests in the overview", async () => (await run("get-overview")).requests.total >= 2)
  assert.equal((await run("confirm-appointment", { id: yes.id })).status, "confirmed")
  assert.equal((await run("decline-appointment", { id: no.id })).status, "declined")
})

test("merge two contacts who are one person", async () => {
  const [one, other] = [await person("Jean"), await run("create-contact", { first_name: "Jean", phone: "+32475000000" })]
  const merged = await run("merge-contacts", { id: one.id, other_id: other.id })
  assert.equal(merged.phone, "+32475000000")
  await assert.rejects(run("get-contact", { id: other.id }), { code: "svc_not_found" })
})

test("import a list, and tag it", async () => {
  const tag = unique("fair")
  const rows = [1, 2, 3].map((n) => `Guest,Number ${n},${unique("guest")}@example.com`)
  const made = await run("create-import", { file_name: "fair.csv", csv: ["First name,Last name,Email", ...rows].join("\r\n") })
  await run("start-import", { id: made.id, mapping: ["first_name", "last_name", "email"], options: { tag } })
  const done = await until("the import", async () => {
    const now = await run("get-import", { id: made.id })
    return now.status === "completed" && now
  })
  assert.equal(done.totals.created, 3)
  assert.equal((await run("find-contacts", { tag })).total, 3)
  assert.match(await run("export-contacts", { tag }), /Guest/)
})

test("delete by mistake, and restore", async () => {
  const ada = await person()
  await run("delete-contact", { id: ada.id })
  assert.ok((await run("get-contact", { id: ada.id })).deleted_at)
  assert.equal((await run("restore-contact", { id: ada.id })).deleted_at, null)
})

test("give somebody a day off, and take it back", async () => {
  const off = await run("add-time-off", { user_id: desk.user, date_from: "2030-05-01", type: "closed", label: "holiday" })
  assert.ok(off.id)
  await run("remove-time-off", { id: off.id })
})

test("make a form and read what came in", async () => {
  const form = await run("create-form", { name: unique("Contact"), template: "contact", status: "publish" })
  assert.ok((await run("get-embed", { id: form.id })).shortcode.includes("svc-form"))
  assert.equal((await run("find-submissions", { form: form.id })).total, 0)
})

test("keep a company and its people", async () => {
  const [company, ada] = [await run("create-organization", { name: unique("Linde") }), await person()]
  await run("link-contact-organization", { id: company.id, contact_id: ada.id, role: "director", is_primary: true })
  assert.equal((await run("get-contact", { id: ada.id })).organization.name, company.name)
})

test("erase somebody who asks for it", async () => {
  const ada = await person()
  assert.equal((await run("erase-personal-data", { email: ada.email })).erased, 1)
  await assert.rejects(run("get-contact", { id: ada.id }), { code: "svc_not_found" })
})

test("tools come and go with an app, and the client is told", async () => {
  const told = []
  assistant.client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told.push(1))
  const admin = new Client()
  const login = await admin.call("POST", "/auth/login", { login: desk.login, password: desk.password })
  admin.headers = { Cookie: login.headers.getSetCookie()[0].split(";")[0] }
  await known(admin)
  try {
    await admin.patch("/apps/booking", { enabled: false })
    await until("the notification", () => told.length > 0)
    assert.ok(!(await assistant.tools()).has("svc-book-appointment"))
  } finally {
    await admin.patch("/apps/booking", { enabled: true })
  }
  await until("the tools", async () => (await assistant.tools()).has("svc-book-appointment"))
  assert.ok(state().gateway)
})
