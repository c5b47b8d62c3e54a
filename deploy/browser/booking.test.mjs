import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import { check, host, visitor } from "./browser.mjs"
import { Client, hire, mailLink, mails, ripe, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"
import { budgets, weigh } from "./weigh.mjs"

const address = (name) => `${name}-${Date.now().toString(36)}@example.com`
const onPage = (service = desk.intake, more = "") => `${desk.bookPage}?service=${service.id}${more}`
const gatewayHost = () => new URL(desk.gateway).host

// Waits until the widget has taken the place of the page's own HTML.
const upgraded = (page) => page.waitForFunction(() => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".day--free, .choice"))

// A service of a colleague who has no other: nobody else takes its times.
let offices = 0
async function office(fields) {
  const staff = [await hire(desk.admin, "Colleague " + ++offices, [["09:00", "12:00"], ["13:00", "17:30"]])]
  const service = await desk.admin.post("/services", { name: `Visit ${offices} ${Date.now().toString(36)}`, duration_min: 60, location_type: "in_person", location_details: "Lindelaan 12, Gent", bookable_online: true, staff, ...fields })
  await until("free times", async () => (await new Client().get("/booking/slots?service=" + service.id).catch(() => ({ items: [] }))).items.length > 5)
  return service
}

// Books a service through the API, as somebody who is not under test: by default at a time far from the first and the last.
async function book(email, service = desk.intake, choose = (times) => times[Math.floor(times.length / 2)]) {
  const free = await new Client().get(`/booking/slots?service=${service.id}`)
  await ripe(Date.now())
  const { starts_at } = choose(free.items)
  await new Client().post("/booking/book", { service: service.id, starts_at, token: free.token, hp_url: "", page: "", values: { email, first_name: "Ada" } })
}

const inside = "globalThis.deep = () => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e }"
const label = async (page) => (await page.evaluate(inside), page.evaluate(() => deep()?.getAttribute("aria-label") ?? ""))
const text = async (page) => (await page.evaluate(inside), page.evaluate(() => deep()?.textContent ?? ""))
const focused = (page, heading) => until(`focus on ${heading}`, async () => (await text(page)) === heading)

// The widget on our own page, at the details step of the last time of the first day: the first may pass meanwhile.
async function atDetails(page, service = desk.intake) {
  await page.goto(onPage(service))
  await upgraded(page)
  await page.locator(".time:visible").last().click()
  await page.getByRole("heading", { name: "Your details" }).waitFor()
}

const snippet = () => `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking service="${desk.intake.id}"><a href="${desk.bookPage}">Book online</a></svc-booking>`

