// Every screen of the portal in bad moments: the connection is gone, the service answers 500 or 503, the session has ended. One table for
// all of them.
import assert from "node:assert/strict"
import { before, test } from "node:test"
import { check, failed, intercept } from "./browser.mjs"
import { password, state, until } from "./system.mjs"
import { deaf, desk, endSession, member, open, records, screens, team, unique } from "./team.mjs"

let ids
before(async () => (ids = await records()))

/** A list, a record, the calendar and a document fail in every way. Of the others the same parts say what failed: each fails in one way, as its neighbours do not. */
const looked = ["/contacts", "/contacts/$id", "/calendar", "/settings/general"]

const failures = [
  { name: "the connection fails", answer: failed, says: /connection failed/i },
  { name: "the service answers 500", answer: { status: 500, json: { code: "svc_internal", message: "Something went wrong on our side." } }, says: /not available right now|went wrong/i },
  { name: "the service is away", answer: { status: 503, headers: { "Content-Type": "text/plain", "Retry-After": "1" } }, says: /not available right now/i },
]
const loading = screens.filter(([, { calls }]) => calls.length > 0)

test("every screen says so when the connection fails, or the service answers 500 or 503, and loads when it is tried again", async () => {
  const v = await deaf(await member())
  await v.page.clock.install()
  let failure, calls
  await intercept(v.page, ["*/v1/*"], (url) => {
    if (failure && !/\/v1\/(live|auth\/session)/.test(url)) return calls++, failure.answer
  })
  const alert = (says) => v.page.getByRole("alert").filter({ hasText: says }).first()
  const again = () => alert(failure.says).getByRole("button", { name: "Try again" }).click()
  for (const [at, [path]] of loading.entries()) {
    for (const [i, next] of (looked.includes(path) ? failures : [failures[at % failures.length]]).entries()) {
      const tried = i > 0 && again()
      failure = next
      calls = 0
      await (tried || v.page.goto(team() + path.replace("$id", ids[path])))
      // Two attempts of the program itself come first.
      const said = async () => calls > 0 && (await alert(next.says).isVisible())
      // The screen's own code may still be on its way, which no clock of the page hastens.
      for (const until = Date.now() + 30_000; !(await said()) && Date.now() < until; ) await v.page.clock.runFor(500)
      assert.ok(await said(), `${path} says that ${next.name}, after ${calls} calls: ${await v.page.locator("#main").innerText()}`)
      if (i === 0 && looked.includes(path)) await check(v.page, `portal offline ${path}`)
    }
    const tried = again()
    failure = undefined
    await tried
    await alert(/./).waitFor({ state: "detached" })
  }
  v.problems.length = 0 // what failed here was to fail
  await v.end()
})

test("without a connection a screen that was never opened says so, and opens once there is one", async () => {
  const v = await member()
  await open(v, "/contacts", "Contacts")
  await v.context.setOffline(true)
  await v.page.getByRole("link", { name: "Services", exact: true }).click()
  await v.page.getByRole("alert").getByText("The connection failed").waitFor()
  await check(v.page, "portal offline screen")
  await v.context.setOffline(false)
  // A part of the program that failed just before loads the page once more, maybe under the click. One click is enough otherwise.
  let clicked = false
  await until("the screen", async () => {
    if (!clicked) await v.page.getByRole("button", { name: "Try again" }).click({ timeout: 2000 }).then(() => (clicked = true), () => {})
    return v.page.getByRole("heading", { name: "Services", level: 1 }).isVisible()
  })
  await v.page.getByRole("link", { name: desk.intake.name }).waitFor()
  v.problems.length = 0 // what failed here was to fail
  await v.end()
})

/** Changes: where they are made, how, and what shows that they were made. what is a text that only this change has. */
const changes = {
  "a note": {
    path: () => "/contacts/" + ids["/contacts/$id"],
    fill: (page, what) => page.getByLabel("New note").fill(what),
    send: (page) => page.getByRole("button", { name: "Add the note" }).click(),
    done: (page, what) => page.locator(".entry--note").getByText(what).waitFor(),
  },
  "a contact": {
    path: () => "/contacts",
    async fill(page, what) {
      await page.getByRole("button", { name: "New contact" }).click()
      await page.getByLabel("Last name").fill(what)
    },
    send: (page) => page.getByRole("dialog").getByRole("button", { name: /^(Create|Add|Save)/ }).click(),
    done: (page, what) => page.getByRole("heading", { name: what, level: 1 }).waitFor(),
  },
  "an organization": {
    path: () => "/organizations",
    async fill(page, what) {
      await page.getByRole("button", { name: "New organization" }).click()
      await page.getByLabel("Name", { exact: true }).fill(what)
    },
    send: (page) => page.getByRole("dialog").getByRole("button", { name: /^(Create|Add|Save)/ }).click(),
    done: (page, what) => page.getByRole("heading", { name: what, level: 1 }).waitFor(),
  },
  "the rules of booking": {
    path: () => "/settings/booking",
    fill: (page, what) => page.getByLabel("Text above the button to book").fill(what),
    send: (page) => page.getByRole("button", { name: "Save", exact: true }).click(),
    done: (page) => page.getByText("Saved.").waitFor(),
  },
}

for (const [name, { path, fill, send, done }] of Object.entries(changes)) {
  test(`${name}: a change that fails keeps what was typed, and is made when it is sent again`, async () => {
    const v = await member()
    const what = "Typed " + unique()
    await v.page.goto(team() + path())
    await fill(v.page, what)
    await v.context.setOffline(true)
    await send(v.page)
    await v.page.getByText("The connection failed. What you typed is still here; try again.").first().waitFor()
    await v.context.setOffline(false)
    await send(v.page)
    await done(v.page, what)
    v.problems.length = 0 // what failed here was to fail
    await v.end()
  })

  test(`${name}: a change after the session ended is made once the person has signed in again`, async () => {
    const v = await deaf(await member())
    const what = "Typed " + unique()
    await v.page.goto(team() + path())
    await fill(v.page, what)
    await endSession(v)
    await send(v.page)
    await v.page.getByRole("heading", { name: "Sign in again" }).waitFor()
    await v.page.getByLabel("Password").fill(state().admin?.password || password)
    await v.page.getByRole("button", { name: "Sign in", exact: true }).click()
    await done(v.page, what)
    await v.end()
  })
}
