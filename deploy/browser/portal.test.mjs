// The team's screens, in a real browser: every screen and state, by mouse and by keyboard.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { check, gone } from "./browser.mjs"
import { Client, known, password, state, until } from "./system.mjs"
import { deaf, desk, endSession, go, member, openListening, refused, screens, team, unique } from "./team.mjs"

test("the portal's types and limits are those of the running system", () => {
  const script = fileURLToPath(new URL("../../services/settings/internal/portal/web/schema.mjs", import.meta.url))
  const done = spawnSync(process.execPath, [script, desk.gateway, "--check"], { encoding: "utf8" })
  assert.equal(done.status, 0, done.stderr)
})

test("a person signs in to the portal where they wanted to go", async () => {
  const v = await member({ cookie: "none=1" })
  await v.page.goto(team() + "/contacts?status=lead")
  await v.page.getByLabel("Login or email address").fill("admin")
  await v.page.getByLabel("Password", { exact: true }).fill(state().admin?.password || password)
  await v.page.getByRole("button", { name: "Sign in" }).click()
  await v.page.waitForURL(/\/team\/contacts\?status=lead$/)
  await v.page.getByRole("heading", { name: "Contacts", level: 1 }).waitFor()
  await v.end()
})

test("a page shows its heading and begins the first calls of its screen before its program", async () => {
  const ids = { "/contacts/$id": (await contact()).id, "/services/$id": desk.intake.id, "/people/$id": desk.user }
  const v = await deaf(await member())
  for (const [path, { calls }] of screens) {
    if (path.includes("$") && !ids[path]) continue
    const fill = (text) => text.replace("$id", ids[path])
    const seen = []
    const note = (r) => seen.push(decodeURIComponent(r.url().replace(desk.gateway, "")))
    v.page.on("request", note)
    const answer = await v.page.goto(team() + fill(path))
    const heading = /<h1>([^<]*)<\/h1>/.exec(await answer.text())[1]
    await v.page.locator("#frame").waitFor({ state: "detached" })
    await gone(v.page, ".skeleton")
    v.page.off("request", note)
    if (heading) assert.equal(await v.page.locator("h1").first().innerText(), heading, path)
    for (const call of calls) assert.equal(seen.filter((s) => s === "/v1" + fill(call)).length, 1, `${path} reads ${call} once: ${seen.filter((s) => s.startsWith("/v1"))}`)
  }
  await v.end()
})

test("a page begins no call that would be refused", async () => {
  const v = await member()
  await v.page.goto(team() + "/contacts?status=lead")
  assert.equal(await v.page.locator('link[as="fetch"]').count(), 0, "filters make another call")
  await v.end()
})

const contact = (fields) => desk.admin.post("/contacts", { first_name: "Ada", last_name: "Lind " + unique(), email: `ada-${unique()}@example.com`, ...fields })

test("the overview shows the day, and a request is answered in place", async () => {
  const c = await contact({ last_name: "Donaudampfschifffahrtskapitaen " + unique() })
  const slots = (await desk.admin.get("/slots?service=" + desk.followUp.id)).items
  await desk.admin.post("/appointments", { contact: c.id, service: desk.followUp.id, starts_at: slots[3].starts_at, status: "pending", meeting_url: "https://meet.example.com/x" })
  await desk.admin.post("/appointments", { contact: c.id, service: desk.visit.id, starts_at: new Date(Math.floor(Date.now() / 1000 - 3 * 3600) * 1000), outside_hours: true, location: "Kouter 3" })
  const name = `${c.first_name} ${c.last_name}`
  for (const [colorScheme, width] of [["light", 1440], ["dark", 320]]) {
    const v = await member({ colorScheme, viewport: { width, height: 900 } })
    await v.page.goto(team())
    await v.page.getByRole("button", { name: `Confirm the request of ${name}` }).waitFor()
    const bookings = v.page.getByRole("table", { name: "Bookings by week" })
    await until("the appointment of today in the plot's table", async () => (await bookings.getByRole("cell").allInnerTexts()).some((n) => Number(n) > 0))
    await check(v.page, `portal overview ${colorScheme} ${width}`)
    if (width === 320) {
      await v.page.getByRole("button", { name: `Decline the request of ${name}` }).click()
      await v.page.getByRole("heading", { name: `Decline the request of ${name}?` }).waitFor()
      await check(v.page, "portal decline")
      await v.page.keyboard.press("Escape")
      await v.page.getByRole("button", { name: `Confirm the request of ${name}` }).click()
      await v.page.getByText(`Confirmed. ${name} gets a mail.`).waitFor()
    }
    await v.end()
  }
})

