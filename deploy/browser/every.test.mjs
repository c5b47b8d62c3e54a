// Every screen of the table in app/screens.ts and every page that a service serves, in every mode and language. A screen without a line here is
// looked at all the same; a page that is not in the table below fails.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { before, test } from "node:test"
import { checkModes, gone, visitor } from "./browser.mjs"
import { wrong } from "./markup.mjs"
import { state, until } from "./system.mjs"
import { browser, checkScreens, desk, go, member, records, screens, team } from "./team.mjs"

let ids
before(async () => {
  ids = await records()
  await desk.admin.patch("/pages/" + ids["/pages/$id"], { status: "publish" })
})

/** The addresses of a screen: with a record where it is of one, and the calendar's in each of its views. */
const addresses = (path) =>
  path === "/calendar" ? ["day", "week", "month", "list", "week&colour=service"].map((view) => `${path}?date=${ids[path]}&view=${view}`)
  : path === "/appointments/$id" ? [ids[path], ids.request].map((id) => path.replace("$id", id))
  : path === "/appointments/new" ? [path, `${path}?contact=${ids["/contacts/$id"]}&service=${ids["/services/$id"]}`]
  : path === "/hours" ? [path, path + "?staff=business"]
  : [path.replace("$id", ids[path])]

/** What shows that a screen is there. A month has place for the first few of a day. */
const ready = (page, at) =>
  /^\/calendar\?.*=(day|week|list|service)$/.test(at) ? page.locator("#main").getByText(ids.client)
  : at.startsWith("/appointments/new?") ? page.locator(".time")
  : page.locator("main h1")

// By the folder of their program, because a test that takes minutes counts as one that hangs.
const folderOf = ([, { screen }]) => screen.split("/")[1]
for (const folder of new Set(screens.map(folderOf))) {
  test(`every screen of ${folder}, in every mode`, () =>
    checkScreens("every", (page) => screens.filter((s) => folderOf(s) === folder).flatMap(([path]) => addresses(path).map((at, i) => [at, ready(page, at), path + (i || "")]))))
}

/** A page by its path as services register it: its address, and whether somebody is signed in there. What is not for people has none. */
const pages = {
  "/account": { signedIn: true }, "/account/access": { signedIn: true }, "/account/assistants": { signedIn: true }, "/account/confirm": { signedIn: true }, "/account/connect": { signedIn: true },
  "/account/keys": { signedIn: true }, "/account/passkeys": { signedIn: true }, "/account/second-factor": { signedIn: true }, "/admin": { signedIn: true }, "/admin/": { signedIn: true },
  "/account/invitation": {}, "/account/organization": {}, "/account/organization/callback": {}, "/account/password": {}, "/account/sign-in": {}, "/account/sign-out": {}, "/account/telemetry": {},
  "/manage": {}, "/marketing/confirm": {}, "/marketing/unsubscribe": {}, "/v1/docs": {}, "/v1/docs/": { at: () => "/v1/docs/reference/create-contact" }, "/{$}": { at: () => "/" },
  "/book": { at: () => "/team/book" }, "/{portal}/book": { at: () => "/team/book" }, "/{portal}/": { at: () => "/team", signedIn: true }, "/f/{id}": { at: () => "/f/" + ids["/forms/$id"] },
  "/{slug}": { at: async () => new URL((await desk.admin.get("/pages/" + ids["/pages/$id"])).url).pathname },
  // A page of an address that nobody has.
  nowhere: { at: () => "/nowhere" },
}
const machines = /^\/(robots\.txt|sitemap\.xml|mcp|oauth\/\w+|\.well-known\/.+|account\/organization\/logout)$/

test("every page that a service serves, in every mode", async () => {
  const routes = [...(await (await fetch(state().dashboard + "/routes")).text()).matchAll(/<code>([^<]+)<\/code><td>[^<]*<td>[^<]*<td>[^<]*<td>page/g)].map((m) => m[1]).filter((path) => !machines.test(path))
  assert.ok(routes.length > 20)
  assert.deepEqual(routes.filter((path) => !pages[path]), [], "pages that nobody looks at")
  // The provider of an organization leads back to the public address.
  const hosts = [desk.gateway, state().public_url].map((url) => new URL(url).host)
  const [guest, person] = [await visitor(browser, { hosts }), await member()]
  for (const [path, { at = () => path, signedIn }] of Object.entries(pages)) {
    const { page } = signedIn ? person : guest
    const address = desk.gateway + (await at())
    await until("the page " + address, async () => (await page.goto(address)).status() < 500)
    await page.getByRole("heading").first().waitFor()
    await checkModes(page, "page " + path)
  }
  await guest.end()
  await person.end()
})

test("every screen of the team says everything in the language of the person, and is HTML", async () => {
  const folders = ["kit", "frame", "contacts", "booking", "forms", "settings", "team", "webhooks", "views", "parts"]
  const texts = (folder, language) => JSON.parse(readFileSync(new URL(`../../services/settings/internal/portal/web/src/${folder}/text/${language}.json`, import.meta.url)))
  const keys = new Set(folders.flatMap((f) => Object.keys(texts(f, "en"))))
  for (const locale of process.env.EVERY_LANGUAGE ? ["de-DE", "fr-FR", "nl-BE"] : ["fr-FR"]) {
    const own = new Set(folders.flatMap((f) => Object.values(texts(f, locale.slice(0, 2)))))
    const english = new Set(folders.flatMap((f) => Object.values(texts(f, "en"))).filter((text) => /\p{L} \p{L}/u.test(text) && !own.has(text)))
    const v = await member({ locale })
    await v.page.goto(team())
    const found = []
    for (const path of screens.flatMap(([path]) => addresses(path))) {
      await go(v, path)
      await v.page.getByRole("heading", { level: 1 }).waitFor()
      await gone(v.page, ".skeleton")
      found.push(...(await wrong(path, await v.page.content())))
      const said = await v.page.evaluate(() => [...document.querySelectorAll("body *")].filter((e) => e.childElementCount === 0 && !e.closest("code, pre, option, [lang]:not(html)")).flatMap((e) => [e.textContent.trim(), e.ariaLabel, e.title, e.placeholder]))
      // A key without a text shows itself, and a hole without a value its name.
      for (const text of new Set(said)) if (text && (english.has(text) || keys.has(text) || /\{[a-z]+\}/.test(text))) found.push(`${path}: ${text}`)
    }
    await v.end()
    assert.deepEqual(found, [], `${locale}: ${found.join("\n")}`)
  }
})
