// Notes and the timeline of a contact and an organization; what a person booked and sent, on their screen.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { until } from "./system.mjs"
import { desk, member, open, unique } from "./team.mjs"

for (const [kind, make] of [["contacts", { first_name: "Ada", last_name: "Noted " + unique() }], ["organizations", { name: "Noted " + unique() }]])
  test(`a note of ${kind} is written, changed, pinned and deleted`, async () => {
    const { id } = await desk.admin.post("/" + kind, make)
    const notes = async () => (await desk.admin.get(`/${kind}/${id}/activities?type=note`)).items
    const v = await member()
    await open(v, `/${kind}/${id}`, make.name ?? `${make.first_name} ${make.last_name}`)
    for (const text of ["The first one", "The second one"]) {
      await v.page.getByLabel("New note").fill(text)
      await v.page.getByRole("button", { name: "Add the note" }).click()
      await until("the note", async () => (await notes()).some((n) => n.body === text))
    }
    const entry = (text) => v.page.locator(".entry", { hasText: text })
    const choose = async (text, action) => {
      await entry(text).getByRole("button", { name: "Actions of this note" }).click()
      await v.page.getByRole("menuitem", { name: action }).click()
    }
    await choose("The first one", "Pin to the top")
    await until("the note is pinned", async () => (await notes())[0].body === "The first one")
    await choose("The second one", "Change the note")
    await v.page.getByLabel("Note", { exact: true }).fill("The second one, changed")
    await check(v.page, `portal note of ${kind} is changed`)
    await v.page.keyboard.press("Control+Enter")
    await until("the note is changed", async () => (await notes())[1].edited_at !== null)
    await v.page.getByLabel("Everything").selectOption("note")
    await until("only notes", async () => (await v.page.locator(".entry").count()) === 2)
    await check(v.page, `portal notes of ${kind}`)
    await choose("The second one, changed", "Delete the note")
    await v.page.getByRole("dialog").getByRole("button", { name: "Delete the note" }).click()
    await until("the note is gone", async () => (await notes()).length === 1)
    await v.end()
  })

test("a person's screen books for them, and shows what they booked and how they are reached", async () => {
  const c = await desk.admin.post("/contacts", { first_name: "Ada", last_name: "Booked " + unique(), email: `booked-${unique()}@example.com`, phone: "+32470112233" })
  const [slot] = (await desk.admin.get("/slots?service=" + desk.followUp.id)).items
  await until("booking knows the person", () => desk.admin.post("/appointments", { contact: c.id, service: desk.followUp.id, starts_at: slot.starts_at, meeting_url: "https://meet.example.com/x" }).then(() => true, () => false))
  const v = await member({ viewport: { width: 390, height: 844 } })
  await open(v, "/contacts/" + c.id, `${c.first_name} ${c.last_name}`)
  const panel = v.page.getByRole("region", { name: "Appointments" })
  await panel.getByRole("link").waitFor()
  assert.equal(await v.page.getByRole("link", { name: "Call" }).getAttribute("href"), "tel:+32470112233")
  await v.page.getByRole("button", { name: "Write a mail" }).waitFor()
  await check(v.page, "portal contact with appointments on a phone")
  await v.page.getByRole("link", { name: "Book", exact: true }).click()
  await v.page.waitForURL((url) => url.pathname.endsWith("/appointments/new") && url.searchParams.get("contact") === c.id)
  await v.end()
})