test("a contact is made, refused at its fields, and found by its address", async () => {
  const v = await member()
  const email = `grace-${unique()}@example.com`
  await v.page.goto(team() + "/contacts")
  await v.page.getByRole("button", { name: "New contact" }).click()
  await v.page.getByLabel("First name").fill("Grace")
  await v.page.getByLabel("Email address").fill("no address")
  await v.page.getByRole("button", { name: "Create the contact" }).click()
  await v.page.getByText("Enter an email address such as").waitFor()
  assert.equal(await v.page.getByLabel("Email address").evaluate((e) => e === document.activeElement), true, "the focus is at the problem")
  await check(v.page, "portal new contact refused")
  await v.page.keyboard.press("Escape")
  await v.page.getByRole("heading", { name: "Leave without saving?" }).waitFor()
  await v.page.getByRole("button", { name: "Cancel" }).last().click()
  assert.equal(await v.page.getByLabel("First name").inputValue(), "Grace", "nothing typed is lost")
  await v.page.getByLabel("Email address").fill(email)
  await v.page.getByRole("button", { name: "Create the contact" }).click()
  await v.page.getByRole("heading", { name: "Grace", level: 1 }).waitFor()
  await v.page.getByText("Created", { exact: true }).waitFor()
  await check(v.page, "portal contact")

  await v.page.goto(team() + "/contacts")
  await v.page.getByRole("button", { name: "New contact" }).click()
  await v.page.getByLabel("Email address").fill(email)
  await v.page.getByLabel("First name").focus()
  await v.page.getByText("There is a contact with this address.").waitFor()
  await v.page.getByRole("link", { name: "Open it" }).click()
  await v.page.waitForURL(/contacts\/[0-9a-f-]{36}$/)
  await v.end()
})

test("values, tags and notes of a contact change at once, and a refusal takes them back", async (t) => {
  const size = await desk.admin.post("/fields", { entity: "contact", type: "number", label: "Size " + unique() })
  t.after(() => desk.admin.patch("/fields/" + size.id, { archived: true }))
  const c = await contact({ tags: ["VIP"] })
  const v = await member()
  await v.page.goto(`${team()}/contacts/${c.id}`)
  await v.page.getByRole("button", { name: /^Phone/ }).click()
  await v.page.getByLabel("Phone").fill("0470 11 22 33")
  await v.page.keyboard.press("Enter")
  await v.page.getByRole("button", { name: /^Phone: ?\+32470112233/ }).waitFor()
  await v.page.getByRole("button", { name: /^Email address/ }).click()
  await v.page.getByLabel("Email address").fill("nobody")
  await v.page.keyboard.press("Enter")
  await v.page.getByText("Enter an email address such as").waitFor()
  await check(v.page, "portal contact, value refused")
  await v.page.keyboard.press("Escape")
  await v.page.getByRole("button", { name: new RegExp("^Email address: ?" + c.email) }).waitFor()

  // A number goes as it is typed: one that cannot be read is refused, and clears nothing.
  const stored = async () => (await desk.admin.get("/contacts/" + c.id)).fields[size.key]
  const typed = async (words) => {
    await v.page.getByLabel(size.label).fill(words)
    await v.page.keyboard.press("Enter")
  }
  await v.page.getByRole("button", { name: new RegExp("^" + size.label) }).click()
  await typed("12,5")
  await until("the number", async () => (await stored()) === 12.5)
  await v.page.getByRole("button", { name: new RegExp("^" + size.label) }).click()
  await typed("12 kg")
  await v.page.locator(".inline-form .problem").waitFor()
  assert.equal(await stored(), 12.5)
  await v.page.keyboard.press("Escape")

  await v.page.getByLabel("Add a tag").fill("Spring")
  await v.page.keyboard.press("Enter")
  await v.page.getByRole("button", { name: "Remove the tag Spring" }).waitFor()
  await v.page.route("**/notes", (route) => route.abort(), { times: 1 })
  await v.page.getByLabel("New note").fill("Prefers mornings")
  await v.page.keyboard.press("Control+Enter")
  await v.page.getByText("The connection failed.").waitFor()
  assert.equal(await v.page.getByLabel("New note").inputValue(), "Prefers mornings")
  await v.page.getByRole("button", { name: "Add the note" }).click()
  await v.page.locator(".entry--note").getByText("Prefers mornings").waitFor()
  await until("the note", async () => (await desk.admin.get(`/contacts/${c.id}/activities`)).items.some((e) => e.body === "Prefers mornings"))

  await v.page.getByRole("button", { name: "More actions" }).click()
  await v.page.getByRole("menuitem", { name: "Move to the trash" }).waitFor()
  await check(v.page, "portal contact, menu")
  await v.page.getByRole("menuitem", { name: "Move to the trash" }).click()
  await v.page.getByText("In the trash since").waitFor()
  await v.page.getByRole("button", { name: "Undo" }).click()
  await v.page.getByText("In the trash since").waitFor({ state: "detached" })
  await v.end()
})

