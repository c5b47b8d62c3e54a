// What visitors wait for, held against the goals: sizes of what the browser loads, and times on a slow phone (Slow 4G, a
// processor four times slower). It starts a system, or measures the one that E2E_DATA_DIR names. Ends with 1 when a goal is missed.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { host, launch } from "../../browser/browser.mjs"
import { setUp, start, state } from "../../browser/system.mjs"
import { budgets, weigh } from "../../browser/weigh.mjs"
import { exit, line, slowestKey, watchKeys } from "./figures.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")

const kB = (n) => Math.round(n / 10) / 100
const room = { booking: "widget", forms: "forms" }
const dist = (service) => join(root, `services/${service}/internal/${room[service]}/web/dist`)
for (const service of ["booking", "forms"]) {
  for (const name of readdirSync(dist(service)).filter((f) => /^(en|nl|fr|de)-/.test(f))) {
    line(`${service} language ${name.slice(0, 2)}, gzip`, kB(gzipSync(readFileSync(join(dist(service), name)), { level: 9 }).length), 1.5, "kB")
  }
}

// The portal: its shell is the entry with all that it imports at once, the kit's texts included; a first route adds what its screen
// loads, and the folder's texts.
const portal = join(root, "services/settings/internal/portal/dist")
const chunks = JSON.parse(readFileSync(join(portal, "manifest.json"), "utf8"))
function reach(names, seen = new Set()) {
  for (const name of names) {
    if (seen.has(name)) continue
    seen.add(name)
    reach(chunks[name].imports ?? [], seen)
  }
  return seen
}
const scripts = (names) => kB([...reach(names)].reduce((sum, name) => sum + gzipSync(readFileSync(join(portal, chunks[name].file)), { level: 9 }).length, 0))
const shell = ["src/app/main.tsx", "src/app/early.ts", "src/kit/text/en.json"]
line("portal, shell, gzip", scripts(shell), 120, "kB")
for (const [name, chunk] of Object.entries(chunks)) {
  const folder = /^src\/(?!api|kit|app)([a-z]+)\/[a-z-]+\.tsx$/.exec(name)?.[1]
  if (chunk.isDynamicEntry && folder) line(`portal, first route ${name.slice(4)}, gzip`, scripts([...shell, name, "src/parts/text/en.json", `src/${folder}/text/en.json`]), 220, "kB")
}

// Times: the middle one of five cold visits.
async function slowPhone(browser, cookies) {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
  await context.addCookies(cookies)
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send("Network.enable")
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 })
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 })
  return { context, page }
}
async function visit(browser, url, ready, cookies) {
  const { context, page } = await slowPhone(browser, cookies)
  await page.addInitScript(() => {
    globalThis.seen = { shift: 0, paint: 0 }
    new PerformanceObserver((l) => l.getEntries().forEach((e) => !e.hadRecentInput && (globalThis.seen.shift += e.value))).observe({ type: "layout-shift", buffered: true })
    new PerformanceObserver((l) => l.getEntries().forEach((e) => (globalThis.seen.paint = e.startTime))).observe({ type: "largest-contentful-paint", buffered: true })
  })
  await page.goto(url, { waitUntil: "commit" })
  const at = await (await page.waitForFunction(ready)).jsonValue()
  await page.waitForTimeout(1500)
  const seen = await page.evaluate(() => globalThis.seen)
  await context.close()
  return { at, ...seen }
}
const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]
async function measure(browser, url, ready, cookies = []) {
  const all = []
  for (let i = 0; i < 5; i++) all.push(await visit(browser, url, ready, cookies))
  return { at: Math.round(middle(all.map((v) => v.at))), shift: Math.round(Math.max(...all.map((v) => v.shift)) * 1000) / 1000, paint: Math.round(middle(all.map((v) => v.paint))) }
}

const { dir, stop } = await start()
process.env.E2E_DATA_DIR = dir
try {
  for (const [service, budget] of Object.entries(budgets)) line(`${service} widget, gzip`, kB(await weigh(state().gateway, service)), kB(budget), "kB")
  await times()
} finally {
  await stop()
}
exit()

async function times() {
  const desk = await setUp()
  const browser = await launch()
  const site = await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-booking service="${desk.intake.id}"><a href="${desk.bookPage}">Book online</a></svc-booking>`)
  try {
    const page = await measure(browser, `${desk.bookPage}?service=${desk.intake.id}`, () => document.querySelector(".time") && performance.now())
    line("booking page: first times on the screen", page.at, 800, "ms")
    console.log(`${"booking page: largest paint, the widget's included".padEnd(52)} ${String(page.paint).padStart(8)} ms`)
    line("booking page: layout shift with the widget's start", page.shift, 0.02, "")
    const widget = await measure(browser, site.url, () => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".time") && performance.now())
    line("widget on another site: first times", widget.at, 1500, "ms")
    const services = await measure(browser, desk.bookPage, () => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".choice") && performance.now())
    line("booking page: layout shift at the choice of service", services.shift, 0.02, "")
    await portalTimes(browser, desk)
  } finally {
    site.close()
    await browser.close()
  }
}

/** The team's screens: a first visit of each, then a hand that is quick, on the same phone. */
async function portalTimes(browser, desk) {
  const [name, value] = desk.person.headers.Cookie.split(/=(.*)/)
  const cookies = [{ name, value, url: desk.gateway, httpOnly: true, sameSite: "Lax" }]
  const team = desk.gateway + "/team"
  for (let i = 0; i < 60; i++) await desk.admin.post("/contacts", { first_name: "Ada", last_name: `Budget ${Date.now()} ${i}` })
  // A screen counts as shown once it has its heading and no skeleton.
  const there = () => document.querySelector("h1") && !document.querySelector(".skeleton") && performance.now()
  for (const screen of ["", "/contacts", "/calendar", "/services"]) {
    const seen = await measure(browser, team + screen, there, cookies)
    line(`portal, ${screen.slice(1) || "overview"}: largest paint`, seen.paint, 1500, "ms")
    line(`portal, ${screen.slice(1) || "overview"}: layout shift`, seen.shift, 0.1, "")
  }
  const { context, page } = await slowPhone(browser, cookies)
  await watchKeys(page)
  const ways = []
  const go = async (label) => {
    if (!(await page.getByRole("link", { name: label, exact: true }).isVisible())) await page.getByRole("button", { name: "Menu" }).click()
    ways.push(await page.evaluate(async (label) => {
      const link = [...document.querySelectorAll("nav a")].find((a) => a.textContent.trim() === label)
      const begin = performance.now()
      link.click()
      while (document.querySelector("h1")?.textContent.trim() !== label || document.querySelector(".skeleton")) await new Promise(requestAnimationFrame)
      return performance.now() - begin
    }, label))
  }
  await page.goto(team)
  await page.waitForFunction(there)
  for (const label of ["Contacts", "Services", "Contacts", "Services", "Contacts", "Services", "Contacts"]) await go(label)
  line("portal: the next screen, once it has been seen", Math.round(middle(ways.slice(2))), 100, "ms")
  await page.keyboard.press("/")
  await page.keyboard.type("budget 17", { delay: 60 })
  for (let i = 0; i < 10; i++) await page.keyboard.press("j", { delay: 40 })
  await page.keyboard.press("Control+k")
  await page.keyboard.type("cal", { delay: 60 })
  await page.keyboard.press("Escape")
  line("portal: the slowest of its keys and clicks", await slowestKey(page), 200, "ms")
  await context.close()
}
