// A visitor's browser, and the checks of every state of a page.
import { createHash } from "node:crypto"
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { look } from "./looks.mjs"

// By import, Node.js would first search all of Playwright for the names that it exports, which takes half a second of a processor.
const { chromium } = createRequire(import.meta.url)("playwright-core")

const places = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]

/**
 * Starts the browser: the one that BROWSER_BIN names, or the first that is installed. It ends with its process: tests do not close
 * it, because a Chromium that was asked to close may take for ever.
 */
export function launch() {
  const executablePath = process.env.BROWSER_BIN ?? places.find((p) => existsSync(p))
  if (!executablePath) throw new Error("There is no Chromium: install chromium-headless-shell, or name one in BROWSER_BIN.")
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] })
}

const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const noScript = new WeakSet()

/**
 * Contexts whose visitors have left, with the page in which they were, the last to leave at the end: the next visitor who has the same options gets one
 * with nothing in it but what the browser keeps of the files that it has loaded. A context that begins loads and compiles all of the portal once more, and
 * a page starts a process, which takes half a second of a processor.
 */
const left = []

/** Closes what tests have left open, so that nothing of a file goes on in the next one, and all but eight of the contexts that wait for a visitor. */
export async function tidy(browser) {
  left.splice(0, left.length - 8)
  await Promise.all(browser.contexts().filter((c) => !left.some((l) => l.context === c)).map((c) => c.close()))
}

/** What stays in a context or a page until its end. */
const lasting = ["addInitScript", "exposeBinding", "exposeFunction", "grantPermissions", "setExtraHTTPHeaders", "setGeolocation"]
const lastingClock = ["install", "setFixedTime", "setSystemTime", "pauseAt"]
/** What a test listens for at a page. */
const listened = ["console", "dialog", "download", "pageerror", "popup", "request", "requestfailed", "requestfinished", "response"]

/** Calls then before each of these calls of an object. */
const before = (of, names, then) => {
  for (const name of names.filter((n) => n in of)) {
    const call = of[name]
    of[name] = (...given) => (then(), call.apply(of, given))
  }
}

/** A context with these options and its page, and what takes them back once their visitor leaves. */
async function contextOf(browser, options) {
  const wanted = JSON.stringify(options)
  const at = left.findLastIndex((l) => l.wanted === wanted && l.context.browser() === browser)
  let [found] = at < 0 ? [] : left.splice(at, 1)
  if (!found) {
    const context = await browser.newContext(options)
    found = { wanted, context, origins: new Set(), sessions: [], spent: false }
    const spend = () => (found.spent = true)
    before(context, lasting, spend)
    before(context.clock, lastingClock, spend)
    context.on("page", (page) => page.on("framenavigated", (frame) => found.origins.add(new URL(frame.url()).origin)))
    const newCDPSession = context.newCDPSession
    context.newCDPSession = async (page) => {
      const session = await newCDPSession.call(context, page)
      found.sessions.push(session)
      return session
    }
  }
  const { context, origins } = found
  const page = found.page ?? (await context.newPage())
  if (!found.page) before(page, lasting, () => (found.spent = true))
  const devtools = await context.newCDPSession(page)
  for (const origin of origins) if (origin !== "null") await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage,indexeddb,cache_storage,service_workers" })
  await devtools.send("Page.resetNavigationHistory")
  origins.clear()
  const leave = async (empty) => {
    if (!empty || found.spent) return context.close()
    // What a page stores for itself alone can only be cleared from where it is; somebody else's site may be gone by now.
    const [origin, ...others] = [...origins].filter((o) => o !== "null")
    for (const name of listened) page.removeAllListeners(name)
    const stays = origin && others.length === 0 && options.javaScriptEnabled !== false && (await page.goto(origin + "/robots.txt").catch(() => false))
    found.page = stays ? page : undefined
    await Promise.all(context.pages().filter((p) => p !== found.page).map((p) => p.close()))
    if (stays) {
      await page.evaluate(() => sessionStorage.clear())
      await page.mouse.move(0, 0)
      await page.setViewportSize(options.viewport)
      await page.emulateMedia({ media: null, colorScheme: options.colorScheme ?? "light", forcedColors: options.forcedColors ?? "none", reducedMotion: options.reducedMotion })
    }
    await Promise.all(found.sessions.splice(0).map((s) => s.detach().catch(() => {})))
    await context.clearCookies()
    left.push(found)
  }
  return { context, page, leave }
}

/** How many times as slow as this machine a page is. What a test does before the page is ready then fails each time. */
const slow = Number(process.env.SLOW ?? 1)

/** For how long a test waits for what has to come, in milliseconds. */
export const patience = 15000 * slow

