// What visitors wait for, held against the goals: sizes of what the browser loads, and times on a slow phone (Slow 4G, a
// processor four times slower). It starts a system, or measures the one that E2E_DATA_DIR names. Ends with 1 when a goal is missed.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { host, launch } from "../../browser/browser.mjs"
import { setUp, start } from "../../browser/system.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")
let missed = 0
function line(what, value, goal, unit) {
  const ok = value <= goal
  if (!ok) missed++
  console.log(`${what.padEnd(52)} ${String(value).padStart(8)} ${unit.padEnd(3)} goal ${goal}${ok ? "" : "   MISSED"}`)
}

// Sizes: a widget is its entry with all that the entry imports at once; languages come beside it, one per visitor.
const kB = (n) => Math.round(n / 10) / 100
function weigh(dir, entry) {
  const seen = new Set()
  const take = (name) => {
    if (seen.has(name)) return
    seen.add(name)
    const text = readFileSync(join(dir, name), "utf8")
    for (const m of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) take(m[1])
  }
  take(entry)
  return [...seen].reduce((sum, name) => sum + gzipSync(readFileSync(join(dir, name)), { level: 9 }).length, 0)
}
const dist = (service) => join(root, `services/${service}/internal/${service}/web/dist`)
line("booking widget, gzip", kB(weigh(dist("booking"), "widget.js")), 18, "kB")
line("form widget, gzip", kB(weigh(dist("forms"), "widget.js")), 12, "kB")
for (const service of ["booking", "forms"]) {
  for (const name of readdirSync(dist(service)).filter((f) => /^(en|nl|fr|de)-/.test(f))) {
    line(`${service} language ${name.slice(0, 2)}, gzip`, kB(gzipSync(readFileSync(join(dist(service), name)), { level: 9 }).length), 1.5, "kB")
  }
}

// Times: the middle one of five cold visits.
async function visit(browser, url, ready) {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send("Network.enable")
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 })
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 })
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
async function measure(browser, url, ready) {
  const all = []
  for (let i = 0; i < 5; i++) all.push(await visit(browser, url, ready))
  return { at: Math.round(middle(all.map((v) => v.at))), shift: Math.round(Math.max(...all.map((v) => v.shift)) * 1000) / 1000, paint: Math.round(middle(all.map((v) => v.paint))) }
}

const { dir, stop } = await start()
process.env.E2E_DATA_DIR = dir
try {
  await times()
} finally {
  await stop()
}
process.exit(missed > 0 ? 1 : 0)

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
  } finally {
    site.close()
    await browser.close()
  }
}
