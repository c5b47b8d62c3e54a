// Mails: the words of those to clients, one written by hand, and what was sent, seen and sent again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { mails, until } from "./system.mjs"
import { desk, member, open, team, unique } from "./team.mjs"

const path = "/mail-templates/appointment.cancelled/en"

test("the words of a mail are changed with a preview beside them, and come back", async () => {
  const v = await member()
  await open(v, "/settings/mails", "Sent mails")
  await v.page.getByRole("link", { name: "Words of the mails" }).click()
  await v.page.getByLabel("Mail", { exact: true }).selectOption({ label: "Appointment cancelled" })
  const preview = v.page.getByRole("complementary", { name: "Preview" })
  await preview.getByText("The appointment below has been cancelled.").waitFor()
  await check(v.page, "portal mail templates")

  const body = v.page.getByLabel("Text", { exact: true })
  await body.fill("Too bad, ")
  await v.page.getByRole("button", { name: "Put in client" }).click()
  await v.page.keyboard.type("!")
  await v.page.getByRole("button", { name: "Put in details" }).click()
  assert.equal(await body.inputValue(), "Too bad, {client}!\n\n{details}")
  await preview.getByText("Too bad, Ada Visitor!").waitFor()

  await body.fill("Too bad, {nobody}.")
  await preview.getByText("This mail has no placeholder nobody.").waitFor()
  await v.page.getByRole("button", { name: "Save" }).click()
  await v.page.locator(".problem", { hasText: "This mail has no placeholder nobody." }).waitFor()
  await check(v.page, "portal mail templates refused")

  await body.fill("Too bad, {client}.")
  await v.page.getByRole("button", { name: "Save" }).click()
  await until("the words are saved", async () => (await desk.admin.get(path)).body === "Too bad, {client}.")
  await v.page.setViewportSize({ width: 320, height: 700 })
  await check(v.page, "portal mail templates on a phone")
  await v.page.getByRole("button", { name: "Back to the standard" }).click()
  await v.page.getByRole("dialog").getByRole("button", { name: "Back to the standard" }).click()
  await until("the standard is back", async () => (await desk.admin.get(path)).standard)
  await preview.getByText("The appointment below has been cancelled.").waitFor()
  await v.end()
})

test("a contact is written to, the mail stands in the timeline, and is sent again", async () => {
  const u = unique()
  const c = await desk.admin.post("/contacts", { first_name: "Ada", last_name: "Mail " + u, email: `ada-${u}@example.com` })
  const v = await member()
  await open(v, "/contacts/" + c.id, "Ada Mail " + u)
  await v.page.getByRole("button", { name: "Write a mail" }).click()
  const dialog = v.page.getByRole("dialog")
  await dialog.getByRole("button", { name: "Send" }).click()
  await dialog.getByText("Fill this in.").first().waitFor()
  await dialog.getByLabel("Subject").fill("Your question " + u)
  await dialog.getByLabel("Text").fill("Dear Ada,\n\nyes.")
  await check(v.page, "portal write a mail")
  await dialog.getByRole("button", { name: "Send" }).click()
  await v.page.locator(".timeline").getByText("Mail · Your question " + u).waitFor()
  await until("the mail", async () => (await mails(c.email)).some((m) => m.subject === "Your question " + u && m.text.includes("Dear Ada,")))

  await v.page.goto(team() + "/settings/mails")
  await v.page.getByRole("link", { name: "Your question " + u }).click()
  await dialog.getByText("Dear Ada,").waitFor()
  await check(v.page, "portal a sent mail")
  await dialog.getByRole("button", { name: "Send again" }).click()
  await until("the second mail", async () => (await mails(c.email)).length === 2)
  await v.end()
})
