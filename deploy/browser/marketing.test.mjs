import assert from "node:assert/strict"
import { test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { mailLink, mails, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

const ours = () => [new URL(desk.gateway).host]

// A contact who was asked whether marketing mails are welcome.
async function asked(name) {
  const email = `${name}-${Date.now().toString(36)}@example.com`
  const contact = await desk.admin.post("/contacts", { first_name: "Ann", email })
  await desk.admin.post(`/contacts/${contact.id}/marketing/request`, {})
  return { email, state: async () => (await desk.admin.get("/contacts/" + contact.id)).marketing }
}

// The link to a page in the newest mail, in the visitor's language instead of the country's.
const linked = async (email, path) => {
  const link = await mailLink(email, path)
  assert.ok(link.includes("?lang=nl#"), link)
  return link.replace("?lang=nl", "?lang=en")
}

test("the mail's links confirm and unsubscribe with one press, and opening them changes nothing", async () => {
  const { email, state } = await asked("ann")
  const v = await visitor(browser, { hosts: ours(), viewport: { width: 320, height: 700 } })
  const link = await linked(email, "/marketing/confirm")
  await v.page.goto(link)
  await check(v.page, "marketing confirm")
  assert.equal(await v.page.getByLabel("Code from the email").isVisible(), false)
  assert.equal(await state(), "pending")
  await v.page.getByRole("button", { name: "Yes, send me news" }).click()
  await v.page.getByRole("heading", { name: "You are subscribed" }).waitFor()
  await check(v.page, "marketing confirmed")
  assert.equal(await state(), "subscribed")
  await v.page.goto("about:blank") // a change of the fragment alone loads nothing
  await v.page.goto(link)
  await v.page.getByRole("button", { name: "Yes, send me news" }).click()
  await v.page.getByRole("heading", { name: "This link no longer works" }).waitFor()
  await check(v.page, "marketing used")

  const leave = await linked(email, "/marketing/unsubscribe")
  for (const n of [1, 2]) {
    await v.page.goto("about:blank")
    await v.page.goto(leave)
    if (n === 1) assert.equal(await state(), "subscribed")
    await check(v.page, "marketing unsubscribe")
    await v.page.getByRole("button", { name: "Unsubscribe" }).click()
    await v.page.getByRole("heading", { name: "You are unsubscribed" }).waitFor()
    await check(v.page, "marketing unsubscribed")
    assert.equal(await state(), "unsubscribed")
  }
  await v.end()
})

test("without script the link is pasted, and a wrong one can be put right", async () => {
  const { email, state } = await asked("bob")
  const v = await visitor(browser, { hosts: ours(), javaScriptEnabled: false, colorScheme: "dark" })
  const link = await linked(email, "/marketing/confirm")
  await v.page.goto(link)
  await check(v.page, "marketing plain")
  await v.page.getByLabel("Code from the email").fill("something else")
  await v.page.getByRole("button", { name: "Yes, send me news" }).click()
  await v.page.getByText("This code is not right.").waitFor()
  await check(v.page, "marketing plain wrong")
  await v.page.getByLabel("Code from the email").fill(link)
  await v.page.getByRole("button", { name: "Yes, send me news" }).click()
  await v.page.getByRole("heading", { name: "You are subscribed" }).waitFor()
  await until("the subscription", async () => (await state()) === "subscribed")
  await v.end()
})

test("a mail program unsubscribes with one click, by what the mail's headers say", async () => {
  const { email, state } = await asked("cleo")
  const v = await visitor(browser, { hosts: ours() })
  await v.page.goto(await linked(email, "/marketing/confirm"))
  await v.page.getByRole("button", { name: "Yes, send me news" }).click()
  await v.page.getByRole("heading", { name: "You are subscribed" }).waitFor()
  await v.end()
  await mailLink(email, "/marketing/unsubscribe")
  const { headers } = (await mails(email)).find((m) => m.headers["List-Unsubscribe"])
  assert.deepEqual(headers["List-Unsubscribe-Post"], ["List-Unsubscribe=One-Click"])
  const link = new URL(/^<(.+)>$/.exec(headers["List-Unsubscribe"][0])[1])
  const address = desk.gateway + link.pathname + link.search
  // Mail scanners open every address of a mail; opening confirms nothing.
  for (const method of ["HEAD", "GET"]) assert.equal((await fetch(address, { method })).status, 200)
  assert.equal(await state(), "subscribed")
  for (const sent of ["once", "and once more"]) {
    const answer = await fetch(address, { method: "POST", redirect: "manual", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "List-Unsubscribe=One-Click" })
    assert.equal(answer.status, 200, sent)
    assert.deepEqual(answer.headers.getSetCookie(), [])
    assert.equal(await state(), "unsubscribed")
  }
})