/**
 * A page of a new visitor, who wants less motion: drawing the frames of transitions took a quarter of the browser's time. end() fails
 * after an error, a refused resource, a cookie, or a request to a host that is not in hosts. delays lets answers come in any order; with
 * scripts off no script loads.
 */
export async function visitor(browser, options = {}) {
  const { delays = false, scripts = true, hosts = [], ...rest } = options
  const { context, page, leave } = await contextOf(browser, { locale: "en-GB", timezoneId: "Europe/Brussels", viewport: { width: 1100, height: 900 }, reducedMotion: "reduce", ...rest })
  if (rest.javaScriptEnabled === false) noScript.add(context)
  page.setDefaultTimeout(patience)
  if (slow > 1) await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: slow })
  const problems = []
  page.on("pageerror", (e) => problems.push("error: " + e.message))
  page.on("console", (m) => {
    if (m.type() === "error" && !/Failed to load resource/.test(m.text())) problems.push("console: " + m.text())
  })
  page.on("request", (r) => {
    const host = new URL(r.url()).host
    if (!r.url().startsWith("data:") && hosts.length > 0 && !hosts.includes(host)) problems.push("request to " + r.url())
  })
  if (!scripts) await intercept(page, ["*.js", "*.js?*"], () => failed)
  if (delays) await intercept(page, ["*/v1/*", "*/_ui/*"], () => new Promise((resolve) => setTimeout(resolve, Math.random() * 300)))
  return {
    page,
    context,
    problems,
    async end() {
      const cookies = await context.cookies()
      // What a test answers itself may be on its way, and needs the page no more.
      await Promise.all([context, ...context.pages()].map((of) => of.unrouteAll({ behavior: "ignoreErrors" })))
      await leave(problems.length + cookies.length === 0)
      assert.deepEqual(problems, [])
      assert.deepEqual(cookies, [], "a visitor gets no cookie")
    },
  }
}

/** What intercept() gives a request whose connection fails. */
export const failed = { errorReason: "ConnectionFailed" }

/**
 * Asks decide about each request of a page whose address fits a pattern, in which "*" stands for anything, until the function that it answers is called.
 * decide gets the address, and answers failed, { status, headers, json }, or nothing for what the server says; a promise of one lets the request wait. With
 * page.route the browser would load and compile everything anew with each page, and ask about each request.
 */
export async function intercept(page, patterns, decide) {
  const session = await page.context().newCDPSession(page)
  session.on("Fetch.requestPaused", async ({ requestId, request }) => {
    const is = await decide(request.url)
    const [method, more] = !is ? ["continueRequest"] : is === failed ? ["failRequest", failed]
      : ["fulfillRequest", { responseCode: is.status ?? 200, responseHeaders: Object.entries({ "Content-Type": "application/json", ...is.headers }).map(([name, value]) => ({ name, value })), body: btoa(JSON.stringify(is.json ?? null)) }]
    await session.send("Fetch." + method, { requestId, ...more }).catch(() => {}) // its page may have left
  })
  await session.send("Fetch.enable", { patterns: patterns.map((p) => ({ urlPattern: p.replaceAll("?", "\\?") })) })
  return () => session.detach()
}

/**
 * A page of somebody who is signed in: desk's administrator, or who the cookie says. end() fails as visitor's does, apart from the session.
 */
export async function member(browser, desk, options = {}) {
  const { cookie = desk.person.headers.Cookie, ...rest } = options
  const v = await visitor(browser, { hosts: [new URL(desk.gateway).host], viewport: { width: 1440, height: 900 }, ...rest })
  const [name, value] = cookie.split(/=(.*)/)
  await v.context.addCookies([{ name, value, url: desk.gateway, httpOnly: true, sameSite: "Lax" }])
  const end = async () => {
    await v.context.clearCookies()
    await v.end()
  }
  return { ...v, end }
}

