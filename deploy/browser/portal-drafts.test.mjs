// What somebody types or chooses in the portal: it is sent when they mean it, in their own name, and is not lost on the way.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { until } from "./system.mjs"
import { colleague, deaf, desk, endSession, go, member, open, openListening, team, unique } from "./team.mjs"

const contact = () => desk.admin.post("/contacts", { first_name: "Ada", last_name: "Draft " + unique(), email: `draft-${unique()}@example.com`, status: "lead", owner_user_id: desk.user })

/** Changes of records that the page sends. */
const changes = (page) => {
  const sent = []
  page.on("request", (r) => r.method() === "PATCH" && sent.push(r.postDataJSON()))
  return sent
}

test("an arrow goes to another choice, and only Enter or leaving makes it", async () => {
  const c = await contact()
  const who = await colleague()
  const v = await member()
  const { page } = v
  const sent = changes(page)
  await openListening(v, "/contacts/" + c.id, c.last_name)
  await page.getByRole("button", { name: /^Status/ }).click()
  await page.keyboard.press("ArrowDown")
  assert.equal(await page.getByLabel("Status").inputValue(), "customer")
  await page.keyboard.press("ArrowDown")
  assert.equal(await page.getByLabel("Status").inputValue(), "inactive")
  await page.keyboard.press("ArrowUp")
  assert.deepEqual(sent, [], "nothing is sent on the way")
  await page.keyboard.press("Enter")
  await until("the status", async () => (await desk.admin.get("/contacts/" + c.id)).status === "customer")
  assert.equal(sent.length, 1)
  await page.getByRole("button", { name: /^Owner/ }).click()
  await page.keyboard.press("ArrowUp")
  assert.equal(sent.length, 1)
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: /^Owner/ }).waitFor()
  assert.equal(sent.length, 1, "Escape leaves it as it was")

  await open(v, "/people/" + who.user_id, who.name)
  await page.getByRole("button", { name: /^Role/ }).click()
  const role = await page.getByLabel("Role").inputValue()
  for (const key of ["ArrowUp", "ArrowDown", "s"]) await page.keyboard.press(key)
  assert.equal(sent.length, 1, "no role is given on the way")
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: /^Role/ }).waitFor()
  assert.equal((await desk.admin.get("/staff")).items.find((m) => m.user_id === who.user_id).role, role)

  await open(v, "/settings/assistants?search=delete-organization", "AI assistants")
  const approval = page.getByRole("combobox", { name: "Approval of Delete organization" })
  await approval.focus()
  await page.keyboard.press("ArrowDown")
  assert.deepEqual([await approval.inputValue(), sent.length], ["writes", 1])
  await page.keyboard.press("ArrowUp")
  await page.keyboard.press("Enter")
  assert.equal(sent.length, 1)

  await page.locator(".person-button").click()
  await page.getByRole("combobox", { name: "Language" }).focus()
  await page.keyboard.press("ArrowDown")
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en", "an arrow loads no other language")
  await page.keyboard.press("Enter")
  await page.waitForFunction(() => document.documentElement.lang === "nl")
  await v.end()
})

test("a note that is not filed asks before the person leaves, and a dialog before the page loads anew", async () => {
  const c = await contact()
  const v = await member()
  const { page } = v
  await openListening(v, "/contacts/" + c.id, c.last_name)
  await page.getByLabel("New note").fill("A long story")
  await desk.admin.patch("/contacts/" + c.id, { mode: "overwrite", first_name: "Augusta" })
  await page.getByRole("heading", { name: "Augusta", level: 1 }).waitFor()
  await page.getByRole("link", { name: "Calendar", exact: true }).click()
  await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click()
  assert.equal(await page.getByLabel("New note").inputValue(), "A long story")
  await page.getByRole("button", { name: "Add the note" }).click()
  await page.locator(".entry--note").getByText("A long story").waitFor()

  const asked = []
  page.on("dialog", (d) => (asked.push(d.type()), void d.accept()))
  for (const [path, button, label] of [["/contacts", "New contact", "Last name"], ["/organizations", "New organization", "Name"]]) {
    await go(v, path)
    await page.getByRole("button", { name: button }).first().click()
    await page.getByLabel(label, { exact: true }).fill("Typed")
    await page.reload()
    await page.getByRole("button", { name: button }).first().waitFor()
    assert.equal(asked.splice(0).join(), "beforeunload", path)
  }
  await v.end()
})

test("a dialog in which something was typed stays, however often Escape is pressed", async () => {
  const v = await member()
  await open(v, "/contacts", "Contacts")
  await v.page.getByRole("button", { name: "New contact" }).first().click()
  const dialog = v.page.getByRole("dialog", { name: "New contact" })
  await dialog.getByLabel("Last name").fill("Typed")
  const question = v.page.getByRole("dialog", { name: "Leave without saving?" })
  for (let i = 0; i < 3; i++) {
    await v.page.keyboard.press("Escape")
    await question.waitFor()
    await v.page.keyboard.press("Escape")
    await question.waitFor({ state: "detached" })
    assert.equal(await dialog.getByLabel("Last name").inputValue(), "Typed")
  }
  await v.end()
})

