// A day at the desk without a mouse: from a request on the overview to signing out, the focus is always somewhere and can be seen.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { Client, hire, known, password, state, until } from "./system.mjs"
import { desk, member, team, unique } from "./team.mjs"

/** Where the focus is, in words; undefined if it is nowhere, outside the window, or cannot be seen. */
const focus = (page) =>
  page.evaluate(() => {
    const e = document.activeElement
    if (!e || e === document.body) return undefined
    if (e.id === "main") return "main"
    const shown = e.matches(".sr") ? e.parentElement : e // a radio button whose label is drawn
    const style = getComputedStyle(shown)
    const box = shown.getBoundingClientRect()
    const drawn = (s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0
    // A text field has a caret, and an element that was not reached by keyboard needs no mark.
    const seen = drawn(style) || drawn(getComputedStyle(shown.parentElement)) || e.matches(".palette input") || !e.matches(":focus-visible")
    if (!seen || box.bottom < 0 || box.top > innerHeight) return undefined
    return (e.getAttribute("aria-label") ?? e.labels?.[0]?.innerText ?? e.innerText ?? e.tagName).trim()
  })

/** Presses Tab until the focus is on an element. Every stop on the way can be seen. */
async function tabTo(page, target, key = "Tab") {
  await target.waitFor()
  for (let i = 0; i < 150; i++) {
    if (await target.evaluate((e) => e === document.activeElement)) return
    await page.keyboard.press(key)
    const at = await page.evaluate(() => document.activeElement === document.body || document.activeElement.shadowRoot !== null)
    assert.ok(at || (await focus(page)) !== undefined, `after ${i + 1} times ${key}: the focus on ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200))} can be seen`)
  }
  assert.fail(`Tab does not reach ${target}`)
}

/** The focus is not lost once something has been done. */
const kept = (page, what) => until(`the focus after ${what}`, () => focus(page), 5)

async function go(page, words, heading) {
  await page.keyboard.press("Control+k")
  await page.getByRole("combobox", { name: "Search or go to…" }).waitFor()
  await page.keyboard.type(words)
  await page.getByRole("option", { name: new RegExp(heading, "i") }).first().waitFor()
  await page.waitForFunction(() => !document.querySelector(".palette [aria-busy=true]"))
  await until("the hit", async () => {
    if (new RegExp(heading, "i").test(await page.locator('.palette [aria-selected="true"]').innerText())) return true
    await page.keyboard.press("ArrowDown")
  })
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor()
  await kept(page, "going to " + heading)
}

/** A service of a colleague who works in some days only: whatever time it is, and whoever was booked before, the first free day has all its times. */
async function free() {
  const colleague = await hire(desk.admin, "Noor " + unique(), [])
  const weekdays = [2, 3, 4].map((days) => ((new Date(Date.now() + days * 86_400_000).getDay() + 6) % 7) + 1)
  await desk.admin.put(`/staff/${colleague}/hours`, { hours: Object.fromEntries(weekdays.map((d) => [d, [["09:00", "17:00"]]])) })
  return desk.admin.post("/services", { name: "Talk " + unique(), duration_min: 60, location_type: "in_person", staff: [colleague], bookable_online: true })
}

test("a day at the desk is done wholly by keyboard", async () => {
  const talk = await free()
  const name = "Keys " + unique()
  const c = await desk.admin.post("/contacts", { first_name: "Ada", last_name: name, email: `keys-${unique()}@example.com` })
  const slots = (await desk.admin.get("/slots?service=" + desk.followUp.id)).items
  await desk.admin.post("/appointments", { contact: c.id, service: desk.followUp.id, starts_at: slots[5].starts_at, status: "pending", meeting_url: "https://meet.example.com/keys" })
  const login = await new Client().call("POST", "/auth/login", { login: state().admin?.login || "admin", password: state().admin?.password || password })
  const cookie = login.headers.getSetCookie()[0].split(";")[0]
  await known(new Client({ Cookie: cookie }))
  const v = await member({ cookie, reducedMotion: "no-preference" })
  const { page } = v
  const button = (label, scope = page) => scope.getByRole("button", { name: label, exact: true })

  // A request is confirmed where it stands.
  await page.goto(team())
  await tabTo(page, button(`Confirm the request of Ada ${name}`))
  await page.keyboard.press("Enter")
  await page.getByText(`Confirmed. Ada ${name} gets a mail.`).waitFor()
  await button(`Confirm the request of Ada ${name}`).waitFor({ state: "detached" })
  await kept(page, "confirming a request")

  // A person is found, and gets a note.
  await go(page, name, "Ada " + name)
  await tabTo(page, page.getByLabel("New note"))
  await page.keyboard.type("Called back")
  await tabTo(page, button("Add the note"))
  await page.keyboard.press("Enter")
  await page.locator(".entry--note").getByText("Called back").waitFor()
  await kept(page, "adding a note")

  // An appointment is booked, and moved.
  await go(page, "new app", "New appointment")
  await tabTo(page, page.getByRole("combobox", { name: "Name, email or phone number" }))
  await page.keyboard.type(name)
  await page.getByRole("option", { name: new RegExp(name) }).first().waitFor()
  await page.keyboard.press("Enter")
  await page.locator(".service-choice:focus").waitFor()
  await tabTo(page, page.getByRole("button", { name: talk.name }))
  await page.keyboard.press("Enter")
  await page.locator(".time:focus").waitFor()
  await page.keyboard.press("Enter")
  await page.locator("button[type=submit]:focus").waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Ada " + name, level: 1 }).waitFor()
  await page.waitForURL(/\/appointments\/[0-9a-f-]{36}/)
  await kept(page, "booking")
  const id = /appointments\/([0-9a-f-]{36})/.exec(page.url())[1]
  const before = (await desk.admin.get("/appointments/" + id)).starts_at
  await tabTo(page, button("Move"))
  await page.keyboard.press("Enter")
  const moving = page.getByRole("dialog")
  // The first one is its own time.
  await tabTo(page, moving.locator(".time").nth(1))
  await page.keyboard.press("Enter")
  await tabTo(page, button("Move and mail the client", moving))
  await page.keyboard.press("Enter")
  await moving.waitFor({ state: "detached" })
  await kept(page, "moving")
  await until("the new time", async () => (await desk.admin.get("/appointments/" + id)).starts_at !== before)

  // A form is made.
  await go(page, "forms", "Forms")
  await tabTo(page, button("New form").first())
  await page.keyboard.press("Enter")
  const making = page.getByRole("dialog", { name: "New form" })
  await tabTo(page, making.getByLabel("Name", { exact: true }))
  await page.keyboard.press("Control+a")
  await page.keyboard.type("Form " + name)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Form " + name, level: 1 }).waitFor()
  await kept(page, "making a form")

  // A webhook is made; its secret is shown once.
  await go(page, "webhooks", "Webhooks")
  await tabTo(page, button("New webhook").first())
  await page.keyboard.press("Enter")
  const hook = page.getByRole("dialog", { name: "New webhook" })
  await tabTo(page, hook.getByLabel("Name", { exact: true }))
  await page.keyboard.type("Hook " + name)
  await tabTo(page, hook.getByLabel("Address", { exact: true }))
  await page.keyboard.type("http://127.0.0.1:9/hooks")
  await tabTo(page, hook.getByRole("checkbox").first())
  if (!(await hook.getByRole("checkbox").first().isChecked())) await page.keyboard.press("Space")
  await tabTo(page, hook.locator("button[type=submit]"))
  await page.keyboard.press("Enter")
  await tabTo(page, button("I have copied it"))
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await kept(page, "making a webhook")
  await check(page, "portal after a day by keyboard")

  // And the day ends.
  await tabTo(page, page.locator(".person-button"), "Shift+Tab")
  await page.keyboard.press("Enter")
  await tabTo(page, button("Sign out"))
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/account\/sign-in/)
  const made = (await desk.admin.get("/webhooks")).items.find((w) => w.name === "Hook " + name)
  await desk.admin.call("DELETE", "/webhooks/" + made.id)
  await v.end()
})
