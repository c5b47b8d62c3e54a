// Calls of keys that wait for a person: looked at, approved and refused.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { Client, known, until } from "./system.mjs"
import { colleague, desk, member, open, openListening, unique } from "./team.mjs"

test("a person sees what a key wants to do, approves it, and refuses another", async () => {
  const u = unique()
  const owner = await colleague("svc_admin")
  const made = await owner.api.post("/me/application-passwords", { name: "Website " + u, approval: "writes" })
  const key = await known(new Client({ Authorization: "Basic " + Buffer.from(`${owner.email}:${made.password}`).toString("base64") }))
  const ask = async (name) => (await key.post("/contacts", { first_name: name, last_name: u })).data.approval.id
  const first = await ask("Ada")
  const second = await ask("Grace")
  await until("the calls", async () => (await Promise.all([first, second].map((id) => key.get("/approvals/" + id)))).every((a) => a.state === "waiting"))

  const v = await member()
  await open(v, "/approvals?state=waiting", "Approvals")
  await v.page.locator("small", { hasText: "Website " + u }).first().waitFor()
  await check(v.page, "portal approvals")
  await v.page.goto(v.page.url().replace(/\?.*/, "") + "?approval=" + first)
  const dialog = v.page.getByRole("dialog")
  await dialog.getByText("Application password “Website " + u).waitFor()
  await dialog.locator("pre", { hasText: "Ada" }).waitFor()
  await check(v.page, "portal an approval")
  await dialog.getByRole("button", { name: "Approve and do it" }).click()
  await dialog.waitFor({ state: "detached" })
  await until("the contact", async () => (await desk.admin.get("/contacts?search=" + u)).items.some((c) => c.first_name === "Ada"))

  await v.page.setViewportSize({ width: 320, height: 700 })
  await v.page.goto(v.page.url().replace(/\?.*/, "") + "?approval=" + second)
  await dialog.getByLabel("Why you refuse it").fill("We know her")
  await check(v.page, "portal an approval on a phone")
  await dialog.getByRole("button", { name: "Refuse" }).click()
  await dialog.waitFor({ state: "detached" })
  const refused = await key.get("/approvals/" + second)
  assert.deepEqual([refused.state, refused.reason], ["refused", "We know her"])
  await v.end()
})

test("what waits rings the bell of who may decide, and the decision that of who asked", async () => {
  const [owner, boss] = [await colleague("svc_admin"), await colleague("svc_admin")]
  for (const who of [owner, boss]) await who.api.post("/me/news/seen")
  const made = await owner.api.post("/me/application-passwords", { name: "Shop " + unique(), approval: "writes" })
  const key = await known(new Client({ Authorization: "Basic " + Buffer.from(`${owner.email}:${made.password}`).toString("base64") }))
  const v = await member({ cookie: boss.cookie })
  await openListening(v, "/approvals?state=waiting", "Approvals")
  const beside = v.page.locator('.nav-link[href$="/approvals"] .nav-count [aria-hidden]')
  const waits = async () => Number((await beside.allTextContents())[0] ?? 0)
  const { waiting } = await boss.api.get("/me/approvals")
  await until("the count of before", async () => (await waits()) === waiting)
  const { id } = (await key.post("/contacts", { first_name: "Eve", last_name: unique() })).data.approval
  await until("the count beside the menu", async () => (await waits()) === waiting + 1)
  await v.page.locator(".nav .bell").click()
  await v.page.getByText("waits for your approval").waitFor()
  await check(v.page, "portal bell with an approval")
  await v.page.keyboard.press("Escape")

  const o = await member({ cookie: owner.cookie })
  await openListening(o, "/approvals", "Approvals")
  await boss.api.post(`/approvals/${id}/refuse`, { reason: "Later" })
  await until("the count beside the menu without it", async () => (await waits()) === waiting)
  await o.page.locator(".nav .bell-count").waitFor()
  await o.page.locator(".nav .bell").click()
  await o.page.getByText("of your calls was decided").waitFor()
  await Promise.all([v.end(), o.end()])
})
