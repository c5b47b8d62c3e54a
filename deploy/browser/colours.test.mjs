import assert from "node:assert/strict"
import { before, describe, test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { ripe, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

// Colours that the visitor's system forces on every page, as Windows' contrast themes do.
let form
before(async () => {
  form = await desk.admin.post("/forms", { name: "Ask in any colour", status: "publish", definition: { elements: [
    { id: "email", type: "field", target: "contact.email", required: true, help: "Only to answer you." },
    { id: "question", type: "field", target: "submission.fields.question", label: "Your question", required: true },
    { id: "privacy", type: "consent", text: "You may keep my details to answer this request.", purpose: "privacy", required: true },
  ], after_submit: { type: "message", message: "Thank you, we will answer." } } })
  await until("the form", async () => (await fetch(`${desk.gateway}/f/${form.id}`)).ok)
})

const forced = (options = {}) => visitor(browser, { forcedColors: "active", hosts: [new URL(desk.gateway).host], ...options })

// The colours of the element with focus, or of a part of the page.
const look = (page, selector) => page.evaluate((selector) => {
  const roots = [document, ...[...document.querySelectorAll("svc-booking, svc-form")].map((e) => e.shadowRoot).filter(Boolean)]
  let e = document.activeElement
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
  if (selector) e = roots.map((r) => [...r.querySelectorAll(selector)].find((x) => x.checkVisibility())).findLast(Boolean)
  const s = getComputedStyle(e)
  return { name: e.getAttribute("aria-label") || e.id || e.textContent, outline: s.outlineStyle, width: parseFloat(s.outlineWidth), line: s.outlineColor,
    border: s.borderTopWidth + " " + s.borderTopStyle, edge: s.borderTopColor, background: s.backgroundColor, colour: s.color, around: getComputedStyle(document.body).backgroundColor }
}, selector)

// Presses Tab so many times; the focus is visible at every stop.
async function stops(page, times, where) {
  for (let n = 1; n <= times; n++) {
    await page.keyboard.press("Tab")
    const at = await look(page)
    assert.ok(at.outline !== "none" && at.width >= 2 && at.line !== at.around, `focus in ${where} is not seen: ${JSON.stringify(at)}`)
  }
}

const edged = async (page, selector) => {
  const at = await look(page, selector)
  assert.ok(at.border === "1px solid" && at.edge !== at.around, `${selector} has no edge: ${JSON.stringify(at)}`)
}

describe("visitors who come at once", { concurrency: 4 }, () => {
  test("a browser that cannot choose between two colours shows the light ones", async () => {
    const v = await visitor(browser, { hosts: [new URL(desk.gateway).host], colorScheme: "dark" })
    const { page } = v
    await page.addInitScript(() => {
      const supports = CSS.supports.bind(CSS)
      CSS.supports = (...what) => !what.join().includes("light-dark") && supports(...what)
    })
    for (const [tag, address] of [["svc-booking", desk.bookPage], ["svc-form", `${desk.gateway}/f/${form.id}`]]) {
      await page.goto(address)
      // The page of a form has no widget of its own.
      if (tag === "svc-form") await page.evaluate(([id, origin]) => {
        document.body.append(Object.assign(document.createElement("svc-form"), { id: "widget" }))
        document.getElementById("widget").setAttribute("form", id)
        return import(origin + "/_ui/forms/widget.js").then(() => undefined)
      }, [form.id, desk.gateway])
      await page.waitForFunction((t) => document.querySelector(t)?.shadowRoot?.adoptedStyleSheets.length > 0, tag)
      const rules = await page.evaluate((t) => document.querySelector(t).shadowRoot.adoptedStyleSheets.flatMap((s) => [...s.cssRules]).map((r) => r.cssText).join("\n"), tag)
      assert.ok(rules.includes("--ink") && !rules.includes("light-dark"), tag)
    }
    await v.end()
  })

  for (const [way, options] of Object.entries({ "black on white": {}, "white on black": { colorScheme: "dark" } })) test(`in forced colours, ${way}, the booking widget shows what is free, chosen, wrong and in focus`, async () => {
    const v = await forced(options)
    const { page } = v
    const name = (what) => `forced ${options.colorScheme ?? "light"} ${what}`
    await page.goto(desk.bookPage)
    await page.waitForFunction(() => document.querySelector("svc-booking")?.shadowRoot?.querySelector(".choice"))
    await edged(page, ".choice")
    await stops(page, 3, "services")
    await check(page, name("services"))
    await page.getByRole("button", { name: desk.intake.name }).click()
    await page.locator(".time:visible").first().waitFor()
    await edged(page, ".time")
    await edged(page, ".day--free:not(.day--chosen)")
    const [chosen, free] = [await look(page, ".day--chosen"), await look(page, ".day--free:not(.day--chosen)")]
    assert.notEqual(chosen.background, free.background, "the chosen day is seen")
    await stops(page, 6, "times")
    await check(page, name("times"))
    await page.locator(".time:visible").last().click()
    await page.getByRole("heading", { name: "Your details" }).waitFor()
    await stops(page, 6, "details")
    await page.getByRole("button", { name: "Book", exact: true }).click()
    await page.locator("#svc-email-error:visible").waitFor()
    await edged(page, "#svc-email")
    await edged(page, "button[type=submit]")
    await check(page, name("wrong"))
    await v.end()
  })

  for (const scripts of [true, false]) test(`in forced colours a form is filled in and sent, ${scripts ? "with" : "without"} script`, async () => {
    const v = await forced({ scripts })
    const { page } = v
    const name = (what) => `forced form ${scripts ? "" : "plain "}${what}`
    await page.goto(`${desk.gateway}/f/${form.id}`)
    await page.getByRole("button", { name: "Send" }).waitFor()
    const shown = Date.now()
    await stops(page, 5, "the form")
    await edged(page, "input[type=email]")
    await edged(page, "button[type=submit]")
    await check(page, name("empty"))
    await page.getByRole("button", { name: "Send" }).click()
    if (scripts) {
      await page.getByText("answers need your attention").waitFor()
      await edged(page, ".notice")
      await check(page, name("wrong"))
    }
    await page.getByLabel("Email").fill(`forced-${Date.now().toString(36)}@example.com`)
    await page.getByLabel("Your question").fill("Is this readable?")
    await page.getByLabel("You may keep my details").check()
    if (!scripts) await ripe(shown) // without script nothing delays a form that would be sent too fast
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByText("Thank you, we will answer.").waitFor()
    await check(page, name("sent"))
    await v.end()
  })

  test("in forced colours the pages behind mails and of accounts are read and used", async () => {
    const v = await forced()
    for (const [path, n] of [["/account/sign-in", 4], ["/account/telemetry", 2], ["/manage", 2], ["/marketing/unsubscribe", 2]]) {
      await v.page.goto(desk.gateway + path)
      await edged(v.page, "button[type=submit]")
      await stops(v.page, n, path)
      await check(v.page, "forced " + path)
    }
    await v.end()
  })
})
