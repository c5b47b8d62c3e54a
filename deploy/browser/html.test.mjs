// Markup by the rules of HTML: what the server sends, with which people go on without script, and what widgets draw. The portal's screens stand in
// every.test.mjs.
import assert from "node:assert/strict"
import { before, test } from "node:test"
import { host, visitor } from "./browser.mjs"
import { wrong } from "./markup.mjs"
import { Client, until } from "./system.mjs"
import { browser, desk, records } from "./team.mjs"

let ids, form
before(async () => {
  ids = await records()
  form = { id: ids["/forms/$id"] }
  await until("the form", async () => (await fetch(`${desk.gateway}/f/${form.id}`)).ok)
  await until("the form at booking", () => desk.admin.patch("/services/" + desk.intake.id, { form_id: form.id }).catch(() => undefined))
  await desk.admin.patch("/pages/" + ids["/pages/$id"], { status: "publish" })
})

test("pages, as they are without script, are HTML", async () => {
  const found = []
  const signedIn = desk.person.headers
  const page = await desk.admin.get("/pages/" + ids["/pages/$id"])
  const look = async (name, answer) => found.push(...(await wrong(name, await answer.text())))
  for (const path of ["/team/book", "/team/book?service=" + desk.intake.id, "/f/" + form.id, "/f/9999999", "/manage", "/marketing/confirm", "/marketing/unsubscribe", "/account/sign-in", "/account/password", "/account/invitation", "/docs", new URL(page.url).pathname, "/nowhere", "/team/contacts"]) {
    await look(path, await fetch(desk.gateway + path))
  }
  for (const path of ["/account", "/account/two-factor", "/account/application-passwords", "/account/passkeys", "/team", "/team/contacts"]) await look(path + " signed in", await fetch(desk.gateway + path, { headers: signedIn }))
  const { items: [slot] } = await new Client().get("/booking/slots?service=" + desk.intake.id)
  const at = `/team/book?service=${desk.intake.id}&at=${encodeURIComponent(slot.starts_at)}`
  await look("details", await fetch(desk.gateway + at))
  for (const path of ["/f/" + form.id, at]) {
    await look(path + " refused", await fetch(desk.gateway + path, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin" }, body: "values.email=nobody&hp_url=&page=&token=" }))
  }
  assert.deepEqual(found, [], found.join("\n"))
})

test("what widgets draw is HTML, at each step", async (t) => {
  const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking></svc-booking><svc-form form="${form.id}"></svc-form>`)
  t.after(site.close)
  const v = await visitor(browser, { hosts: [] })
  const { page } = v
  await page.goto(site.url)
  const found = []
  const look = async (name, tag) => found.push(...(await wrong(name, await page.evaluate((t) => document.querySelector(t).shadowRoot.innerHTML, tag))))
  await page.locator("svc-form .label").first().waitFor()
  await look("form", "svc-form")
  await page.locator("svc-form button[type=submit]").click()
  await page.locator("svc-form .summary a").first().waitFor()
  await look("form refused", "svc-form")
  await page.locator("svc-booking .choice").first().waitFor()
  await look("services", "svc-booking")
  await page.getByRole("button", { name: desk.intake.name }).click()
  await page.locator("svc-booking .time").first().waitFor()
  await look("times", "svc-booking")
  await page.locator("svc-booking .time").first().click()
  await page.locator("svc-booking button[type=submit]").click()
  await page.locator("svc-booking .summary a").first().waitFor()
  await look("details refused", "svc-booking")
  await v.end()
  assert.deepEqual(found, [], found.join("\n"))
})
