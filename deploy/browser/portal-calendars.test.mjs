// A person's calendars of other programs, in a real browser: connecting a file and an account on a server, what they take of the time, and what
// the team sees of it.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import { check } from "./browser.mjs"
import { until } from "./system.mjs"
import { dayOf, desk, member, open, unique } from "./team.mjs"

const stamp = (moment) => new Date(moment).toISOString().replace(/[-:]|\.\d+/g, "")
const file = (...events) => `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n${events.join("")}END:VCALENDAR\r\n`
const event = (id, from, to) => `BEGIN:VEVENT\r\nUID:${id}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:${stamp(from)}\r\nDTEND:${stamp(to)}\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\n`

/** A file at an address, as other programs publish their calendars; without a text it is not there. */
const published = { text: file() }
const files = createServer((_, res) => (published.text ? res.writeHead(200, { "Content-Type": "text/calendar" }).end(published.text) : res.writeHead(500).end()))
await new Promise((resolve) => files.listen(0, "127.0.0.1", resolve))
const address = `http://127.0.0.1:${files.address().port}/secret-address.ics`
after(() => files.close())

const calendarsOf = async () => (await desk.admin.get(`/staff/${desk.user}/calendars`)).items
const free = async (from, days = 1) => (await desk.admin.get(`/slots?service=${desk.intake.id}&staff=${desk.user}&from=${from}&to=${dayOf(Date.parse(from) + days * 86_400_000)}`)).items

async function connect(v) {
  await open(v, `/hours?staff=${desk.user}`, "Working hours")
  await v.page.getByRole("button", { name: "Connect a calendar" }).click()
  return v.page.getByRole("dialog", { name: "Connect a calendar" })
}

test("a calendar at an address takes time, hatched and without a title; an appointment in it is a clash, and what cannot be read says why", async () => {
  const from = dayOf(Date.now() + 40 * 86_400_000)
  const [slot] = await free(from, 14)
  const contact = await desk.admin.post("/contacts", { first_name: "Ann", last_name: "Clash " + unique() })
  const made = await desk.admin.post("/appointments", { contact: contact.id, service: desk.intake.id, starts_at: slot.starts_at, staff: desk.user })
  published.text = file(event("a", Date.parse(slot.starts_at) - 600_000, Date.parse(slot.starts_at) + 3_600_000))
  const v = await member()
  const dialog = await connect(v)
  await check(v.page, "portal calendar connect")
  await dialog.getByLabel("Name", { exact: true }).fill("Home")
  await dialog.getByLabel("Address").fill("ftp://example.com/a.ics")
  await dialog.getByRole("button", { name: "Connect a calendar" }).click()
  await dialog.locator("[aria-invalid=true]").waitFor()
  await dialog.getByLabel("Address").fill(address)
  await dialog.getByRole("button", { name: "Connect a calendar" }).click()
  const row = v.page.getByRole("listitem").filter({ hasText: "Home" })
  await row.getByText("connected", { exact: true }).waitFor()
  assert.doesNotMatch(await v.page.locator("body").innerText(), /secret-address/)
  await check(v.page, "portal calendar connected")

  await open(v, `/calendar?view=day&date=${dayOf(slot.starts_at)}`, "Calendar")
  await v.page.getByText("Busy elsewhere").first().waitFor()
  assert.doesNotMatch(await v.page.locator("body").innerText(), /Dentist/)
  await v.page.getByRole("button", { name: /at a time that the person’s own calendar takes/ }).waitFor()
  await check(v.page, "portal calendar busy")
  await open(v, "/", /./)
  await v.page.getByRole("region", { name: "Clash with the person’s own calendar" }).getByRole("link", { name: contact.name ?? "Ann" }).waitFor()

  published.text = ""
  await open(v, `/hours?staff=${desk.user}`, "Working hours")
  await row.getByRole("button", { name: "More for Home" }).click()
  await v.page.getByRole("menuitem", { name: "Read now" }).click()
  await row.getByText("cannot be read").waitFor()
  await row.getByText("The server answers with an error.").waitFor()
  await check(v.page, "portal calendar failing")
  await row.getByRole("button", { name: "More for Home" }).click()
  await v.page.getByRole("menuitem", { name: "Remove" }).click()
  await v.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await row.waitFor({ state: "detached" })
  assert.deepEqual(await calendarsOf(), [])
  await desk.admin.post(`/appointments/${made.id}/cancel`, {})
  await v.end()
})

