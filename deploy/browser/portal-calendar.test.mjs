// What the calendar does beyond a day's list: months, colours, lengths, time off, paper; and the year of the business, its services and their pages.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check, shot } from "./browser.mjs"
import { Client, ripe, until } from "./system.mjs"
import { checkScreens, colleague, dayOf, desk, member, open, team, unique, wall } from "./team.mjs"

const clock = (moment) => wall(moment).slice(11)

/** An appointment of a new client, some days from now, where nothing else is. */
async function appointment(days, service = desk.intake) {
  const last_name = "Maes " + unique()
  const contact = await desk.admin.post("/contacts", { first_name: "Bea", last_name, email: last_name.replace(" ", ".").toLowerCase() + "@example.com" })
  const from = dayOf(Date.now() + days * 86_400_000)
  const [slot] = (await desk.admin.get(`/slots?service=${service.id}&staff=${desk.user}&from=${from}&to=${dayOf(Date.now() + (days + 20) * 86_400_000)}`)).items
  const made = await desk.admin.post("/appointments", { contact: contact.id, service: service.id, starts_at: slot.starts_at, staff: desk.user })
  return { ...made, client: "Bea " + last_name }
}

/** Draws with the mouse from one point to another, as slowly as a hand. */
async function draw(page, from, to) {
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  for (let i = 1; i <= 8; i++) await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8)
  await page.mouse.up()
}

test("a month counts each day, goes by keys, and what was chosen is there the next time", async () => {
  const a = await appointment(24)
  const day = dayOf(a.starts_at)
  const v = await member()
  await open(v, `/calendar?date=${day}`, "Calendar")
  await v.page.keyboard.press("m")
  const cell = v.page.getByRole("gridcell", { selected: true })
  await cell.getByText(a.client).waitFor()
  assert.match(await cell.getByRole("button").first().getAttribute("aria-label"), /\d+ appointments?/)
  await v.page.getByLabel("Colours by status").selectOption("service")
  await cell.locator(".month-first[class*=tone-]").first().waitFor()
  await v.page.getByLabel("Every service").selectOption({ label: desk.visit.name })
  await cell.getByText(a.client).waitFor({ state: "detached" })
  await v.page.getByLabel("Every service").selectOption({ label: desk.intake.name })
  await cell.getByText(a.client).waitFor()
  await check(v.page, "portal calendar month")
  await shot(v.page, "portal calendar month")
  // An appointment of the chosen day is reached from it, and opens beside the month.
  const one = cell.getByRole("button", { name: a.client })
  assert.equal(await one.getAttribute("tabindex"), "0")
  await one.press("Enter")
  const look = v.page.getByRole("dialog", { name: a.client })
  await look.getByRole("link", { name: "Open" }).waitFor()
  await check(v.page, "portal calendar month look")
  await v.page.keyboard.press("Escape")
  await look.waitFor({ state: "detached" })
  assert.equal(await one.evaluate((e) => e === document.activeElement), true, "the focus comes back")
  await cell.getByRole("button").first().focus()
  await v.page.keyboard.press("ArrowDown")
  const next = new Date(Date.parse(day) + 7 * 86_400_000).toISOString().slice(0, 10)
  await v.page.waitForURL(new RegExp("date=" + next))
  assert.equal(await v.page.evaluate(() => document.activeElement.closest("[aria-selected=true]") !== null), true, "the focus goes along")
  await v.page.keyboard.press("PageDown")
  await v.page.waitForURL((url) => url.searchParams.get("date") > next)
  await v.page.keyboard.press("Enter")
  await v.page.waitForURL(/view=day/)
  await v.page.getByRole("button", { name: "Month", exact: true }).click()
  await open(v, "/contacts", "Contacts")
  await v.page.getByRole("link", { name: "Calendar" }).first().click()
  await v.page.getByRole("grid", { name: "Month" }).waitFor()
  assert.equal(await v.page.getByLabel("Colours by status").inputValue(), "service")
  await v.end()
})

