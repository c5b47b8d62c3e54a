import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { check, host, launch, visitor } from "./browser.mjs"
import { mailLink, mails, pause, setUp, until } from "./system.mjs"

let browser, desk
before(async () => {
  desk = await setUp()
  browser = await launch()
})
after(() => browser?.close())

const address = (name) => `${name}-${Date.now().toString(36)}@example.com`
const onPage = (service = desk.intake, more = "") => `${desk.bookPage}?service=${service.id}${more}`
const gatewayHost = () => new URL(desk.gateway).host

// Waits until the widget has taken the place of the page's own HTML.
const upgraded = (page) => page.waitForFunction(() => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".day--free, .choice"))

for (const [way, options] of Object.entries({ "switched off": { javaScriptEnabled: false }, "not loading": { scripts: false } })) test(`with script ${way} a visitor books, and moves by the mail's link`, async () => {
  const v = await visitor(browser, { ...options, hosts: [gatewayHost()] })
  const { page } = v
  const email = address("plain")
  await page.goto(desk.bookPage)
  await check(page, "plain services")
  await page.getByRole("link", { name: desk.intake.name }).click()
  await check(page, "plain times")
  await page.locator("a.time").first().click()
  await check(page, "plain details")
  await pause(3100)
  await page.getByRole("button", { name: "Book" }).click()
  await page.getByText("One answer needs your attention").waitFor()
  await check(page, "plain error")
  await page.getByLabel("First name").fill("Ada")
  await page.getByLabel("Email address").fill(email)
  await page.getByRole("button", { name: "Book" }).click()
  await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
  await check(page, "plain done")

  // Without script the link's fragment reaches nobody; it is pasted.
  const link = await mailLink(email, "/manage")
  await page.goto(link)
  await check(page, "plain manage")
  await page.getByLabel("Link or code").fill(link)
  await page.getByRole("button", { name: "Show my appointment" }).click()
  await page.getByText("This appointment is confirmed.").waitFor()
  await check(page, "plain appointment")
  await page.getByRole("button", { name: "Move" }).click()
  await check(page, "plain move")
  await page.locator("button.time").last().click()
  await page.getByRole("heading", { name: "Move your appointment?" }).waitFor()
  await check(page, "plain move confirm")
  await page.getByRole("button", { name: "Move it" }).click()
  await page.getByRole("heading", { name: "Your appointment is moved" }).waitFor()
  await check(page, "plain moved")

  await page.goto(desk.bookPage)
  await page.goto((await mailLink(email, "/manage", 2)).split("#")[0])
  await page.getByLabel("Link or code").fill(link)
  await page.getByRole("button", { name: "Show my appointment" }).click()
  await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor()
  await check(page, "plain link used")
  await v.end()
})

test("the mail's link opens the appointment by itself, and cancels it", async () => {
  const email = address("linked")
  await book(email)
  const v = await visitor(browser, { hosts: [gatewayHost()] })
  const { page } = v
  await page.goto(await mailLink(email, "/manage"))
  await page.getByText("This appointment is confirmed.").waitFor()
  assert.ok(!page.url().includes("token"), "the token does not stay in the address")
  await check(page, "manage")
  await page.getByRole("button", { name: "Cancel appointment" }).click()
  await page.getByRole("heading", { name: "Cancel this appointment?" }).waitFor()
  await check(page, "manage cancel")
  await page.getByLabel("Reason").fill("I am ill.")
  await page.getByRole("button", { name: "Yes, cancel it" }).click()
  await page.getByRole("heading", { name: "Your appointment is cancelled" }).waitFor()
  await check(page, "manage cancelled")
  await until("the mail", async () => (await mails(email)).length >= 2)
  await v.end()
})