test("a change by somebody else shows without reloading", async () => {
  const c = await contact()
  const v = await member()
  await openListening(v, "/contacts/" + c.id, c.last_name)
  await desk.admin.patch(`/contacts/${c.id}`, { mode: "overwrite", first_name: "Augusta" })
  await v.page.getByRole("heading", { name: "Augusta " + c.last_name, level: 1 }).waitFor()
  await v.end()
})

test("two contacts become one after a look at both", async (t) => {
  const field = await desk.admin.post("/fields", { entity: "contact", type: "text", label: "Shoe size " + unique() })
  t.after(() => desk.admin.patch("/fields/" + field.id, { archived: true }))
  const shared = "Choir " + unique()
  const stays = await contact({ last_name: "Stays " + unique(), phone: "", tags: [shared, "VIP"] })
  await desk.admin.patch("/contacts/" + stays.id, { fields: { [field.key]: "41" } })
  const goes = await contact({ last_name: "Goes " + unique(), phone: "0470 12 34 56", tags: [shared, "Late"] })
  const v = await member({ viewport: { width: 320, height: 740 } })
  await v.page.goto(`${team()}/contacts/${stays.id}`)
  await v.page.getByRole("button", { name: "More actions" }).click()
  await v.page.getByRole("menuitem", { name: "Merge" }).click()
  await v.page.getByRole("combobox", { name: "Which record goes?" }).fill(goes.last_name)
  await v.page.getByRole("option", { name: goes.last_name }).click()
  await v.page.getByRole("cell", { name: "+32470123456" }).first().waitFor()
  await v.page.getByRole("rowheader", { name: field.label }).waitFor()
  await v.page.getByRole("cell", { name: `${shared}, VIP + Late`, exact: true }).waitFor()
  const frame = v.page.getByRole("group", { name: "What becomes of the values" })
  assert.ok(await frame.evaluate((e) => e.scrollWidth <= e.clientWidth), "both records are seen without scrolling")
  // The effects come from a rehearsal. One that has changed meanwhile is shown, and nothing happens before somebody decides again.
  const effects = v.page.getByRole("region", { name: "What will happen" })
  await effects.getByText("+32470123456").waitFor()
  await check(v.page, "portal merge 320")
  await desk.admin.patch(`/contacts/${goes.id}`, { mode: "overwrite", source: "Fair" })
  await v.page.getByRole("button", { name: "Merge and delete Ada " + goes.last_name }).click()
  await v.page.getByText("This would do something else by now.").waitFor()
  await effects.getByText("Fair").waitFor()
  await v.page.getByRole("button", { name: "Merge and delete Ada " + goes.last_name }).click()
  await v.page.getByRole("button", { name: /^Phone: ?\+32470123456/ }).waitFor()
  await v.page.locator(".changes").getByText(field.label).waitFor()
  await v.end()
})