test("an appointment is drawn longer with a question, and the toast takes it back", async () => {
  const a = await appointment(31)
  const v = await member()
  await open(v, `/calendar?view=day&date=${dayOf(a.starts_at)}`, "Calendar")
  const block = v.page.getByRole("button", { name: a.client })
  await block.scrollIntoViewIfNeeded()
  const box = await block.boundingBox()
  await v.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  const foot = { x: box.x + box.width / 2, y: box.y + box.height - 2 }
  await draw(v.page, foot, { x: foot.x, y: foot.y + 32 })
  const dialog = v.page.getByRole("dialog", { name: "Move the appointment of " + a.client })
  await dialog.getByText(`${desk.intake.name} takes`).waitFor()
  await check(v.page, "portal calendar longer")
  await dialog.getByRole("button", { name: "Move and mail the client" }).click()
  const lasts = async () => {
    const { starts_at, ends_at } = await desk.admin.get("/appointments/" + a.id)
    return [starts_at, (Date.parse(ends_at) - Date.parse(starts_at)) / 60_000]
  }
  await until("a longer appointment", async () => (await lasts())[1] === desk.intake.duration_min + 30)
  await v.page.getByRole("button", { name: "Undo" }).click()
  await until("the length of before", async () => (await lasts())[1] === desk.intake.duration_min)
  // The same by keys.
  await open(v, "/appointments/" + a.id, a.client)
  await v.page.keyboard.press("m")
  await dialog.getByRole("button", { name: /Change the length/ }).click()
  await dialog.getByLabel("Length in minutes").fill("75")
  await dialog.getByLabel("Length in minutes").press("Enter")
  await until("a length that was typed", async () => (await lasts())[1] === 75)
  assert.equal((await lasts())[0], a.starts_at)
  await v.page.getByRole("heading", { name: "What happened" }).waitFor()
  await v.page.getByRole("listitem").filter({ hasText: "Moved" }).first().waitFor()
  await check(v.page, "portal appointment history")
  await v.end()
})

test("a stretch of time that is drawn becomes an appointment of that length, or time off", async () => {
  const a = await appointment(38)
  const day = dayOf(a.starts_at)
  const v = await member()
  await open(v, `/calendar?view=day&date=${day}`, "Calendar")
  const block = v.page.getByRole("button", { name: a.client })
  await block.scrollIntoViewIfNeeded()
  const box = await block.boundingBox()
  const begin = { x: box.x + box.width / 2, y: box.y + box.height + 34 }
  const drawn = async () => {
    await draw(v.page, begin, { x: begin.x, y: begin.y + 48 })
    return v.page.getByRole("dialog")
  }
  const times = async (dialog) => (await dialog.getByRole("heading").textContent()).match(/\d\d:\d\d/g)
  let dialog = await drawn()
  let [from, to] = await times(dialog)
  await check(v.page, "portal calendar drawn")
  await dialog.getByLabel("Reason").fill("Dentist")
  await dialog.getByRole("button", { name: "Block the time" }).click()
  await v.page.locator(".grid .away").filter({ hasText: "Dentist" }).waitFor()
  const off = async () => (await desk.admin.get(`/staff/${desk.user}/exceptions`)).items.filter((e) => e.label === "Dentist" && e.date_from === day)
  assert.deepEqual((await off()).map((e) => [e.start, e.end]), [[from, to]])
  await v.page.getByRole("button", { name: "Undo" }).click()
  await until("no time off", async () => (await off()).length === 0)
  dialog = await drawn()
  ;[from, to] = await times(dialog)
  await dialog.getByRole("button", { name: "Book an appointment" }).click()
  await v.page.waitForURL(/appointments\/new/)
  assert.equal(new URL(v.page.url()).searchParams.get("until"), `${day}T${to}`)
  await v.page.getByRole("combobox", { name: "Name, email or phone number" }).pressSequentially(a.client.split(" ").at(-1))
  await v.page.getByRole("option", { name: a.client }).click()
  await v.page.getByRole("button", { name: desk.intake.name }).click()
  await v.page.getByLabel(/As marked/).check()
  await check(v.page, "portal new appointment as marked")
  await v.page.getByRole("button", { name: "Book and mail the client" }).click()
  await v.page.getByRole("heading", { name: a.client, level: 1 }).waitFor()
  await v.page.getByText(`${from} – ${to}`).first().waitFor()
  await v.end()
})

test("arrows scroll a calendar that is wider than its window, and go to other days elsewhere", async () => {
  const others = await Promise.all([1, 2, 3].map(() => colleague()))
  for (const { user_id } of others) await desk.admin.put(`/staff/${user_id}/hours`, { hours: Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((day) => [day, [["09:00", "17:00"]]])) })
  const v = await member({ viewport: { width: 560, height: 800 } })
  await open(v, "/calendar?view=day&date=" + dayOf(Date.now()), "Calendar")
  const grid = v.page.locator(".grid [tabindex='0']").first()
  await grid.waitFor()
  await until("columns beyond the window", () => grid.evaluate((e) => e.scrollWidth > e.clientWidth))
  const before = v.page.url()
  await grid.press("ArrowRight")
  await until("the grid scrolls", () => grid.evaluate((e) => e.scrollLeft > 0))
  assert.equal(v.page.url(), before)
  await grid.evaluate((e) => e.blur())
  await v.page.keyboard.press("ArrowRight")
  await v.page.waitForURL((url) => url.href !== before)
  await v.end()
})