test("an account on a server is connected in three steps, and appointments stand in the calendar that is chosen", async () => {
  const server = await radicale()
  try {
    const v = await member()
    const dialog = await connect(v)
    await dialog.getByLabel("What you have").selectOption("caldav")
    await dialog.getByLabel("Name", { exact: true }).fill("Cloud")
    await dialog.getByLabel("Address").fill(server.url)
    await dialog.getByLabel("User name").fill("ada")
    await dialog.getByLabel("Password").fill("wrong")
    await dialog.getByLabel("Write appointments into it").check()
    await check(v.page, "portal calendar account")
    await dialog.getByRole("button", { name: "Next" }).click()
    const choice = v.page.getByRole("dialog", { name: "Which calendar of Cloud?" })
    await choice.getByRole("alert").waitFor()
    await check(v.page, "portal calendar refused")
    await choice.getByRole("button", { name: "Close" }).click()
    const row = v.page.getByRole("listitem").filter({ hasText: "Cloud" })
    await row.getByRole("button", { name: "More for Cloud" }).click()
    await v.page.getByRole("menuitem", { name: "Change" }).click()
    const change = v.page.getByRole("dialog", { name: "Change Cloud" })
    await change.getByLabel("Password").fill("pass word")
    await change.getByRole("button", { name: "Save" }).click()
    await row.getByRole("button", { name: "Choose a calendar" }).click()
    await choice.getByLabel("Work").check()
    await check(v.page, "portal calendar choice")
    await choice.getByRole("button", { name: "Connect a calendar" }).click()
    await row.getByText("connected", { exact: true }).waitFor()
    await row.getByText("Appointments are written into it").waitFor()

    const contact = await desk.admin.post("/contacts", { first_name: "Ben", last_name: "D'Hondt " + unique() })
    const [slot] = await free(dayOf(Date.now() + 60 * 86_400_000), 14)
    const made = await desk.admin.post("/appointments", { contact: contact.id, service: desk.intake.id, starts_at: slot.starts_at, staff: desk.user })
    await until("the event on the server", async () => (await server.events()).includes(stamp(slot.starts_at)), 60)
    const [written] = await calendarsOf()
    const read = () => desk.admin.post(`/staff/${desk.user}/calendars/${written.id}/sync`)
    await read()
    assert.ok((await server.remove(made.id)).ok)
    await read()
    await open(v, `/hours?staff=${desk.user}`, "Working hours")
    await row.getByText("Deleted over there, though these appointments stand").waitFor()
    await row.locator(`a[href$="/appointments/${made.id}"]`).waitFor()
    await check(v.page, "portal calendar deleted there")
    await desk.admin.post(`/appointments/${made.id}/place`, { location: "Room 4" })
    await until("the event is there again", async () => (await server.events()).includes(stamp(slot.starts_at)), 60)
    await desk.admin.post(`/appointments/${made.id}/cancel`, {})
    await until("the event is gone", async () => !(await server.events()).includes(stamp(slot.starts_at)), 60)
    const [c] = await calendarsOf()
    await desk.admin.call("DELETE", `/staff/${desk.user}/calendars/${c.id}`)
    await v.end()
  } finally {
    server.stop()
  }
})

/** Radicale with a person and their calendar Work. deploy/tools keeps it. */
async function radicale() {
  const here = new URL("..", import.meta.url).pathname
  const program = join(execFileSync(join(here, "tools"), ["venv", join(here, "caldav")], { encoding: "utf8" }).trim(), "bin/radicale")
  const dir = mkdtempSync(join(tmpdir(), "frontdesk-radicale-"))
  const port = await new Promise((resolve) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address()
      s.close(() => resolve(port))
    })
  })
  const url = `http://127.0.0.1:${port}`
  writeFileSync(join(dir, "users"), "ada:pass word\n")
  const child = spawn(program, ["--server-hosts", `127.0.0.1:${port}`, "--auth-type", "htpasswd", "--auth-htpasswd-encryption", "plain", "--auth-htpasswd-filename", join(dir, "users"),
    "--auth-delay", "0", "--storage-filesystem-folder", join(dir, "data"), "--logging-level", "error"], { stdio: ["ignore", "inherit", "inherit"] })
  const ask = (method, path, body) => fetch(url + path, { method, body, headers: { Authorization: "Basic " + Buffer.from("ada:pass word").toString("base64"), Depth: "1" } })
  await until("Radicale", async () => (await ask("GET", "/").catch(() => undefined)) !== undefined, 60)
  const made = await ask("MKCALENDAR", "/ada/work/", `<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns="DAV:"><set><prop><displayname>Work</displayname></prop></set></C:mkcalendar>`)
  assert.equal(made.status, 201)
  return {
    url,
    remove: (appointment) => ask("DELETE", `/ada/work/${appointment}%40frontdesk.ics`),
    events: async () => (await ask("GET", "/ada/work/")).text(),
    stop: () => {
      child.kill("SIGKILL")
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