test("organizations have people, and duplicates are settled", async () => {
  const name = "Atelier " + unique()
  await desk.admin.post("/organizations", { name })
  const v = await member()
  await v.page.goto(team() + "/organizations")
  await check(v.page, "portal organizations")
  await v.page.getByRole("button", { name: "New organization" }).click()
  await v.page.getByRole("dialog").getByLabel("Name").fill(name + " BV")
  await v.page.getByLabel("VAT number").focus()
  await v.page.getByText("There is a similar organization:").waitFor()
  await check(v.page, "portal new organization")
  await v.page.getByRole("button", { name: "Create the organization" }).click()
  await v.page.getByRole("heading", { name: name + " BV", level: 1 }).waitFor()
  const c = await contact()
  await v.page.getByRole("button", { name: "Add a person" }).click()
  await v.page.getByRole("combobox", { name: "Person" }).fill(c.last_name)
  await v.page.getByRole("option", { name: c.last_name }).click()
  await v.page.getByLabel("Role").fill("Owner")
  await v.page.getByRole("button", { name: "Save" }).click()
  await v.page.getByRole("link", { name: c.last_name }).first().waitFor()
  await check(v.page, "portal organization")
  await v.page.goto(team() + "/organizations/duplicates")
  await v.page.getByRole("button", { name: `Keep ${name} BV` }).waitFor()
  await check(v.page, "portal duplicates")
  const settle = () => v.page.getByRole("listitem").filter({ hasText: name }).getByRole("button", { name: "Not the same" }).click()
  await settle()
  await v.page.getByRole("button", { name: `Keep ${name} BV` }).waitFor({ state: "detached" })
  await v.page.getByRole("button", { name: "Undo" }).click()
  await v.page.getByRole("button", { name: `Keep ${name} BV` }).waitFor()
  await settle()
  await v.page.getByRole("button", { name: `Keep ${name} BV` }).waitFor({ state: "detached" })
  await v.end()
})

test("the keyboard alone reaches everything of a list", async () => {
  const c = await contact()
  const v = await member()
  await v.page.goto(team() + "/contacts")
  await v.page.getByRole("link", { name: c.last_name }).waitFor()
  await v.page.keyboard.press("/")
  await v.page.keyboard.type(c.last_name)
  await v.page.waitForURL(/search=/)
  await v.page.getByText("1 of 1").waitFor()
  await v.page.keyboard.press("Enter")
  await v.page.keyboard.press("j")
  await v.page.keyboard.press("Enter")
  await v.page.getByRole("heading", { name: c.last_name, level: 1 }).waitFor()
  await v.page.keyboard.press("Control+k")
  await v.page.getByRole("combobox", { name: "Search or go to…" }).waitFor()
  await v.page.keyboard.type("organi")
  await v.page.getByRole("option", { name: "Organizations", selected: true }).waitFor()
  await check(v.page, "portal palette")
  await v.page.getByRole("combobox", { name: "Search or go to…" }).press("Enter")
  await v.page.getByRole("heading", { name: "Organizations", level: 1 }).waitFor()
  // The screen that came by navigation has the key before the frame, as one that was opened by its address.
  await v.page.keyboard.press("/")
  await until("the search field has the focus", () => v.page.evaluate(() => document.activeElement?.getAttribute("type") === "search"))
  await v.page.evaluate(() => document.activeElement.blur())
  await v.page.keyboard.press("?")
  await v.page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor()
  await check(v.page, "portal keys")
  await v.end()
})

test("j and k walk row by row, to both ends and over rows that came later", async () => {
  const name = "Walk " + unique()
  for (let i = 0; i < 52; i++) await desk.admin.post("/contacts", { first_name: "Ada", last_name: name + " " + i })
  const v = await member()
  const at = () => v.page.evaluate(() => {
    const rows = [...document.querySelectorAll("tbody tr")]
    return rows.indexOf(document.activeElement.closest("tr")) + (document.activeElement.matches(".row-link") ? "" : ", not a name")
  })
  const press = async (...keys) => {
    for (const key of keys) await v.page.keyboard.press(key)
    return at()
  }
  await v.page.goto(team() + "/contacts?search=" + encodeURIComponent(name))
  await v.page.getByText("50 of 52").waitFor()
  assert.equal(await press("k"), "49", "k begins at the end")
  assert.equal(await press("j"), "49", "and nothing is behind it")
  // A change loads the list anew while its next page is on its way.
  const next = (url) => url.pathname === "/v1/contacts" && url.searchParams.has("cursor")
  await v.page.route(next, async (route) => {
    const anew = v.page.waitForRequest((r) => new URL(r.url()).pathname === "/v1/contacts" && !next(new URL(r.url())))
    await desk.admin.post("/contacts", { first_name: "Ada", last_name: name + " 52" })
    await anew
    await route.fallback().catch(() => {})
  }, { times: 1 })
  await v.page.getByRole("button", { name: "Load more" }).click()
  await v.page.getByText("53 of 53").waitFor()
  await v.page.getByRole("row").nth(50).getByRole("link").first().focus()
  assert.equal(await press("j", "j", "j"), "52")
  await v.page.getByRole("row").nth(8).getByRole("checkbox").focus()
  assert.equal(await press("j"), "7, not a name", "while somebody ticks a box, letters are the box's")
  await v.page.locator("body").evaluate(() => document.activeElement.blur())
  assert.equal(await press("j", "k", "j", "j"), "2")
  assert.equal(await press("k", "k", "k", "k"), "0")
  await v.end()
})

