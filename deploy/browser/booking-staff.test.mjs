import assert from "node:assert/strict"
import { before, describe, test } from "node:test"
import { check, host, visitor } from "./browser.mjs"
import { Client, hire, ripe, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

let dirk, bea, talk, walk
before(async () => {
  ;[dirk, bea] = await Promise.all([hire(desk.admin, "Dirk Claes", [["09:00", "12:00"]]), hire(desk.admin, "Bea Maes", [["18:00", "20:00"]])])
  const service = (name, staff) => desk.admin.post("/services", { name: `${name} ${Date.now().toString(36)}`, duration_min: 60, location_type: "in_person", bookable_online: true, staff })
  talk = await service("Good talk", [dirk, bea])
  walk = await service("Evening walk", [bea])
  await until("both people's times", async () => {
    const free = (await new Client().get("/booking/slots?service=" + talk.id).catch(() => ({ items: [] }))).items
    return [dirk, bea].every((id) => free.some((s) => s.staff.includes(id)))
  })
})

const address = (name) => `${name}-${Date.now().toString(36)}@example.com`
const gatewayHost = () => new URL(desk.gateway).host

// The user id of whoever has the appointment of this address.
const whose = async (email) => {
  const contact = await until("the contact", async () => (await desk.admin.get("/contacts?search=" + encodeURIComponent(email))).items[0])
  return (await until("the appointment", async () => (await desk.admin.get("/appointments?contact=" + contact.id)).items[0])).staff.user_id
}

const upgraded = (page) => page.waitForFunction(() => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".day--free, .choice"))
// The times of the first free day of next month, which is whole whenever the test runs.
async function timesNextMonth(page) {
  const month = await page.locator(".month-name:visible").textContent()
  await page.getByRole("button", { name: "Next month" }).click()
  await page.waitForFunction((old) => document.querySelector("svc-booking").shadowRoot.querySelector(".month-name").textContent !== old, month)
  await page.locator(".time").filter({ visible: true }).first().waitFor()
  return seen(page, ".time")
}
// The page's own HTML stays below the widget, hidden.
const person = (page) => page.getByLabel("With", { exact: true }).filter({ visible: true })
const seen = (page, what) => page.locator(what).filter({ visible: true }).allTextContents()
const by = (page, name) => person(page).selectOption({ label: name })

describe("visitors who come at once", { concurrency: 4 }, () => {
  test("a visitor chooses a person, sees their times and gets them; with anyone, whoever is free comes", async () => {
    const v = await visitor(browser, { delays: true, hosts: [gatewayHost()] })
    const { page } = v
    const book = async (email) => {
      await page.getByLabel("Email address").fill(email)
      await page.getByRole("button", { name: "Book", exact: true }).click()
      await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
    }
    await page.goto(`${desk.bookPage}?service=${talk.id}`)
    await upgraded(page)
    const [first, ...people] = await person(page).locator("option").allTextContents()
    assert.equal(first, "Anyone who is free")
    assert.deepEqual(people.sort(), ["Bea Maes", "Dirk Claes"])
    const anyone = await timesNextMonth(page)
    assert.ok(anyone.includes("09:00") && anyone.includes("18:00"), anyone.join())
    await check(page, "staff anyone")

    await by(page, "Dirk Claes")
    const day = await timesNextMonth(page)
    assert.ok(day.includes("09:00") && !day.includes("18:00"), day.join())
    await by(page, "Bea Maes")
    const evening = await timesNextMonth(page)
    assert.ok(evening.includes("18:00") && !evening.includes("09:00"), evening.join())
    assert.deepEqual([...new Set([...day, ...evening])].sort(), anyone, "anyone's times are all of them")
    await check(page, "staff chosen")
    await page.locator(".time:visible", { hasText: "18:00" }).click()
    await page.locator(".facts").getByText("Bea Maes").waitFor()
    await check(page, "staff details")
    const named = address("named")
    await book(named)
    assert.match(await page.locator(".rows").innerText(), /Bea Maes/)
    await check(page, "staff done")
    assert.equal(await whose(named), bea)

    // A second booking begins with no choice.
    await page.getByRole("button", { name: "Book another" }).click()
    await page.getByRole("heading", { name: "Choose a day and time" }).waitFor()
    assert.equal(await person(page).inputValue(), "0")
    await timesNextMonth(page)
    await page.locator(".time:visible", { hasText: "09:00" }).click()
    const unnamed = address("anyone")
    await book(unnamed)
    assert.equal(await whose(unnamed), dirk)
    await v.end()
  })

  test("without script a person is chosen too", async () => {
    const v = await visitor(browser, { javaScriptEnabled: false, hosts: [gatewayHost()], viewport: { width: 320, height: 700 } })
    const { page } = v
    await page.goto(`${desk.bookPage}?service=${talk.id}`)
    await by(page, "Bea Maes")
    await page.getByRole("button", { name: "Show" }).click()
    // The test beside this one books in the next month.
    for (let i = 0; i < 2; i++) await page.getByRole("link", { name: "Next month" }).click()
    assert.equal(await person(page).inputValue(), String(bea), "another month is of the same person")
    assert.equal(await page.locator("a.time", { hasText: "09:00" }).count(), 0)
    await check(page, "plain staff")
    await page.locator("a.time", { hasText: "19:00" }).click()
    await page.locator(".facts").getByText("Bea Maes").waitFor()
    const shown = Date.now()
    await page.getByLabel("Email address").fill(address("plainly"))
    await ripe(shown)
    await page.getByRole("button", { name: "Book", exact: true }).click()
    await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
    assert.match(await page.locator(".rows").innerText(), /Bea Maes/)
    await v.end()
  })

  test("a widget or page for one person offers what that person does", async () => {
    const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking staff="${bea}"><a href="${desk.bookPage}?staff=${bea}">Book Bea</a></svc-booking>`)
    const v = await visitor(browser, { delays: true, hosts: [gatewayHost(), new URL(site.url).host] })
    const { page } = v
    const names = async (page) => (await seen(page, ".choice .name")).sort()
    const hers = [talk.name, walk.name].sort()
    try {
      await page.goto(site.url)
      await upgraded(page)
      assert.deepEqual(await names(page), hers)
      await page.getByRole("button", { name: talk.name }).click()
      assert.equal(await person(page).inputValue(), String(bea))
      await page.locator(".time").first().waitFor()
      assert.ok((await seen(page, ".time")).every((t) => t >= "18"))
      await by(page, "Anyone who is free")
      await page.getByRole("button", { name: "Another service" }).click()
      await page.getByRole("button", { name: talk.name }).click()
      assert.equal(await person(page).inputValue(), String(bea))
      await page.goto(`${desk.bookPage}?staff=${bea}`)
      await upgraded(page)
      assert.deepEqual(await names(page), hers)
      await v.end()
    } finally {
      site.close()
    }
    const plain = await visitor(browser, { javaScriptEnabled: false, hosts: [gatewayHost()] })
    await plain.page.goto(`${desk.bookPage}?staff=${bea}`)
    assert.deepEqual(await names(plain.page), hers)
    await plain.page.getByRole("link", { name: talk.name }).click()
    assert.equal(await person(plain.page).inputValue(), String(bea))
    await plain.end()
  })
})