test("a part of the program that is missing loads the page once more, and then says so", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../../services/settings/internal/portal/dist/manifest.json", import.meta.url)))
  const v = await member()
  const { page } = v
  const loads = []
  page.on("request", (r) => r.isNavigationRequest() && loads.push(`${r.url()} ${r.frame() === page.mainFrame()} after ${r.redirectedFrom()?.url()} at ${Date.now()}`))
  page.on("console", (m) => loads.length > 0 && loads.push("said " + m.text()))
  await page.route("**/_ui/portal/" + manifest["src/contacts/imports.tsx"].file, (route) => route.abort())
  // Slowly enough that whatever would load the page a second time does so after the first one has begun.
  const devtools = await v.context.newCDPSession(page)
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 20 })
  await page.goto(team() + "/import")
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor()
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 })
  assert.equal(loads.filter((l) => !l.startsWith("said ")).length, 2, loads.join("\n"))
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click()
  await page.getByRole("link", { name: "Contacts", exact: true }).click()
  await page.getByRole("heading", { name: "Contacts", level: 1 }).waitFor()
  assert.equal(loads.filter((l) => !l.startsWith("said ")).length, 2, loads.join("\n"))
  v.problems.length = 0 // what failed here was to fail
  await v.end()
})

test("a page of somebody who was signed out elsewhere begins anew as the one who signed in", async () => {
  const who = await colleague()
  const v = await member()
  const { page } = v
  const name = (p) => p.locator(".person-name b")
  await openListening(v, "/contacts", "Contacts")
  assert.notEqual(await name(page).innerText(), who.name)
  const [cookie, value] = who.cookie.split(/=(.*)/)
  const signIn = (session) => v.context.addCookies([{ name: cookie, value: session, url: desk.gateway, httpOnly: true, sameSite: "Lax" }])

  // Somebody else opens the portal in another tab.
  await signIn(value)
  const second = await v.context.newPage()
  await second.goto(team() + "/contacts")
  await name(second).getByText(who.name).waitFor()
  await name(page).getByText(who.name).waitFor()

  // The session of a tab becomes somebody else's without a second portal: by the time somebody comes back to it, it is theirs.
  await second.close()
  await signIn(desk.person.headers.Cookie.split(/=(.*)/)[1])
  await page.evaluate(() => dispatchEvent(new Event("focus")))
  await page.waitForFunction((other) => document.querySelector(".person-name b") && document.querySelector(".person-name b").textContent !== other, who.name)
  await v.end()
})

test("a service keeps its form while the forms cannot be read", async () => {
  const form = await desk.admin.post("/forms", { name: "Questions " + unique(), status: "publish", definition: { elements: [{ id: "email", type: "field", target: "contact.email", required: true }] } })
  const s = await desk.admin.post("/services", { name: "Talk " + unique(), duration_min: 30, form_id: form.id, staff: [desk.user] })
  const v = await member()
  await v.page.route("**/v1/forms", (route) => route.abort())
  await open(v, "/services/" + s.id, s.name)
  await v.page.locator("[name=location_details]").fill("Upstairs")
  await v.page.getByRole("button", { name: "Save" }).click()
  await until("the service is saved", async () => (await desk.admin.get("/services/" + s.id)).location_details === "Upstairs")
  assert.equal((await desk.admin.get("/services/" + s.id)).form_id, form.id)
  await v.context.close()
})

test("a tick that is refused is taken back and said", async () => {
  const field = await desk.admin.post("/fields", { entity: "contact", label: "Likes " + unique(), type: "choices", options: ["Tea", "Coffee"] })
  const c = await contact()
  const v = await member()
  await v.page.route("**/v1/contacts/" + c.id, (route) => (route.request().method() === "PATCH" ? route.abort() : route.fallback()))
  await open(v, "/contacts/" + c.id, c.last_name)
  const tea = v.page.locator(".fact", { hasText: field.label }).getByLabel("Tea")
  await tea.click()
  await v.page.getByText("The connection failed.").first().waitFor()
  assert.equal(await tea.isChecked(), false)
  await v.context.close()
  await desk.admin.patch("/fields/" + field.id, { archived: true })
})

test("a colour that goes back to the theme is not saved by itself, and leaving asks", async () => {
  await desk.admin.patch("/settings/form-style", { button_background: "#0f766e" })
  const v = await member()
  await open(v, "/settings/form-style", "Look of forms")
  await v.page.getByRole("button", { name: /^Back to the theme/ }).first().click()
  await v.page.getByRole("link", { name: "Calendar", exact: true }).click()
  await v.page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click()
  assert.equal((await desk.admin.get("/settings/form-style")).button_background, "#0f766e")
  await v.end()
  await desk.admin.patch("/settings/form-style", { button_background: null })
})

test("who signs out after the session has ended is asked for nothing", async () => {
  const who = await colleague()
  const v = await deaf(await member({ cookie: who.cookie }))
  await open(v, "/contacts", "Contacts")
  await v.page.locator(".person-button").click()
  const signOut = v.page.getByText("Sign out", { exact: true })
  await signOut.waitFor()
  await endSession(v)
  await signOut.click()
  await v.page.waitForURL("**/account/**")
  assert.equal(await v.page.getByRole("dialog").count(), 0)
  await v.context.close()
})