test("every state of a list says what is so and what to do", async () => {
  const v = await deaf(await member({ viewport: { width: 320, height: 740 } }))
  await v.page.goto(team() + "/contacts?search=nobody-has-this-name")
  await v.page.getByText("Nothing fits").waitFor()
  await check(v.page, "portal list, nothing fits")
  await v.page.getByRole("button", { name: "Clear the filters" }).click()
  await v.page.getByRole("table", { name: "Contacts" }).waitFor()
  await v.page.getByRole("button", { name: "Filters" }).click()
  await check(v.page, "portal list 320")

  await refused(v, { "/contacts": "*/v1/contacts?*" })
  await v.page.getByRole("table", { name: "Contacts" }).waitFor()

  for (const [path, status] of [["/contacts/", 308], ["/no-such-screen/", 404]]) {
    assert.equal((await v.page.request.get(team() + path, { maxRedirects: 0 })).status(), status, path)
  }
  assert.equal((await v.page.goto(team() + "/no-such-screen")).status(), 404)
  await v.page.getByText("There is nothing here").waitFor()
  await check(v.page, "portal nowhere")
  await v.page.goto(team() + "/contacts/00000000-0000-7000-8000-000000000000")
  await v.page.getByText("This record does not exist").waitFor()
  await check(v.page, "portal contact, gone")
  await v.end()
})

test("a session that ends asks to sign in, and what was typed goes on", async () => {
  const c = await contact()
  const v = await deaf(await member())
  await v.page.goto(`${team()}/contacts/${c.id}`)
  await v.page.getByLabel("New note").fill("Typed before the session ended")
  await endSession(v)
  await v.page.getByRole("button", { name: "Add the note" }).click()
  await v.page.getByRole("heading", { name: "Sign in again" }).waitFor()
  await check(v.page, "portal session ended")
  await v.page.getByLabel("Password").fill(state().admin?.password || password)
  await v.page.getByRole("button", { name: "Sign in", exact: true }).click()
  await v.page.locator(".entry--note").getByText("Typed before the session ended").waitFor()
  await until("the note", async () => (await desk.admin.get(`/contacts/${c.id}/activities`)).items.some((e) => e.body === "Typed before the session ended"))
  await v.end()
})

test("who does nothing is warned in every tab, then signed out, and what was typed is there after signing in", async () => {
  const c = await contact()
  const signedIn = { login: state().admin?.login || "admin", password: state().admin?.password || password }
  const login = await new Client().call("POST", "/auth/login", signedIn)
  const cookie = login.headers.getSetCookie()[0].split(";")[0]
  await known(new Client({ Cookie: cookie }))
  const v = await member({ cookie })
  await v.context.clock.install()
  const warning = (page) => page.getByRole("heading", { name: "Are you still there?" })
  const hours = (await desk.admin.get("/settings/portal")).idle_hours
  await v.page.goto(`${team()}/contacts/${c.id}`)
  await v.page.getByLabel("New note").fill("Typed before a long break")
  const second = await v.context.newPage()
  await second.goto(team() + "/contacts")
  await second.getByRole("table", { name: "Contacts" }).waitFor()

  await v.context.clock.fastForward(hours * 3600_000 - 110_000)
  for (const page of [v.page, second]) {
    await warning(page).waitFor()
    await page.getByText("In 2 minutes you will be signed out.").waitFor()
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Stay signed in")
  }
  await check(v.page, "portal idle warning")
  await second.getByRole("button", { name: "Stay signed in" }).click()
  await v.context.clock.fastForward(1000)
  for (const page of [v.page, second]) await warning(page).waitFor({ state: "detached" })
  assert.equal(await v.page.getByLabel("New note").inputValue(), "Typed before a long break")

  await v.context.clock.fastForward(hours * 3600_000 + 5000)
  for (const page of [v.page, second]) await page.getByRole("heading", { name: "Sign in again" }).waitFor()
  await until("the end of the session", () => new Client({ Cookie: cookie }).get("/me").then(() => false, (e) => e.status === 401))
  await v.page.getByLabel("Password").fill(signedIn.password)
  await v.page.getByRole("button", { name: "Sign in", exact: true }).click()
  await v.page.getByRole("button", { name: "Add the note" }).click()
  await v.page.locator(".entry--note").getByText("Typed before a long break").waitFor()
  await v.context.clock.fastForward(2000)
  await second.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "detached" })
  await v.end()
})

