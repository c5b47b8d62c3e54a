// Guides and reference for integrators: readable without script, searchable, and an operation tried in place by who is signed in.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check, checkModes, member, visitor } from "./browser.mjs"
import { state, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

const docs = (path = "") => state().gateway + "/v1/docs" + path
const here = () => [new URL(state().gateway).host]

test("guides, search and an operation are readable without script, dark and light, wide and small", async () => {
  const v = await visitor(browser, { scripts: false, hosts: here() })
  await v.page.goto(docs())
  await checkModes(v.page, "docs-guides", ["dark"])
  for (const guide of await v.page.locator("a[href^='/v1/docs/guides/']").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) {
    await v.page.goto(state().gateway + guide)
    await checkModes(v.page, `docs-${guide.split("/").pop()}`, ["dark"])
  }
  await v.page.goto(docs("/guides/first-call"))
  await v.page.getByRole("link", { name: /Next/ }).click()
  await v.page.getByRole("heading", { name: "Keys and roles" }).waitFor()
  await v.page.getByRole("link", { name: "Guides", exact: true }).click()
  await v.page.getByLabel("Search guides and operations").fill("test receiver")
  await v.page.getByRole("button", { name: "Search" }).click()
  await v.page.getByRole("link", { name: "Receiving events" }).waitFor()
  await checkModes(v.page, "docs-found", ["dark"])
  await v.page.goto(docs("/reference"))
  await checkModes(v.page, "docs-reference", ["dark"])
  await v.page.getByLabel("Search guides and operations").fill("merge contacts")
  await v.page.getByRole("button", { name: "Search" }).click()
  await v.page.getByRole("link", { name: "Merge contacts" }).click()
  await v.page.getByRole("heading", { name: "When it is refused" }).waitFor()
  assert.ok(await v.page.getByText("svc_invalid_status").count())
  await v.page.getByRole("link", { name: "Sign in" }).waitFor()
  assert.equal(await v.page.getByRole("button", { name: "Send" }).count(), 0)
  await checkModes(v.page, "docs-operation", ["dark"])
  await v.end()
})

test("an operation is tried with the session: a read at once, a write after a question", async () => {
  const v = await member(browser, desk, { permissions: ["clipboard-read"] })
  await v.page.goto(docs("/reference/find-contacts"))
  await v.page.getByLabel(/^per_page/).fill("1")
  await v.page.getByRole("button", { name: "Send" }).click()
  await v.page.getByRole("heading", { name: "200" }).waitFor()
  const body = JSON.parse(await v.page.getByLabel("Body of the answer").textContent())
  assert.ok(Array.isArray(body.items))
  assert.match(await v.page.getByLabel("Headers of the answer").textContent(), /x-request-id: /)
  assert.match(await v.page.getByLabel("The same by curl").textContent(), /^curl -i -u "\$LOGIN:\$KEY" \\\n {2}'http.*\/v1\/contacts\?per_page=1'$/)
  await check(v.page, "docs-tried")

  const name = "Tried " + Date.now().toString(36)
  const tags = async () => (await desk.admin.get("/tags?per_page=100")).items.filter((t) => t.name === name).length
  await v.page.goto(docs("/reference/create-tag"))
  await v.page.getByRole("textbox", { name: "Body JSON" }).fill('{"name": ')
  await v.page.getByRole("button", { name: "Send" }).click()
  await v.page.getByText("The body is no JSON").waitFor()
  await check(v.page, "docs-no-json")
  await v.page.getByRole("textbox", { name: "Body JSON" }).fill(JSON.stringify({ name }))
  await v.page.getByRole("button", { name: "Send" }).click()
  const sure = v.page.getByRole("dialog", { name: "Send POST to this installation?" })
  await sure.waitFor()
  await check(v.page, "docs-sure")
  await sure.getByRole("button", { name: "Cancel" }).click()
  assert.equal(await tags(), 0)
  await v.page.getByRole("button", { name: "Send" }).click()
  await sure.getByRole("button", { name: "Send it" }).click()
  await v.page.getByRole("heading", { name: "201" }).waitFor()
  await until("the tag", async () => (await tags()) === 1)
  assert.match(await v.page.getByLabel("The same by curl").textContent(), /-X POST/)
  await v.end()
})

test("a pasted key is sent instead of the session, and stands nowhere", async () => {
  const v = await member(browser, desk)
  await v.page.goto(docs("/reference/get-me"))
  await v.page.getByText("Send it with a key instead").click()
  await v.page.getByLabel("Login and key").fill("nobody:wrong key")
  await v.page.getByRole("button", { name: "Send" }).click()
  await v.page.getByRole("heading", { name: "401" }).waitFor()
  await check(v.page, "docs-key")
  assert.ok(!(await v.page.getByLabel("The same by curl").textContent()).includes("wrong"))
  assert.equal(await v.page.evaluate(() => localStorage.length + sessionStorage.length), 0)
  await v.end()
})

test("an operation to try, dark and light, wide and small", async () => {
  const v = await member(browser, desk)
  await v.page.goto(docs("/reference/update-contact"))
  await v.page.getByRole("button", { name: "Send" }).waitFor()
  await checkModes(v.page, "docs-try", ["dark"])
  await v.end()
  const dark = await member(browser, desk, { colorScheme: "dark", viewport: { width: 320, height: 720 }, hasTouch: true })
  await dark.page.goto(docs("/reference/update-contact"))
  await dark.page.getByRole("button", { name: "Send" }).waitFor()
  await check(dark.page, "docs-try begun dark")
  await dark.end()
})
