// Nothing moves under the eyes of somebody who waits: each answer comes by itself, a moment after the one before, and what is on the screen
// stays where it is.
import assert from "node:assert/strict"
import { before, describe, test } from "node:test"
import { failed, intercept, visitor } from "./browser.mjs"
import { until } from "./system.mjs"
import { browser, desk, member, records, team, unique } from "./team.mjs"

// A small screen and a large one; a tablet and a wide one are a long proof.
const widths = process.env.EVERY_LANGUAGE ? [320, 768, 1280, 1920] : [320, 1280]
/** What web.dev calls good is 0.1. */
const most = 0.05

let ids
before(async () => {
  ids = await records()
  // Lists that are longer than a window, with filters that have long choices.
  await Promise.all([...Array(30)].map((_, i) => desk.admin.post("/contacts", { first_name: "Ada", last_name: `Steady ${i} ${unique()}`, email: `steady-${unique()}@example.com`, phone: "0470 11 22 33", source: "A fair of some length", tags: ["A rather long name of a tag", "VIP"], owner_user_id: desk.user })))
  await desk.admin.post("/fields", { entity: "contact", label: "Shown " + unique(), type: "text", show_in_list: true })
})

/** A visitor whose calls wait until they are let through, one by one. moved() answers how much of a page moves meanwhile, and what. */
async function waiter(v) {
  const { page } = v
  await page.addInitScript(() => {
    globalThis.moved = []
    new PerformanceObserver((all) => all.getEntries().forEach((e) => e.hadRecentInput || moved.push({ value: e.value, what: e.sources.map((s) => `${s.node?.className || s.node?.nodeName} ${[s.previousRect, s.currentRect].map((r) => [r.x, r.y, r.width, r.height].map(Math.round)).join(" to ")}`) }))).observe({ type: "layout-shift", buffered: true })
  })
  const waiting = []
  // The font stands in for one of its own measures, which not every machine has.
  await intercept(page, ["*.woff2"], () => failed)
  // The widget of a form's preview is a file of its own, which may come last.
  await intercept(page, ["*/v1/*", "*/_ui/forms/widget.js*"], (url) => /\/v1\/(live|auth\/session)/.test(url) ? undefined : new Promise((resolve) => waiting.push({ url, resolve })))
  const frames = () => page.evaluate(async () => {
    for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame)
  })

  /** The layout shift score of an address, and the elements that moved furthest. */
  async function shift(address, ready) {
    await page.goto("about:blank") // the last calls of the page before do not count
    waiting.length = 0
    await page.goto(address)
    // Each answer has been drawn before the next one comes, and the last one before the end. A screen has twenty of them, so the time to wait is that of one.
    const still = async () => (await ready(page)) && (await page.evaluate(() => !document.querySelector(".skeleton, .list--old"))) && (await frames(), waiting.length === 0)
    while ((await until(`all of ${address}`, async () => (waiting.length > 0 ? "more" : (await still()) && "all"))) === "more") {
      const next = waiting.shift()
      const answered = page.waitForResponse((r) => r.url() === next.url)
      next.resolve()
      await answered
      await frames()
    }
    const all = await page.evaluate(() => moved)
    return { sum: all.reduce((sum, m) => sum + m.value, 0), said: all.map((m) => `${m.value.toFixed(3)}: ${m.what.join("; ")}`).join("\n") }
  }
  return { shift, end: v.end }
}

const screens = ["/", "/contacts", "/contacts/$id", "/organizations/$id", "/calendar", "/appointments/$id", "/services", "/submissions", "/forms/$id", "/hours", "/settings/booking"]

describe("screens that load", { concurrency: 4 }, () => {
  for (const width of widths) test(`no screen of the team moves, at ${width} pixels`, async () => {
    const v = await waiter(await member({ viewport: { width, height: 800 } }))
    const found = []
    for (const path of screens) {
      const { sum, said } = await v.shift(team() + path.replace("$id", ids[path] ?? ""), (page) => page.locator("h1").first().isVisible())
      if (sum > most) found.push(`${path}: ${sum.toFixed(3)}\n${said}`)
    }
    await v.end()
    assert.deepEqual(found, [], found.join("\n"))
  })

  for (const width of widths) test(`no page of a visitor moves, at ${width} pixels`, async () => {
    const form = ids["/forms/$id"]
    const v = await waiter(await visitor(browser, { viewport: { width, height: 800 } }))
    for (const [address, ready] of [[desk.bookPage, ".choice:visible"], [`${desk.bookPage}?service=${desk.intake.id}`, ".day--free:visible"], [`${desk.gateway}/f/${form}`, ".label:visible"]]) {
      const { sum, said } = await v.shift(address, (page) => page.locator(ready).first().isVisible())
      assert.ok(sum <= most, `${address}: ${sum}\n${said}`)
    }
    await v.end()
  })
})