test("an offer to take something back stays as long as somebody points at it or has the focus in it", async () => {
  const c = await contact()
  const v = await member()
  const { page } = v
  await page.clock.install()
  await page.goto(`${team()}/contacts/${c.id}`)
  const undo = page.getByRole("button", { name: "Undo" })
  const trash = async () => {
    await page.getByRole("button", { name: "More actions" }).click()
    await page.getByRole("menuitem", { name: "Move to the trash" }).click()
    await undo.waitFor()
  }
  await trash()
  await undo.hover()
  await page.clock.runFor(60_000)
  assert.equal(await undo.count(), 1, "while somebody points at it")
  await undo.focus()
  await page.mouse.move(5, 5)
  await page.clock.runFor(60_000)
  assert.equal(await undo.count(), 1, "while it has the focus")
  await undo.press("Enter")
  await page.getByText("In the trash since").waitFor({ state: "detached" })
  await page.mouse.move(5, 5)
  await trash()
  await page.mouse.move(5, 5)
  await page.clock.runFor(12_000)
  await undo.waitFor({ state: "detached" })
  await v.end()
})

test("while a record loads, and when it does not, the tab is not called as the screen before", async () => {
  const c = await contact()
  const v = await member()
  const { page } = v
  await page.goto(team() + "/services")
  await page.waitForFunction(() => document.title === "Services · Praktijk Linde")
  let answer
  const asked = new Promise((resolve) => (answer = resolve))
  await page.route("**/v1/contacts/" + c.id, async (route) => (await asked, await route.continue()))
  await go(v, "/contacts/" + c.id)
  await page.locator(".skeleton").waitFor()
  assert.equal(await page.title(), "Praktijk Linde")
  answer()
  await page.waitForFunction((name) => document.title.includes(name), c.last_name)
  await page.route("**/v1/organizations/*", (route) => route.fulfill({ status: 404, json: { code: "svc_not_found", message: "" } }))
  await go(v, "/organizations/" + c.id)
  await page.locator(".blank").waitFor()
  assert.equal(await page.title(), "Praktijk Linde")
  await v.end()
})

test("the page begins in the language and the theme that a person chose in this browser", async () => {
  const v = await member()
  await v.page.goto(team() + "/contacts")
  await v.page.locator(".person-button").click()
  await v.page.getByRole("radio", { name: "Dark" }).check({ force: true })
  await v.page.getByRole("combobox", { name: "Language" }).selectOption("nl")
  await v.page.getByRole("heading", { name: "Contacten", level: 1 }).waitFor()
  const answer = await v.page.request.get(team() + "/contacts")
  assert.match(await answer.text(), /<html lang="nl" data-theme="dark">[^]*<h1>Contacten<\/h1>/, "the server has them before the program does")
  assert.equal(await v.page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark")
  await check(v.page, "portal contacts dark nl")
  await v.page.locator(".person-button").click()
  await v.page.getByRole("radio", { name: "Zoals het systeem" }).check({ force: true })
  await v.page.reload()
  assert.equal(await v.page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "light dark")
  await v.end()
})

test("each language has its words", async () => {
  for (const [locale, title] of [["nl-BE", "Contacten"], ["fr-FR", "Contacts"], ["de-DE", "Kontakte"]]) {
    const v = await member({ locale })
    await v.page.goto(team() + "/contacts")
    await v.page.getByRole("heading", { name: title, level: 1 }).waitFor()
    await v.page.getByRole("table", { name: title }).waitFor()
    await check(v.page, "portal contacts " + locale)
    await v.end()
  }
})