/** The portal begins with other facts about its person or apps: change gets the JSON as it stands in the page, with &#34; for quotes. */
export const beginWith = (page, change) =>
  page.route(/\/team(\/[^?]*)?(\?.*)?$/, async (route) => {
    const answer = await route.fetch()
    const text = await answer.text()
    await route.fulfill({ response: answer, body: text.replace(/(<meta name="portal" content=")([^"]*)"/, (_, head, value) => head + change(value) + '"') })
  })

const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
const everything = { runOnly: rules }
const contrast = { runOnly: { type: "rule", values: ["color-contrast"] } }
const butContrast = { runOnly: rules, rules: { "color-contrast": { enabled: false } } }

/** Style sheets that axe has read, by address or text: for the one rule about them it reads all of a page anew, which takes a third of its time. */
const sheets = new Set()

/** Checks the page's present state: axe finds nothing, by all rules or by some, and nothing is wider than the window. */
export async function check(page, name, what = everything) {
  if (noScript.has(page.context())) return shot(page, name) // axe is a script
  // axe measures the colours of this moment, and a list that is asked for anew is pale until it is there.
  await gone(page, ".list--old")
  const { there, styles, wide } = await still(page)
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`)
  const seen = await look(page, what, page.context().browser().version())
  if (!seen.known) {
    if (!there) await page.evaluate(axe)
    await axeFindsNothing(page, name, what, styles)
    seen.passed()
  }
  await shot(page, name)
}

async function axeFindsNothing(page, name, what, styles) {
  const preload = what === everything && !styles.every((s) => sheets.has(s))
  // What a bar at the foot covers comes out when the page is scrolled, but axe measures the gap between the two.
  const violations = await page.evaluate(async (how) => {
    const bars = [...document.querySelectorAll(".save-bar, .import-start, .builder-save")]
    for (const bar of bars) bar.style.position = "static"
    try {
      return (await window.axe.run({ ...how, resultTypes: ["violations"] })).violations
    } finally {
      for (const bar of bars) bar.style.position = ""
    }
  }, { ...what, preload })
  for (const s of preload ? styles : []) sheets.add(s)
  const said = violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.flat().join(" ") + " " + (n.any[0]?.message ?? n.all[0]?.message ?? "")).join("; ")}`)
  assert.deepEqual(said, [], `axe in ${name}`)
}

/** Colours in which a page may be shown. */
const colours = { dark: { colorScheme: "dark" }, forced: { colorScheme: "light", forcedColors: "active" } }

/**
 * Checks the page's present state as check does, then without loading it again: its contrast in these colours, and all but that on a
 * small screen with touch.
 */
export async function checkModes(page, name, modes = Object.keys(colours)) {
  await check(page, name)
  for (const mode of modes) {
    await page.emulateMedia(colours[mode])
    await check(page, `${name} ${mode}`, contrast)
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" })
  const wide = page.viewportSize()
  const device = await page.context().newCDPSession(page)
  await device.send("Emulation.setTouchEmulationEnabled", { enabled: true })
  await page.setViewportSize({ width: 320, height: 720 })
  await check(page, name + " small", butContrast)
  await device.send("Emulation.setTouchEmulationEnabled", { enabled: false })
  await device.detach()
  await page.setViewportSize(wide)
}

/**
 * Waits until no element of the page fits a selector. page.waitForFunction would first bring 300 kB of Playwright's script into the page's own world,
 * and draw each frame; a locator looks every half a second.
 */
export const gone = (page, selector) =>
  page.evaluate(async ([selector, patience]) => {
    for (let waited = 0; document.querySelector(selector); waited += 30) {
      if (waited > patience) throw new Error(selector + " does not go")
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  }, [selector, patience])

/**
 * Waits until what was just changed is drawn and every transition and finite animation has ended, and answers whether axe is there, by how much the page is
 * wider than its window, and its style sheets. It asks each frame anew: the promise of an animation whose element went meanwhile may never settle.
 */
const still = (page) =>
  page.evaluate(async (frames) => {
    const moves = () => {
      const roots = [document]
      for (const root of roots) for (const e of root.querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot)
      return roots.some((root) => root.getAnimations().some((a) => a.playState === "running" && a.effect.getComputedTiming().endTime !== Infinity))
    }
    for (let i = 0; i < 2 || moves(); i++) {
      if (i > frames) throw new Error("an animation does not end")
      await new Promise(requestAnimationFrame)
    }
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
    return { there: "axe" in window, wide, styles: [...document.styleSheets].map((s) => s.href ?? s.ownerNode.textContent) }
  }, 900 * slow)

/** Keeps a picture of the page, if SHOTS names a folder. */
export async function shot(page, name) {
  if (!process.env.SHOTS) return
  mkdirSync(process.env.SHOTS, { recursive: true })
  await page.screenshot({ path: `${process.env.SHOTS}/${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`, fullPage: true })
}

/** Starts a site of somebody else, whose policy allows our script and none of its own. close() ends it. */
export async function host(gateway, html) {
  const styles = [...html.matchAll(/<style>([^]*?)<\/style>/g)].map(([, css]) => `'sha256-${createHash("sha256").update(css).digest("base64")}'`)
  const server = createServer((_, answer) => {
    answer.setHeader("Content-Type", "text/html; charset=utf-8")
    answer.setHeader("Content-Security-Policy", `default-src 'none'; script-src ${gateway}; connect-src ${gateway}; font-src ${gateway}; style-src 'self' ${styles.join(" ")}; img-src data:; base-uri 'none'`)
    answer.end(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Somebody's site</title><link rel="icon" href="data:,"></head><body><main><h1>Somebody's site</h1>${html}</main></body></html>`)
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }
}