test("on paper a week is black on white, with its days above it", async () => {
  const a = await appointment(45)
  const v = await member({ colorScheme: "dark" })
  await open(v, `/calendar?view=week&date=${dayOf(a.starts_at)}`, "Calendar")
  await v.page.getByRole("button", { name: a.client }).waitFor()
  await v.page.emulateMedia({ media: "print", colorScheme: "dark" })
  const look = await v.page.getByRole("button", { name: a.client }).evaluate((e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor])
  assert.deepEqual(look, ["rgb(0, 0, 0)", "rgb(255, 255, 255)"])
  assert.equal(await v.page.locator(".calendar-title").isVisible(), true)
  for (const hidden of [".calendar-views", "#nav", ".head-actions"]) assert.equal(await v.page.locator(hidden).first().isVisible(), false, hidden)
  await shot(v.page, "portal calendar week on paper")
  await v.end()
})

test("a day on paper is a list with the clients' numbers, of which nothing is cut", async () => {
  const a = await appointment(59)
  const [phone, last_name] = ["+32 2 555 01 23", "Wijnendaele".repeat(8)]
  await desk.admin.patch("/contacts/" + a.contact.id, { mode: "overwrite", phone, last_name })
  await until("the number", async () => (await desk.admin.get("/appointments/" + a.id)).contact.phone === phone)
  // What A4 leaves between its margins.
  const v = await member({ viewport: { width: 703, height: 1000 }, colorScheme: "dark", locale: "nl-BE" })
  await v.context.addInitScript(() => (window.print = () => (window.printed = true)))
  await open(v, `/calendar?view=day&date=${dayOf(a.starts_at)}`, "Agenda")
  await v.page.getByRole("button", { name: last_name }).waitFor()
  await v.page.keyboard.press("p")
  await v.page.waitForFunction(() => window.printed)
  await v.page.emulateMedia({ media: "print", colorScheme: "dark" })
  const row = v.page.getByRole("row").filter({ hasText: last_name })
  for (const text of [clock(a.starts_at), "Bea", desk.intake.name, phone]) await row.getByText(text).waitFor()
  assert.deepEqual(await v.page.getByRole("columnheader").allInnerTexts(), ["Tijd", "Klant", "Dienst", "Plaats", "Telefoon"])
  assert.equal(await v.page.locator(".calendar").isVisible(), false)
  assert.deepEqual(await v.page.evaluate(() => [...document.querySelectorAll(".sheet :is(th, td)")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)), [])
  await check(v.page, "portal calendar day on paper")
  await v.end()
})

test("what a visitor booked is spam with one answer, and its time is free", async () => {
  const email = `victim.${unique()}@example.com`
  const visitor = new Client()
  const asked = await visitor.get("/booking/slots?service=" + desk.intake.id)
  await ripe(Date.now())
  await visitor.post("/booking/book", { service: desk.intake.id, starts_at: asked.items.at(-1).starts_at, token: asked.token, hp_url: "", page: "", values: { first_name: "Spam", last_name: unique(), email } })
  const found = async () => (await desk.admin.get("/appointments?search=" + encodeURIComponent(email))).items
  await until("the booking", async () => (await found()).length > 0)
  const [made] = await found()
  const v = await member()
  await open(v, "/appointments/" + made.id, made.contact.name)
  await v.page.getByRole("button", { name: "This is spam" }).click()
  const dialog = v.page.getByRole("dialog")
  await dialog.getByText("nobody gets a mail about it").waitFor()
  await check(v.page, "portal appointment spam")
  await dialog.getByRole("button", { name: /as spam/ }).click()
  await v.page.getByText(/is marked as spam/).first().waitFor()
  assert.equal((await desk.admin.get("/appointments/" + made.id)).cancel_reason, "spam")
  await v.end()
})

