// Takes the README's pictures of a system that `make demo` has filled: node deploy/browser/pictures.mjs, E2E_DATA_DIR names its data folder.
import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { launch, visitor } from "./browser.mjs"
import { Client, password, state } from "./system.mjs"

const folder = fileURLToPath(new URL("../pictures/", import.meta.url))
mkdirSync(folder, { recursive: true })
const { gateway, admin } = state()
const login = await new Client().call("POST", "/auth/login", { login: admin.login, password: admin.password || password })
const cookie = login.headers.getSetCookie()[0].split(";")[0]
const api = new Client({ Cookie: cookie })
const seen = (await api.get("/contacts?tag=demo&status=customer&search=an&per_page=20")).items.find((c) => c.organization) ?? (await api.get("/contacts?tag=demo&status=customer")).items[0]
const service = (await api.get("/services")).items.find((s) => s.name === "First visit")
const monday = new Date(Date.now() + 864e5)
monday.setDate(monday.getDate() + ((8 - monday.getDay()) % 7))

const browser = await launch()
async function picture(name, path, ready, { width = 1280, height = 800, colorScheme = "light" } = {}) {
  const v = await visitor(browser, { viewport: { width, height }, deviceScaleFactor: 1, colorScheme })
  const [n, value] = cookie.split(/=(.*)/)
  await v.context.addCookies([{ name: n, value, url: gateway, httpOnly: true, sameSite: "Lax" }])
  await v.page.goto(gateway + path)
  await ready(v.page)
  await v.page.evaluate(() => document.fonts.ready)
  await v.page.waitForTimeout(1000)
  const cdp = await v.context.newCDPSession(v.page)
  const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 82 })
  writeFileSync(folder + name + ".webp", Buffer.from(data, "base64"))
  await v.context.close()
}
await picture("booking", `/team/book?service=${service.id}`, (page) => page.locator(".time:visible").first().waitFor(), { width: 960, height: 760 })
await picture("calendar", `/team/calendar?view=week&date=${monday.toISOString().slice(0, 10)}`, (page) => page.locator(".ec-event").first().waitFor())
await picture("contact", `/team/contacts/${seen.id}`, (page) => page.getByText("Appointment booked").first().waitFor())
await picture("phone", "/team/contacts?status=customer", (page) => page.locator(".row-link").first().waitFor(), { width: 390, height: 700 })
await browser.close()
