// Long texts and many columns: nothing is wider than its window, and every list shows what its rows are called.
import assert from "node:assert/strict"
import { test } from "node:test"
import { gone, host, visitor } from "./browser.mjs"
import { until } from "./system.mjs"
import { browser, desk, go, member, team, unique } from "./team.mjs"

const widths = [320, 768, 1024, 1280, 1440, 1920]
/** A word of so many letters, without a blank. */
const long = (n) => ("Wij" + unique() + "WWWWijWWWWij".repeat(20)).slice(0, n)

/** Looks at the page in every width, without loading it again. also answers what else is wrong at a width. */
async function fits(page, name, also = () => []) {
  await gone(page, ".skeleton")
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    const { wide, frames, first, shown, broken, squeezed } = await page.evaluate(async () => {
      for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame)
      const over = (e) => e.scrollWidth - e.clientWidth
      const names = [...document.querySelectorAll(".table--list tbody td:not(.cell-check) .cell-text:is(a, b)")].filter((e) => e.closest("tr").querySelector("td:not(.cell-check)").contains(e))
      const broken = []
      // In a heading a word is read as a whole, however long its language makes it.
      const wordOf = (e) => (e.closest("h1, h2, h3") ? /(?<!\S)[\p{L}\d]{2,24}(?!\S)/gu : /(?<!\S)[\p{L}\d]{2,8}(?!\S)/gu)
      const range = document.createRange()
      for (const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); texts.nextNode(); ) {
        if (texts.currentNode.parentElement.closest(".sr, .trap")) continue
        for (const { 0: word, index } of texts.currentNode.data.matchAll(wordOf(texts.currentNode.parentElement))) {
          range.setStart(texts.currentNode, index)
          range.setEnd(texts.currentNode, index + word.length)
          if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) broken.push(word)
        }
      }
      const titles = [...document.querySelectorAll(".panel-head > h2")].filter((e) => e.nextElementSibling?.getBoundingClientRect().top < e.getBoundingClientRect().bottom && e.clientHeight > 2 * parseFloat(getComputedStyle(e).fontSize))
      return {
        broken,
        squeezed: titles.map((e) => e.textContent),
        wide: over(document.documentElement),
        frames: [...document.querySelectorAll(".table-frame")].map(over).filter((n) => n > 0),
        first: Math.min(...names.map((e) => e.closest("td").getBoundingClientRect().width)),
        // Of a name, as much as the column has room for: 120 pixels show a dozen letters.
        shown: names.every((e) => e.clientWidth >= Math.min(120, e.scrollWidth)),
      }
    })
    assert.ok(wide <= 0, `${name} is ${wide} pixels too wide at ${width}`)
    assert.deepEqual(broken, [], `short words of ${name} are broken at ${width}`)
    assert.deepEqual(squeezed, [], `titles of ${name} have several lines beside something else at ${width}`)
    assert.deepEqual(frames, [], `a table of ${name} is too wide at ${width}`)
    assert.ok(first >= 256, `the first column of ${name} has ${first} pixels at ${width}`)
    assert.ok(shown, `names of ${name} cannot be read at ${width}`)
    assert.deepEqual(await also(), [], `${name} at ${width}`)
  }
}

