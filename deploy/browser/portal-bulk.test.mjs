// Many records at once: contacts, organizations and submissions.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { Client, ripe, until } from "./system.mjs"
import { desk, member, open, unique } from "./team.mjs"

test("contacts that are chosen are tagged, and all that were found go to the trash and come back", async () => {
  const name = "Bulk" + unique()
  for (let i = 0; i < 3; i++) await desk.admin.post("/contacts", { first_name: name, last_name: "No " + i })
  const found = async (query = "") => (await desk.admin.get(`/contacts?search=${name}${query}`)).items
  const v = await member()
  await open(v, "/contacts?search=" + name, "Contacts")
  await v.page.getByLabel(`Select ${name} No 0`).check()
  await v.page.getByLabel(`Select ${name} No 1`).check()
  await v.page.getByText("2 selected").waitFor()
  await check(v.page, "portal bulk bar")
  await v.page.getByRole("button", { name: "Change", exact: true }).click()
  const dialog = v.page.getByRole("dialog")
  await dialog.getByLabel("Add tags").fill("Fair, VIP")
  await dialog.getByLabel("Status").selectOption("customer")
  await check(v.page, "portal bulk dialog")
  await dialog.getByRole("button", { name: "Change 2" }).click()
  await v.page.getByText("2 changed.").waitFor()
  const tagged = (await found()).filter((c) => c.tags.includes("Fair") && c.tags.includes("VIP") && c.status === "customer")
  assert.equal(tagged.length, 2)

  await v.page.getByLabel("Select all that are shown").check()
  await v.page.getByText("3 selected").waitFor()
  await v.page.getByRole("group", { name: "What is selected" }).getByRole("button", { name: "Move to the trash" }).click()
  await v.page.getByText("3 changed.").waitFor()
  await until("all are in the trash", async () => (await found()).length === 0)
  await v.page.getByRole("button", { name: "Undo" }).first().click()
  await until("all are back", async () => (await found()).length === 3)
  await v.end()
})

test("all that were found go on in steps, which can be stopped", async () => {
  const name = "Steps" + unique()
  const rows = Array.from({ length: 60 }, (_, i) => ({ first_name: name, last_name: "No " + i }))
  await desk.admin.post("/contacts/batch", { items: rows })
  const v = await member({ viewport: { width: 390, height: 844 } })
  await open(v, "/contacts?search=" + name, "Contacts")
  await v.page.getByLabel(`Select ${name} No 59`).check()
  await v.page.getByRole("button", { name: "Select all 60 found" }).click()
  await v.page.getByText("60 selected").waitFor()
  // The call waits, so that there is time to stop behind it.
  let go
  const held = new Promise((resolve) => (go = resolve))
  await v.page.route("**/v1/contacts/bulk", async (route) => (await held, route.continue()))
  await v.page.getByRole("group", { name: "What is selected" }).getByRole("button", { name: "Move to the trash" }).click()
  await v.page.getByRole("button", { name: "Stop" }).click()
  await check(v.page, "portal bulk goes on")
  go()
  await v.page.getByText("60 changed.").waitFor()
  await v.end()
})

test("submissions are marked as spam and back, one and many", async () => {
  const form = await desk.admin.post("/forms", { name: "Bulk " + unique(), status: "publish", definition: { elements: [{ id: "message", type: "field", target: "submission.fields.message" }] } })
  const visitor = new Client()
  for (const message of ["Buy this", "Buy that"]) {
    const { token } = await visitor.get(`/forms/${form.id}/token`)
    await ripe(Date.now())
    await visitor.post(`/forms/${form.id}/submit`, { token, hp_url: "", page: "", values: { message } })
  }
  const spam = async () => (await desk.admin.get(`/submissions?form=${form.id}&status=spam`)).total
  const v = await member()
  await open(v, "/submissions?form=" + form.id, "Submissions")
  await v.page.getByLabel("Select all that are shown").check()
  await v.page.getByRole("button", { name: "This is spam" }).click()
  await until("both are spam", async () => (await spam()) === 2)
  await v.page.getByRole("button", { name: "Undo" }).click()
  await until("both are back", async () => (await spam()) === 0)
  const [one] = (await desk.admin.get(`/submissions?form=${form.id}`)).items
  await v.page.goto(new URL("submissions/" + one.id, desk.gateway + "/team/").href)
  await v.page.getByRole("button", { name: "This is spam" }).click()
  await v.page.getByText("marked by the team").waitFor()
  await check(v.page, "portal submission marked as spam")
  await v.end()
})
