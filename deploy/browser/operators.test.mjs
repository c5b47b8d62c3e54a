import assert from "node:assert/strict"
import { test } from "node:test"
import { check, checkModes, visitor } from "./browser.mjs"
import { Client, ripe, sql, state, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

const panel = (path = "/") => state().processes.gateway.admin + path
const host = () => new URL(panel()).host
const open = (options) => visitor(browser, { hosts: [host()], ...options })

// The time between two updates of a page. In a page whose clock the test has, updated waits for something that one of them brings.
const every = 5000
const updated = (v, what) => until("an update", async () => (await v.page.clock.runFor(every), what.first().isVisible()), 60)

test("every page of the panel is accessible, dark and light, wide and small", async () => {
  await until("the first figures", async () => /Goroutines/.test(await (await fetch(panel("/services/booking"))).text()), 60)
  const v = await open()
  for (const path of ["/", "/services/settings", "/services/booking?over=1h", "/services/traefik", "/instances", "/apps", "/routes?search=booking", "/parked-messages"]) {
    await v.page.goto(panel(path))
    await checkModes(v.page, `operators${path}`, ["dark"])
  }
  await v.page.goto(panel("/services/forms"))
  await v.page.getByText("All figures").click()
  await checkModes(v.page, "operators-figures", ["dark"])
  const answer = await v.page.goto(panel("/parked-messages/contacts/1"))
  assert.equal(answer.status(), 404)
  await checkModes(v.page, "operators-none", ["dark"])
  await v.end()
  const dark = await open({ colorScheme: "dark", viewport: { width: 320, height: 900 } })
  await dark.page.goto(panel())
  await check(dark.page, "operators-begun-dark")
  await dark.end()
})

test("what happens shows without a reload, and the focus stays where it is", async () => {
  const v = await open()
  await v.page.clock.install()
  await v.page.goto(panel("/services/forms"))
  await v.page.getByText("All figures").click()
  const loaded = await v.page.evaluate(() => performance.timeOrigin)
  const link = v.page.getByRole("link", { name: "15 minutes" })
  await link.focus()
  const visitors = new Client()
  for (let i = 0; i < 5; i++) await visitors.get("/forms/987654321/token").catch(() => {})
  await updated(v, v.page.getByRole("row", { name: /^[a-z-]*token/ }))
  assert.equal(await v.page.evaluate(() => performance.timeOrigin), loaded, "the page was not loaded again")
  assert.ok(await link.evaluate((e) => e === document.activeElement), "the focus stays")
  assert.ok(await v.page.locator("details").evaluate((e) => e.open), "what is open stays open")
  await check(v.page, "operators-live")
  await v.end()
})

test("the keyboard reaches the content, pauses updates and finds a route", async () => {
  const v = await open()
  await v.page.clock.install()
  await v.page.goto(panel())
  await v.page.keyboard.press("Tab")
  await v.page.getByRole("link", { name: "Skip to the content" }).and(v.page.locator(":focus")).waitFor()
  await v.page.keyboard.press("Enter")
  await v.page.keyboard.press("Tab")
  await v.page.getByRole("button", { name: "Pause" }).and(v.page.locator(":focus")).waitFor()
  await v.page.keyboard.press("Space")
  const time = v.page.locator("#time")
  await v.page.getByText("Updates are paused.").waitFor()
  const paused = await time.textContent()
  assert.equal(await v.page.getByRole("button", { name: "Pause" }).getAttribute("aria-pressed"), "true")
  await check(v.page, "operators-paused")
  let asked = 0
  v.page.on("request", () => asked++)
  await v.page.clock.runFor(4 * every)
  assert.equal(asked, 0)
  assert.equal(await time.textContent(), paused)
  await v.page.keyboard.press("Space")
  await until("an update", async () => (await time.textContent()) !== paused)

  await v.page.getByRole("link", { name: "Routes", exact: true }).focus()
  await v.page.keyboard.press("Enter")
  await v.page.getByLabel("Part of a method, path").fill("/booking/slots")
  await v.page.keyboard.press("Enter")
  await v.page.getByRole("heading", { name: /^1 of / }).waitFor()
  await v.page.getByRole("rowheader", { name: "/v1/booking/slots" }).waitFor()
  await v.end()
})

test("a parked message is looked at, stays while its cause is there, and is replayed once it is gone", async () => {
  const { admin } = desk
  const email = `parked.${Date.now()}@example.com`
  const form = await admin.post("/forms", { name: "Parked " + email, status: "publish", definition: { elements: [{ id: "email", type: "field", target: "contact.email", label: "Email", required: true }] } })
  const visitors = new Client()
  const { token } = await until("the form", () => visitors.get(`/forms/${form.id}/token`).catch(() => undefined))
  await ripe(Date.now())
  const mend = () => sql("alter table contacts.contact drop constraint if exists defect")
  // A defect of contacts: it cannot store this one person.
  sql(`alter table contacts.contact add constraint defect check (email <> '${email}') not valid`)
  const v = await open()
  await v.page.clock.install()
  try {
    await visitors.post(`/forms/${form.id}/submit`, { token, hp_url: "", page: "https://example.com/", values: { email } })
    await v.page.goto(panel())
    await v.page.getByRole("link", { name: "Parked messages" }).first().click()
    const row = v.page.getByRole("region", { name: "Parked messages of contacts" }).getByRole("row", { name: /contacts\.command.*defect/ })
    await updated(v, row) // without a reload
    await check(v.page, "operators-parked")

    await row.getByRole("link", { name: /^Replay \d+…$/ }).click()
    await v.page.getByText("The service handles the message once more").waitFor()
    await check(v.page, "operators-replay")
    await v.page.getByRole("button", { name: /^Replay message \d+$/ }).click()
    await v.page.getByRole("alert").getByText("It stays parked").waitFor()
    await check(v.page, "operators-stays")
    assert.equal((await admin.get("/contacts?search=" + email)).items.length, 0)

    mend()
    await v.page.getByRole("button", { name: /^Replay message \d+$/ }).click()
    await v.page.getByRole("status").getByText("Replayed").waitFor()
    await check(v.page, "operators-replayed")
    assert.equal(await row.count(), 0, "it is parked no longer")
    await until("the contact", async () => (await admin.get("/contacts?search=" + email)).items.length === 1)
  } finally {
    mend()
  }
  await v.end()
})

test("a controller that is away is said, and comes back by itself", async () => {
  const v = await open()
  await v.page.clock.install()
  await v.page.goto(panel())
  const away = v.page.getByText("The controller does not answer")
  await v.page.route("**/*", (route) => route.abort())
  await updated(v, away)
  await check(v.page, "operators-away")
  await v.page.unroute("**/*")
  await v.page.clock.runFor(every)
  await away.waitFor({ state: "detached" })
  await v.end()
})

test("the panel works without script", async () => {
  const v = await open({ javaScriptEnabled: false })
  await v.page.goto(panel())
  assert.equal(await v.page.getByRole("button", { name: "Pause" }).count(), 0)
  await v.page.getByRole("row", { name: /contacts/ }).getByRole("link").click()
  await v.page.getByRole("heading", { name: "Contacts" }).waitFor()
  await v.page.getByRole("link", { name: "hour", exact: true }).click()
  await v.page.getByRole("heading", { name: "Operations, last hour" }).waitFor()
  await check(v.page, "operators-no-script")
  await v.end()
})