test("the widget takes the page's place and books, by keyboard alone", async () => {
  const email = address("keys")
  const v = await visitor(browser, { delays: true, hosts: [gatewayHost()], reducedMotion: "reduce" })
  const { page } = v
  await page.goto(desk.bookPage)
  await upgraded(page)
  await check(page, "widget services")
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "BODY", "nothing takes focus by itself")
  await page.getByRole("button", { name: desk.intake.name }).focus()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Choose a day and time" }).waitFor()
  await focused(page, "Choose a day and time")
  await page.locator(".day--free").first().waitFor()
  await check(page, "widget times")

  await page.locator(".day--chosen").focus()
  await page.keyboard.press("PageDown")
  await page.keyboard.press("Home")
  await until("focus on a Monday", async () => (await label(page)).startsWith("Monday"))
  await page.keyboard.press("ArrowRight")
  await until("focus on a Tuesday", async () => (await label(page)).startsWith("Tuesday"))
  await until("free times of that day", async () => /\d free times/.test(await label(page)))
  await page.keyboard.press("Enter")
  await until("focus on the day's heading", async () => (await text(page)).startsWith("Tuesday"))
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await focused(page, "Your details")
  await check(page, "widget details")

  await page.getByRole("button", { name: "Book" }).press("Enter")
  await until("focus on the only wrong field", async () => (await page.evaluate(() => deep()?.id)) === "f-email")
  await check(page, "widget error")
  await page.keyboard.type(email)
  await page.getByLabel("First name").fill("Grace")
  await page.getByRole("button", { name: "Book" }).press("Enter")
  await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
  await focused(page, "Your appointment is booked")
  await check(page, "widget done")
  await mailLink(email, "/manage")
  await v.end()
})

test("on somebody else's site, under a strict policy and at 320 pixels, in Dutch, in another time zone", async () => {
  const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking service="${desk.followUp.id}" lang="nl"><a href="${desk.bookPage}">Maak een afspraak</a></svc-booking>`)
  await desk.admin.patch("/settings/form-style", { font: "svc:lora", button_background: "#0f766e", button_icon: "calendar", button_width: "full", field_radius: 4, button_radius: 24 })
  const v = await visitor(browser, { viewport: { width: 320, height: 700 }, timezoneId: "America/New_York", delays: true, hosts: [gatewayHost(), new URL(site.url).host] })
  const { page } = v
  try {
    await page.goto(site.url)
    await page.getByRole("heading", { name: "Kies een dag en uur" }).waitFor()
    await page.locator(".time").first().waitFor()
    await check(page, "foreign times")
    await page.getByText(/uw tijd/).first().waitFor()
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("svc-booking").shadowRoot.querySelector(".svc")).fontFamily.includes("svc-lora")), true)
    await page.locator(".time").first().click()
    await page.getByLabel("E-mailadres").fill(address("foreign"))
    await check(page, "foreign details")
    await page.getByRole("button", { name: "Aanvraag versturen" }).click()
    await page.getByRole("heading", { name: "Uw aanvraag is verstuurd" }).waitFor()
    await check(page, "foreign done")
    await v.end()
  } finally {
    site.close()
    await desk.admin.patch("/settings/form-style", { font: null, button_background: null, button_icon: null, button_width: null, field_radius: null, button_radius: null })
  }
})

// Books through the API, as somebody did who is not under test.
async function book(email, service = desk.intake) {
  const { Client } = await import("./system.mjs")
  const free = await new Client().get(`/booking/slots?service=${service.id}`)
  await pause(3100)
  const slot = free.items[Math.floor(free.items.length / 2)]
  return new Client().post("/booking/book", { service: service.id, starts_at: slot.starts_at, token: free.token, hp_url: "", page: "", values: { email, first_name: "Ada" } })
}

const inside = "globalThis.deep = () => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e }"
const label = async (page) => (await page.evaluate(inside), page.evaluate(() => deep()?.getAttribute("aria-label") ?? ""))
const text = async (page) => (await page.evaluate(inside), page.evaluate(() => deep()?.textContent ?? ""))
const focused = (page, heading) => until(`focus on ${heading}`, async () => (await text(page)) === heading)