test("no name is too long, and no list has too many columns, for any width", async (t) => {
  const { admin, user } = desk
  const fields = await Promise.all([...Array(12)].map((_, i) => admin.post("/fields", { entity: "contact", label: `Shown ${i} ` + long(40), type: "text", show_in_list: true })))
  t.after(() => Promise.all(fields.map((f) => admin.call("DELETE", "/fields/" + f.id))))
  const organization = await admin.post("/organizations", { name: long(190), city: long(90) })
  const contact = await admin.post("/contacts", { first_name: long(95), last_name: long(95), email: long(60) + "@example.com", tags: [long(40), long(40)], owner_user_id: user })
  const service = await admin.post("/services", { name: long(190), description: long(190), duration_min: 30, bookable_online: true, location_type: "in_person", location_details: long(190), price: "1234567.50", staff: [user] })
  t.after(() => admin.patch("/services/" + service.id, { archived: true }))
  const booked = await admin.post("/appointments", { contact: contact.id, service: service.id, staff: user, starts_at: new Date(Math.ceil(Date.now() / 864e5 + 200) * 864e5).toISOString(), outside_hours: true, notes: long(190) })
  const elements = [{ id: "h", type: "heading", text: long(150) }, { id: "email", type: "field", target: "contact.email", label: long(190), required: true }]
  const form = await admin.post("/forms", { name: long(190), status: "publish", definition: { elements } })
  await admin.post("/webhooks", { name: long(190), url: desk.gateway + "/" + long(150), events: ["contact.created"], active: false })
  await admin.patch("/settings/general", { business: { name: long(190) } })

  const v = await member()
  await v.page.goto(team() + "/contacts")
  for (const screen of ["/contacts", "/organizations", "/services", "/forms", "/people", "/webhooks", "/audit", "/settings/mails", "/contacts/" + contact.id, "/organizations/" + organization.id, "/services/" + service.id, "/appointments/" + booked.id, "/calendar", "/people/" + user]) {
    await go(v, screen)
    await v.page.getByRole("heading", { level: 1 }).waitFor()
    await fits(v.page, screen)
  }
  await v.end()

  const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking service="${service.id}"></svc-booking><svc-form form="${form.id}"></svc-form>`)
  t.after(site.close)
  const guest = await visitor(browser, { hosts: [] })
  for (const [page, ready] of [[desk.bookPage, ".choice"], [desk.bookPage + "?service=" + service.id, ".day"], [desk.gateway + "/f/" + form.id, ".label"], [site.url, ".label"]]) {
    await until("the page with its new texts", async () => (await guest.page.goto(page)).ok() && (page === site.url || (await guest.page.content()).includes("WWij")))
    await guest.page.locator(ready + ":visible").first().waitFor()
    await fits(guest.page, new URL(page).pathname)
  }
  await guest.end()
})

test("sixty services and a team of forty fit every width", async (t) => {
  const { admin, user, person } = desk
  const services = await Promise.all([...Array(60)].map((_, i) => admin.post("/services", { name: `Service ${i} ` + long(60), duration_min: 30, bookable_online: true, location_type: "in_person", staff: [user] })))
  t.after(() => Promise.all(services.map((s) => admin.patch("/services/" + s.id, { archived: true }))))
  const people = []
  for (let i = 0; i < 40; i++) people.push(await person.post("/staff", { name: `Colleague ${i} ` + long(60), email: `many.${unique()}@example.com`, role: "staff" }))
  t.after(async () => {
    for (const p of people) await person.call("DELETE", "/staff/" + p.user_id)
  })
  await until("the team", async () => (await admin.get("/staff")).items.length > 40)
  const v = await member()
  await v.page.goto(team() + "/services")
  for (const screen of ["/services", "/people", "/hours", "/calendar", "/calendar?view=week", "/appointments/new", "/services/" + services[0].id]) {
    await go(v, screen)
    await v.page.getByRole("heading", { level: 1 }).waitFor()
    await fits(v.page, screen)
  }
  await v.end()
  const guest = await visitor(browser, { hosts: [] })
  await until("the page with all services", async () => (await guest.page.goto(desk.bookPage)).ok() && (await guest.page.content()).includes("Service 59"))
  await guest.page.locator(".choice:visible").first().waitFor()
  await fits(guest.page, "the booking page")
  await guest.end()
})

/** Heads of columns, buttons and placeholders that are cut at this width, and values of ours. It runs in the page. */
function cut(ours) {
  const all = [...document.querySelectorAll(".table--list th, .nav-search span, .tag-form input, .table--list .cell-text")].filter((e) => e.checkVisibility() && (e.textContent || e.placeholder) && (ours || !e.closest("td")))
  const hides = (e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 3
  const placed = (e) => {
    // A placeholder has no box of its own: it is measured as a value.
    e.value = e.placeholder
    const wide = e.scrollWidth > e.clientWidth + 1
    e.value = ""
    return wide
  }
  return all.filter((e) => (e.matches("input") ? placed(e) : hides(e))).map((e) => e.placeholder ?? e.textContent)
}

// The longest words are German; all languages are a long proof.
for (const locale of process.env.EVERY_LANGUAGE ? ["en-GB", "nl-BE", "fr-FR", "de-DE"] : ["en-GB", "de-DE"]) {
  test(`heads of columns, titles and what people usually have are whole, ${locale}`, async () => {
    // Letters would be wider in one run than in another.
    const u = String(Date.now() % 1e6).padStart(6, "0")
    const contact = await desk.admin.post("/contacts", { first_name: "Charlotte", last_name: "van den Broeck " + u, email: `charlotte.${u}@example.com`, phone: "+32470112233", status: "customer" })
    await desk.admin.post("/organizations", { name: "Bakery " + u, email: `bakery.${u}@example.com`, city: "Sint-Amandsberg" })
    const v = await member({ locale })
    await v.page.goto(team() + "/contacts")
    for (const screen of ["/contacts?search=" + u, "/organizations?search=" + u, "/contacts/" + contact.id, "/submissions", "/forms", "/pages", "/import", "/audit", "/settings/mails", "/hours?staff=business"]) {
      await go(v, screen)
      await v.page.getByRole("heading", { level: 1 }).waitFor()
      await fits(v.page, screen, () => v.page.evaluate(cut, screen.includes("search=")))
    }
    await v.end()
  })
}

test("on paper a list shows its names whole, in black on white, and six weeks are a page", async () => {
  const u = unique()
  await desk.admin.post("/contacts", { first_name: "Charlotte", last_name: "van den Broeck " + u, email: `charlotte.${u}@example.com`, phone: "+32470112233", status: "customer" })
  await desk.admin.post("/organizations", { name: "Bakkerij Van den Broeck " + u, email: `bakkerij.${u}@example.com`, city: "Sint-Amandsberg" })
  const v = await member({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" })
  await v.page.goto(team() + "/contacts")
  for (const screen of ["/contacts?search=" + u, "/organizations?search=" + u]) {
    await go(v, screen)
    await v.page.locator(".row-link").filter({ hasText: u }).waitFor()
    await v.page.emulateMedia({ media: "print", colorScheme: "dark" })
    // A4 and Letter with margins of 12 mm; columns keep the shape that they have on the screen.
    const found = await v.page.evaluate(() => {
      document.documentElement.style.width = "700px"
      const cells = [...document.querySelectorAll(".table--list :is(th, .cell-text)")].filter((e) => e.checkVisibility())
      const cut = cells.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)
      const narrow = document.querySelector(".row-link").closest("td").clientWidth
      const wide = document.querySelector(".table--list").getBoundingClientRect().right
      const shown = [...document.querySelectorAll(".main .button, .nav, .tools, .cell-check")].filter((e) => e.checkVisibility()).map((e) => e.className)
      document.documentElement.style.width = ""
      return { cut, narrow, wide, shown, ink: getComputedStyle(document.querySelector(".row-link")).color }
    })
    assert.deepEqual(found.cut, [], screen)
    assert.deepEqual(found.shown, [], screen)
    assert.ok(found.narrow >= 130 && found.wide <= 701, `${screen}: the names have ${found.narrow} pixels, the table ends at ${found.wide}`)
    assert.ok(found.ink.match(/\d+/g).slice(0, 3).every((n) => n < 80), `${screen}: ink is ${found.ink}`)
    await v.page.emulateMedia({ media: "screen", colorScheme: "dark" })
  }
  await go(v, "/calendar?view=month&date=2027-05-15") // from 26 April to 6 June
  await v.page.locator(".month tbody tr").nth(5).waitFor()
  for (const format of ["A4", "Letter"]) {
    const pdf = (await v.page.pdf({ format })).toString("latin1")
    assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 1, `pages of a month on ${format}`)
  }
  await v.end()
})

test("a person chooses the columns of a list, and finds them so again", async () => {
  const v = await member({ viewport: { width: 1440, height: 900 } })
  await v.page.goto(team() + "/contacts")
  const column = (name) => v.page.getByRole("columnheader", { name, exact: true })
  await column("Phone").waitFor()
  await v.page.getByRole("button", { name: "Columns" }).click()
  await v.page.getByRole("group", { name: "Columns" }).getByLabel("Phone").uncheck()
  await column("Phone").waitFor({ state: "detached" })
  await v.page.reload()
  await column("Status").waitFor()
  assert.equal(await column("Phone").count(), 0)
  await v.end()
})