// Each has a browser, an address and a service of its own; what changes something for all visitors stands behind them.
describe("visitors who come at once", { concurrency: 4 }, () => {
  for (const [way, options] of Object.entries({ "switched off": { javaScriptEnabled: false }, "not loading": { scripts: false } })) test(`with script ${way} a visitor books, and moves by the mail's link`, async () => {
    const intake = await office()
    const v = await visitor(browser, { ...options, hosts: [gatewayHost()] })
    const { page } = v
    const email = address("plain")
    await page.goto(desk.bookPage)
    await check(page, "plain services")
    await page.getByRole("link", { name: intake.name }).click()
    await check(page, "plain times")
    await page.getByRole("link", { name: "Next month" }).click() // an appointment that begins soon cannot be moved
    await page.locator("a.time").first().click()
    await page.getByRole("button", { name: "Book" }).waitFor()
    const shown = Date.now()
    await check(page, "plain details")
    await ripe(shown)
    await page.getByRole("button", { name: "Book" }).click()
    await page.getByText("Please fill this in.").waitFor()
    await check(page, "plain error")
    await page.getByLabel("First name").fill("Ada")
    await page.getByLabel("Email address").fill(email)
    await page.getByRole("button", { name: "Book" }).click()
    await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
    await check(page, "plain done")

    // Without script nothing reads the link's fragment, so the visitor pastes the link.
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
    await book(email, await office())
    const v = await visitor(browser, { hosts: [gatewayHost()] })
    const { page } = v
    await page.goto(await mailLink(email, "/manage"))
    await page.getByText("This appointment is confirmed.").waitFor()
    assert.ok(!page.url().includes("token"), "the token does not stay in the address")
    await check(page, "manage")
    await page.emulateMedia({ media: "print" })
    await page.getByRole("button", { name: "Cancel appointment" }).waitFor({ state: "hidden" })
    await page.getByText("This appointment is confirmed.").waitFor()
    await page.emulateMedia({ media: "screen" })
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

  test("without script the page and the mail are in the language that was asked for", async () => {
    const email = address("words")
    const intake = await office()
    const v = await visitor(browser, { javaScriptEnabled: false, hosts: [gatewayHost()] })
    const { page } = v
    await page.goto(onPage(intake, "&lang=nl"))
    await page.locator("a.time").last().click()
    await page.locator("[name='values.first_name']").fill("Ada")
    await page.locator("[name='values.email']").fill(email)
    await ripe(Date.now())
    await page.locator("form[method=post] button[type=submit]").last().click()
    await page.getByRole("heading", { name: "Uw afspraak is geboekt" }).waitFor()
    await mailLink(email, "/manage")
    assert.match((await mails(email))[0].subject, /Uw afspraak is bevestigd/)
    await v.end()
  })

  test("the widget takes the page's place and books, by keyboard alone", async () => {
    const email = address("keys")
    const intake = await office()
    const v = await visitor(browser, { delays: true, hosts: [gatewayHost()] })
    const { page } = v
    await page.goto(desk.bookPage)
    await upgraded(page)
    await check(page, "widget services")
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "BODY", "nothing takes focus by itself")
    await page.getByRole("button", { name: intake.name }).focus()
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
    await until("focus on the only wrong field", async () => (await page.evaluate(() => deep()?.id)) === "svc-email")
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

  test("what keeps a visitor from booking is said, and nothing typed is lost", async () => {
    const v = await visitor(browser, { hosts: [gatewayHost()] })
    const { page } = v
    const email = address("trouble")
    const intake = await office()
    await atDetails(page, intake)
    await page.getByLabel("Email address").fill(email)
    await page.getByLabel("Message").fill("I park outside.")
    const press = () => page.getByRole("button", { name: /^Book$/ }).click()
    const kept = async (name) => {
      await check(page, name)
      assert.equal(await page.getByLabel("Email address").inputValue(), email)
      assert.equal(await page.getByLabel("Message").inputValue(), "I park outside.")
    }
    const answer = (status, code, data, headers = {}) =>
      page.route("**/v1/booking/book", (route) => route.fulfill({ status, headers: { "access-control-allow-origin": "*", ...headers }, json: { code, message: code, data: { status, ...data } } }), { times: 1 })

    await page.route("**/v1/booking/book", (route) => route.abort(), { times: 1 })
    await press()
    await page.getByText("The connection failed").waitFor()
    await kept("trouble offline")

    await answer(429, "svc_rate_limited", { retry_after: 4 })
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("Please wait 4 seconds").waitFor()
    assert.equal(await page.getByRole("button", { name: /^Book$/ }).getAttribute("aria-disabled"), "true")
    await kept("trouble rate")
    await until("the button", async () => (await page.getByRole("button", { name: /^Book$/ }).getAttribute("aria-disabled")) === null)

    await answer(409, "svc_conflict", { reason: "max_open_bookings" })
    await press()
    await page.getByText("You already have several bookings ahead").waitFor()
    await kept("trouble max open")

    // The widget replaces a refused token once, and says nothing.
    let tries = 0
    await page.route("**/v1/booking/book", (route) => (++tries === 1 ? route.fulfill({ status: 400, json: { code: "svc_invalid_token", message: "", data: {} } }) : route.fulfill({ status: 503, json: { code: "svc_unavailable", message: "", data: {} } })), { times: 2 })
    await press()
    await page.getByText("The connection failed").waitFor()
    assert.equal(tries, 2)

    // Somebody else takes the time that is on the screen.
    const chosen = await page.evaluate(() => document.querySelector("svc-booking").shadowRoot.querySelector(".chosen").textContent)
    await book(address("faster"), intake, (times) => times.findLast((t) => t.starts_at.slice(0, 10) === times[0].starts_at.slice(0, 10)))
    await press()
    await page.getByText("That time was just taken").waitFor()
    await kept("trouble taken")
    await page.locator(".notice .time:visible").first().click()
    await until("another time", async () => (await page.evaluate(() => document.querySelector("svc-booking").shadowRoot.querySelector(".chosen").textContent)) !== chosen)
    assert.equal(await page.getByLabel("Email address").inputValue(), email)
    await press()
    await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
    await v.end()
  })

  test("every kind of question is asked, answered and checked", async () => {
    const field = (type, options) => desk.admin.post("/fields", { entity: "contact", type, label: `Our ${type} ${Date.now()}`, ...(options ? { options } : {}) })
    const kinds = {}
    for (const type of ["number", "date", "url", "checkbox", "long_text"]) kinds[type] = await field(type)
    kinds.dropdown = await field("dropdown", ["Garden", "Street"])
    kinds.choices = await field("choices", ["Morning", "Noon", "Evening"])
    const promise = `I agree that my answers are kept for this visit, ${Date.now()}.`
    const form = await desk.admin.post("/forms", {
      name: "Intake questions " + Date.now(),
      status: "publish",
      definition: {
        elements: [
          { id: "h", type: "heading", text: "About you", level: 2 },
          { id: "p", type: "paragraph", text: "We only ask what we need." },
          { id: "first", type: "field", target: "contact.first_name", label: "First name", width: "half", required: true },
          { id: "last", type: "field", target: "contact.last_name", label: "Last name", width: "half" },
          { id: "email", type: "field", target: "contact.email", label: "Email address", required: true },
          ...Object.entries(kinds).map(([type, f]) => ({ id: type, type: "field", target: "contact.fields." + f.key, label: "My " + type, help: type === "number" ? "A rough figure will do." : undefined })),
          { id: "location", type: "field", target: "submission.fields.location", label: "Where did you hear of us?", required: true },
          { id: "ok", type: "consent", text: promise, purpose: "privacy", required: true },
          { id: "news", type: "consent", text: "Send me news.", purpose: "newsletter", marketing: true },
        ],
      },
    })
    const visit = await office({ location_type: "client", location_details: undefined })
    await until("the form at booking", () => desk.admin.patch("/services/" + visit.id, { form_id: form.id }).catch(() => undefined))
    await until("the form at its place", async () => (await (await fetch(desk.gateway + "/_ui/booking/questions.json?service=" + visit.id)).text()).includes(promise))
    const v = await visitor(browser, { hosts: [gatewayHost()], viewport: { width: 390, height: 800 }, reducedMotion: "no-preference" })
    const { page } = v
    const email = address("kinds")
    await atDetails(page, visit)
    await page.getByRole("button", { name: /^Book$/ }).click()
    await page.getByText("5 answers need your attention").waitFor()
    await check(page, "kinds errors")
    await page.getByRole("link", { name: /Email address/ }).click()
    await page.keyboard.type(email)
    await page.getByLabel("Your address").fill("Dorpsstraat 5, Gent")
    await page.getByLabel("Where did you hear of us?").fill("In the paper")
    await page.getByLabel("First name").fill("Mo")
    await page.getByLabel("My number").fill("3,5")
    await page.getByLabel("My date").fill("2026-02-01")
    await page.getByLabel("My url").fill("https://example.com")
    await page.getByLabel("My dropdown").selectOption("Street")
    await page.getByLabel("Morning").check()
    await page.getByLabel("Evening").check()
    await page.getByLabel("My checkbox").check()
    await page.getByLabel("My long_text").fill("Two lines\nof text")
    await page.getByLabel("I agree").check()
    await check(page, "kinds filled")
    await page.getByRole("button", { name: /^Book$/ }).click()
    await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
    const contact = await until("the contact", async () => (await desk.admin.get("/contacts?search=" + encodeURIComponent(email))).items[0])
    assert.equal(contact.fields[kinds.number.key], 3.5)
    assert.deepEqual(contact.fields[kinds.choices.key], ["Morning", "Evening"])
    assert.equal(contact.fields[kinds.checkbox.key], true)
    const appointment = (await desk.admin.get(`/appointments?contact=${contact.id}`)).items[0]
    assert.equal(appointment.location, "Dorpsstraat 5, Gent")
    assert.equal((await desk.admin.get("/submissions/" + appointment.submission.id)).values.location, "In the paper")

    // A consent is an act for each booking; the rest need not be typed again.
    await page.getByRole("button", { name: "Book another" }).click()
    await page.locator(".time:visible").last().click()
    await page.getByRole("heading", { name: "Your details" }).waitFor()
    assert.equal(await page.getByLabel("Email address").inputValue(), email)
    assert.equal(await page.getByLabel("My checkbox").isChecked(), true)
    assert.equal(await page.getByLabel("I agree").isChecked(), false)
    await v.end()
  })

  for (const [way, options, lang, said] of [
    ["without script", { javaScriptEnabled: false }, "fr", "Le texte à accepter a changé"],
    ["in the widget", {}, "de", "Der Text zur Zustimmung hat sich geändert"],
  ]) test(`new words of a consent are shown before it is given, ${way}`, async () => {
    const definition = (words) => ({ elements: [
      { id: "email", type: "field", target: "contact.email", label: "Mail", required: true },
      { id: "why", type: "field", target: "submission.fields.why", label: "Why" },
      { id: "ok", type: "consent", text: words, purpose: "privacy", required: true },
    ] })
    const intake = await office()
    const asked = (words) => until("the form at booking", async () => (await (await fetch(desk.gateway + "/_ui/booking/questions.json?service=" + intake.id)).text()).includes(words))
    const form = await desk.admin.post("/forms", { name: "Consent " + Date.now(), status: "publish", definition: definition(`Call me by day, ${lang}.`) })
    await until("the form's place", () => desk.admin.patch("/services/" + intake.id, { form_id: form.id }).catch(() => undefined))
    await asked(`Call me by day, ${lang}.`)
    const v = await visitor(browser, { ...options, hosts: [gatewayHost()] })
    const { page } = v
    await page.goto(onPage(intake, "&lang=" + lang))
    if (options.javaScriptEnabled !== false) await upgraded(page)
    await page.locator(".time:visible").last().click()
    let shown = Date.now()
    const email = address("consent-" + lang)
    await page.getByLabel("Mail").fill(email)
    await page.getByLabel("Why").fill("Oaks & <roses>")
    await page.getByLabel("by day").check()
    await desk.admin.patch("/forms/" + form.id, { definition: definition(`Call me by day and by night, ${lang}.`) })
    await asked(`by night, ${lang}`)
    await ripe(shown)
    await page.locator("button.button--wide").click()
    await page.getByText(said).waitFor()
    shown = Date.now()
    await check(page, "booking consent changed " + way)
    assert.equal(await page.getByLabel("Mail").inputValue(), email)
    assert.equal(await page.getByLabel("Why").inputValue(), "Oaks & <roses>")
    assert.equal(await page.getByLabel("by night").isChecked(), false)
    await page.getByLabel("by night").check()
    await ripe(shown)
    await page.locator("button.button--wide").click()
    await mailLink(email, "/manage")
    await v.end()
  })

  test("a widget whose script does not load is asked for now and then, however much the page around changes", async () => {
    const site = await host(desk.gateway, snippet())
    const v = await visitor(browser, { hosts: [gatewayHost(), new URL(site.url).host] })
    const { page } = v
    // The page's time stands still, however long the machine takes for the changes.
    const now = Date.now()
    await page.clock.install({ time: now })
    await page.clock.pauseAt(now + 60_000)
    const asked = []
    let failing = true
    await page.route(/\/_ui\/booking\/widget\.js(on)?/, (route) => {
      asked.push(new URL(route.request().url()).pathname.split("/").at(-1))
      return failing ? route.abort() : route.continue()
    })
    await page.goto(site.url)
    const scripts = () => asked.filter((name) => name === "widget.js").length
    const change = () => page.evaluate(async () => {
      for (let i = 0; i < 200; i++) {
        document.body.append(document.createElement("i"))
        const turn = new MessageChannel()
        await new Promise((next) => ((turn.port1.onmessage = next), turn.port2.postMessage("")))
      }
    })
    await until("the first attempt", () => scripts() === 1)
    await page.getByRole("link", { name: "Book online" }).waitFor()
    await change()
    assert.deepEqual([scripts(), asked.length], [1, 2])
    await page.clock.runFor(10_000)
    await until("the second attempt", () => scripts() === 2)
    await change()
    await page.clock.runFor(15_000)
    assert.equal(scripts(), 2, "the pauses grow")
    failing = false
    await page.clock.runFor(10_000)
    await page.clock.resume()
    await upgraded(page)
    site.close()
    await v.end()
  })

  test("a time that is on another day for the visitor says which", async () => {
    const online = await office({ location_type: "online", location_details: undefined })
    const v = await visitor(browser, { hosts: [gatewayHost()], timezoneId: "Pacific/Auckland" })
    const { page } = v
    await page.goto(onPage(online))
    await upgraded(page)
    // Of today a part is over.
    await page.locator("button.day--free").nth(2).click()
    const times = await until("the times of a whole day", async () => {
      const all = await page.locator("button.time").allInnerTexts()
      return all.length > 5 && all[0].startsWith("09:00") && all
    })
    // Auckland is ten to twelve hours before Brussels: from 14:00 on it is the next day there.
    for (const [, hour, theirs] of times.map((t) => /^(\d\d):\d\d\s+(.*) your time/.exec(t))) {
      if (Number(hour) < 12) assert.match(theirs, /^\d\d:\d\d$/)
      if (Number(hour) >= 14) assert.match(theirs, /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) 0\d:\d\d$/)
    }
    await v.end()
  })

  test("without a connection a widget's link stays, and the widget comes with the connection", async () => {
    const site = await host(desk.gateway, snippet())
    const v = await visitor(browser, { hosts: [gatewayHost(), new URL(site.url).host] })
    const { page } = v
    await page.route("**/_ui/booking/widget.json*", (route) => route.abort())
    const asked = page.waitForEvent("requestfailed")
    await page.goto(site.url)
    await asked
    await page.getByRole("link", { name: "Book online" }).waitFor()
    await check(page, "widget without connection")
    await page.unroute("**/_ui/booking/widget.json*")
    await v.context.setOffline(true)
    await v.context.setOffline(false)
    await upgraded(page)
    assert.equal(await page.getByRole("link", { name: "Book online" }).isVisible(), false)

    // A month that fails to load can be asked for again.
    await page.route("**/v1/booking/slots*", (route) => route.abort(), { times: 1 })
    await page.getByRole("button", { name: "Next month" }).click()
    await page.getByText("The free times could not be loaded.").waitFor()
    await check(page, "widget month failed")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.locator(".time").first().waitFor()
    assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY", "focus is not lost")
    site.close()
    await v.end()
  })
})

test("no widget weighs more than its budget", async () => {
  for (const [service, most] of Object.entries(budgets)) {
    const size = await weigh(desk.gateway, service)
    assert.ok(size > most / 2 && size <= most, `the widget of ${service} has ${size} bytes, and may have ${most}`)
  }
})

test("the lines of the README put the booking page into a page of another origin", async () => {
  const [lines] = /<script type="module"[^`]*<\/svc-booking>/.exec(readFileSync(new URL("../../README.md", import.meta.url), "utf8"))
  const site = await host(desk.gateway, lines.replaceAll("https://desk.example.com", desk.gateway))
  const v = await visitor(browser, { hosts: [gatewayHost(), new URL(site.url).host] })
  try {
    await v.page.goto(site.url)
    await upgraded(v.page)
    await check(v.page, "lines of the README")
    await v.end()
  } finally {
    site.close()
  }
})

test("on somebody else's site, under a strict policy and at 320 pixels, in Dutch, in another time zone", async () => {
  const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking service="${desk.followUp.id}" lang="nl"><script type="application/json">{"given": {"contact.first_name": "Ada", "contact.unknown": "x"}}</script><a href="${desk.bookPage}">Maak een afspraak</a></svc-booking>`)
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
    await page.locator(".time").last().click() // the first may have passed when it is booked
    await page.getByLabel("E-mailadres").fill(address("foreign"))
    assert.equal(await page.getByLabel("Voornaam").inputValue(), "Ada", "what the page around knows is filled in")
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

test("a link whose appointment cannot be changed shows why and whom to ask", async () => {
  const email = address("late")
  await book(email)
  const link = await mailLink(email, "/manage")
  const v = await visitor(browser, { hosts: [gatewayHost()], colorScheme: "dark" })
  const { page } = v
  try {
    await desk.admin.patch("/settings/booking", { client_changes: false })
    await page.goto(link)
    await page.getByText("Appointments cannot be changed online").waitFor()
    await page.getByText("+32 9 123 45 67").waitFor()
    assert.equal(await page.getByRole("button").count(), 0)
    await check(page, "dark manage changes off")

    await desk.admin.patch("/settings/booking", { client_changes: true, cancel_notice_hours: 720, late_cancel_text: "Please ring the practice before noon." })
    await page.goto("about:blank")
    await page.goto(link)
    await page.getByText("Please ring the practice before noon.").waitFor()
    assert.equal(await page.getByRole("button").count(), 0)
    await check(page, "dark manage too late")
    await page.goto(desk.gateway + "/manage")
    await page.getByLabel("Link or code").fill("a code that nobody gave out")
    await page.getByRole("button", { name: "Show my appointment" }).click()
    await page.getByText("We do not know this link").waitFor()
    await check(page, "dark manage unknown")
  } finally {
    await desk.admin.patch("/settings/booking", { client_changes: true, cancel_notice_hours: 2, late_cancel_text: "" })
  }
  await v.end()
})

test("while the app is off its pages are gone, and a widget says so in one line", async () => {
  const site = await host(desk.gateway, snippet())
  const own = await desk.admin.post("/pages", { title: "Come and see us", status: "publish", content: `We are open all week.\n\n[svc-booking service="${desk.intake.id}"]\n\nOr ring the bell.` })
  const email = address("off")
  await book(email)
  const link = await mailLink(email, "/manage")
  const v = await visitor(browser, { hosts: [gatewayHost(), new URL(site.url).host] })
  const plain = await visitor(browser, { javaScriptEnabled: false, hosts: [gatewayHost()] })
  const { page } = v
  await atDetails(page)
  await page.getByLabel("Email address").fill(email)
  await plain.page.goto(onPage())
  await plain.page.locator("a.time").last().click()
  await plain.page.getByLabel("Email address").fill(email)
  await desk.admin.patch("/apps/booking", { enabled: false })
  try {
    // A visitor at the details step is told, and nothing typed is lost.
    await page.getByRole("button", { name: "Book", exact: true }).click()
    await page.getByText("Online booking is not available right now.").waitFor()
    assert.equal(await page.getByLabel("Email address").inputValue(), email)
    await check(page, "app off meanwhile")
    await plain.page.getByRole("button", { name: "Book", exact: true }).click()
    await plain.page.getByRole("heading", { name: "This page does not exist" }).waitFor()

    for (const gone of [desk.bookPage, onPage(), link]) {
      await page.goto("about:blank")
      assert.equal((await page.goto(gone)).status(), 404, gone)
      await page.getByRole("heading", { name: "This page does not exist" }).waitFor()
      await check(page, "app off " + new URL(gone).pathname)
      assert.equal((await fetch(gone.split("#")[0], { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "token=x" })).status, 404)
    }
    await page.goto(site.url)
    await page.getByText("Online booking is not available right now.").waitFor()
    assert.equal(await page.getByText("Book online").isVisible(), false)
    await check(page, "app off")
    for (const one of [page, plain.page]) {
      assert.equal((await one.goto(`${desk.gateway}/${own.slug}`)).status(), 200)
      await one.getByText("Online booking is not available at the moment.").waitFor()
      await one.getByText("Or ring the bell.").waitFor()
      assert.equal(await one.getByRole("link", { name: "Book online" }).count(), 0)
      await check(one, one === page ? "site page booking off" : "site page booking off plain")
    }
  } finally {
    await desk.admin.patch("/apps/booking", { enabled: true })
    site.close()
  }
  await page.goto("about:blank")
  await until("the pages to come back", async () => (await page.goto(link)).ok())
  await page.getByText("This appointment is confirmed.").waitFor()
  await v.end()
  await plain.end()
})

test("while the booking page is off, pages of the site book all the same, or without script say how", async () => {
  const own = await desk.admin.post("/pages", { title: "Book here", status: "publish", content: `[svc-booking service="${desk.intake.id}"]` })
  const v = await visitor(browser, { hosts: [gatewayHost()] })
  const plain = await visitor(browser, { javaScriptEnabled: false, hosts: [gatewayHost()] })
  await desk.admin.patch("/settings/portal", { booking_page: false })
  try {
    await until("the page to go", async () => (await fetch(desk.bookPage)).status === 404)
    await v.page.goto(desk.bookPage)
    await check(v.page, "booking page off")
    await until("the site's page to know", async () => !(await (await fetch(`${desk.gateway}/${own.slug}`)).text()).includes("/team/book"))
    await v.page.goto(`${desk.gateway}/${own.slug}`)
    await upgraded(v.page)
    await check(v.page, "site page without booking page")
    await plain.page.goto(`${desk.gateway}/${own.slug}`)
    assert.match(await plain.page.locator("main").innerText(), /To book, please contact Praktijk Linde: \+32 9 123 45 67/)
    await check(plain.page, "site page without booking page plain")
  } finally {
    await desk.admin.patch("/settings/portal", { booking_page: true })
    await until("the page to come back", async () => (await fetch(desk.bookPage)).ok)
  }
  await v.end()
  await plain.end()
})
