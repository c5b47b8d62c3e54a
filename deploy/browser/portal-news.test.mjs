// The bell, the counts beside places and the screen of one's notifications, in a real browser.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { Client, ripe, until } from "./system.mjs"
import { colleague, desk, member, open, openListening, team, unique } from "./team.mjs"

/** A visitor sends in a form of their own. */
async function submit() {
  const elements = [{ id: "email", type: "field", target: "contact.email", required: true }]
  const form = await desk.admin.post("/forms", { name: "News " + unique(), status: "publish", definition: { elements } })
  const visitor = new Client()
  const { token } = await visitor.get(`/forms/${form.id}/token`)
  await ripe(Date.now())
  await visitor.post(`/forms/${form.id}/submit`, { token, hp_url: "", page: "", values: { email: `news-${unique()}@example.com` } })
}

test("the bell counts what others made while the page is open, and to look clears it", async () => {
  const who = await colleague("svc_admin")
  await who.api.post("/me/news/seen")
  const v = await member({ cookie: who.cookie })
  await openListening(v, "/contacts", "Contacts")
  const bell = v.page.locator(".nav .bell")
  assert.equal(await v.page.locator(".nav .nav-count").count(), 0)
  await submit()
  await v.page.locator(".nav-link", { hasText: "Submissions" }).locator(".nav-count").waitFor()
  await v.page.locator(".nav .bell-count").waitFor()
  await check(v.page, "portal bell rings")
  await bell.click()
  await v.page.getByRole("link", { name: /new submission/ }).waitFor()
  await check(v.page, "portal bell open")
  await v.page.locator(".nav .bell-count").waitFor({ state: "detached" })
  assert.equal(await v.page.locator(".nav .nav-count").count(), 0)
  assert.ok((await who.api.get("/me/news")).seen_at)
  await v.page.getByRole("link", { name: /new submission/ }).click()
  await v.page.getByRole("heading", { name: "Submissions", level: 1 }).waitFor()
  await v.end()
})

test("one's notifications are saved with what differs, and what clashes is said", async () => {
  const who = await colleague()
  const v = await member({ cookie: who.cookie })
  await open(v, "/settings/notifications", "Notifications")
  await check(v.page, "portal notifications")
  const moved = v.page.getByLabel("Moved by others")
  await moved.selectOption("off")
  await who.api.patch("/me/notifications", { digest_at: "18:30" })
  await v.page.getByRole("button", { name: "Save", exact: true }).click()
  await until("the change", async () => (await who.api.get("/me/notifications")).kinds.team_moved === "off")
  assert.equal((await who.api.get("/me/notifications")).digest_at, "18:30", "what was not changed here stays")
  await openListening(v, "/settings/notifications", "Notifications")
  await v.page.getByLabel("Time of digest and agenda").fill("06:45")
  await who.api.patch("/me/notifications", { digest_at: "19:00" })
  await v.page.getByRole("button", { name: "Save", exact: true }).click()
  await v.page.getByText("Somebody else changed the same thing meanwhile.").waitFor()
  await check(v.page, "portal notifications conflict")
  await v.page.getByRole("button", { name: "Save mine" }).click()
  await until("mine", async () => (await who.api.get("/me/notifications")).digest_at === "06:45")
  await v.page.goto(team())
  await v.page.locator(".person-button").click()
  await v.page.getByRole("link", { name: "Notifications" }).click()
  await v.page.getByRole("heading", { name: "Notifications", level: 1 }).waitFor()
  await v.end()
})