test("the year of the business: public holidays by one press, once, and hours until midnight", async () => {
  const v = await member()
  const year = new Date().getFullYear() + 2
  const added = async () => (await desk.admin.get("/closures")).items.filter((e) => e.date_from.startsWith(year))
  await open(v, "/hours?staff=business", "Working hours")
  const press = async () => {
    await v.page.getByRole("button", { name: "Public holidays" }).click()
    const dialog = v.page.getByRole("dialog", { name: "Public holidays" })
    await dialog.getByLabel("Year").selectOption(String(year))
    await dialog.getByLabel("Country").selectOption("DE")
    await dialog.getByLabel("State or canton").selectOption("DE-BY")
    await check(v.page, "portal holidays")
    await dialog.getByRole("button", { name: "Add the holidays" }).click()
  }
  await press()
  await v.page.getByText(/holidays were added/).waitFor()
  const once = (await added()).length
  assert.ok(once >= 12, `${once} days`)
  await v.page.getByRole("button", { name: "Year", exact: true }).click()
  await v.page.getByRole("button", { name: "Next year" }).click()
  await v.page.getByRole("button", { name: "Next year" }).click()
  await v.page.getByRole("button", { name: /Epiphany/ }).waitFor()
  await check(v.page, "portal year of closures")
  await press()
  await v.page.getByText(`The holidays of ${year} are there already.`).waitFor()
  assert.equal((await added()).length, once)
  for (const e of await added()) await desk.admin.call("DELETE", "/exceptions/" + e.id)
  const before = await desk.admin.get(`/staff/${desk.user}/hours`)
  try {
    await open(v, "/hours?staff=" + desk.user, "Working hours")
    await v.page.getByRole("button", { name: "Add a block on Sunday" }).click()
    await v.page.getByLabel("Sunday, block 3: from").fill("20:00")
    await v.page.getByLabel("Sunday, block 3: to").fill("00:00")
    await v.page.getByText("end of the day").waitFor()
    await v.page.getByRole("button", { name: "Save" }).click()
    await v.page.getByText(/The hours of .* are saved/).waitFor()
    assert.deepEqual((await desk.admin.get(`/staff/${desk.user}/hours`))["7"].at(-1), ["20:00", "24:00"])
  } finally {
    await desk.admin.put(`/staff/${desk.user}/hours`, { hours: before })
  }
  await v.end()
})

test("services are put into an order by keys and by hand, and onto a page", async () => {
  const name = "Extra " + unique()
  const extra = await desk.admin.post("/services", { name, duration_min: 30, staff: [desk.user], sort_order: 1000 })
  const v = await member()
  await open(v, "/services", "Services")
  await v.page.getByRole("button", { name: "Change the order" }).click()
  const names = async () => (await desk.admin.get("/services")).items.map((s) => s.name)
  const last = (await names()).indexOf(name)
  await v.page.getByRole("button", { name: `Move ${name} up` }).press("Enter")
  await until("a place further up", async () => (await names()).indexOf(name) === last - 1)
  await check(v.page, "portal services order")
  await shot(v.page, "portal services order")
  await v.page.keyboard.press("Alt+ArrowDown")
  await until("the place of before", async () => (await names()).indexOf(name) === last)
  const [grip, top] = [await v.page.locator(".order-row").filter({ hasText: name }).locator(".order-grip").boundingBox(), await v.page.locator(".order-row").first().boundingBox()]
  await draw(v.page, { x: grip.x + 10, y: grip.y + 20 }, { x: grip.x + 10, y: top.y + 4 })
  await until("the first place", async () => (await names())[0] === name)
  await open(v, "/services/" + extra.id, name)
  await v.page.getByText("HTML for any site").waitFor()
  await v.page.getByRole("button", { name: "Put on a page" }).click()
  await check(v.page, "portal service on a page")
  await v.page.getByRole("dialog").getByRole("button", { name: "Add the booking" }).click()
  await v.page.getByText(`The draft ${name} was made.`).waitFor()
  await check(v.page, "portal service embed")
  assert.ok((await desk.admin.get("/pages?per_page=100")).items.some((p) => p.title === name && p.content.includes(extra.id)))
  await desk.admin.call("DELETE", "/services/" + extra.id)
  await v.end()
})

test("the screens of the calendar in every mode", async () => {
  const a = await appointment(52)
  await checkScreens("calendar", (page) => [
    ["/calendar?view=month&date=" + dayOf(a.starts_at), page.getByRole("grid", { name: "Month" }), "month"],
    ["/calendar?view=week&colour=service&date=" + dayOf(a.starts_at), page.getByRole("button", { name: a.client }), "colours"],
  ])
})
