// The settings screens of the portal, in a real browser: each document, apps, assistants, support and the setup guide, every state.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { mails, until } from "./system.mjs"
import { browser, checkScreens, desk, member, open, team, unique } from "./team.mjs"

const save = (v) => v.page.getByRole("button", { name: "Save", exact: true }).click()

const screens = [
  ["/settings", "Settings"], ["/settings/general", "General"], ["/settings/portal", "Portal and booking page"], ["/settings/booking", "Booking rules"], ["/settings/form-style", "Look of forms"],
  ["/settings/fields", "Fields"], ["/settings/tags", "Tags"], ["/settings/privacy", "Privacy"], ["/settings/mails", "Sent mails"], ["/settings/roles", "Roles"],
  ["/settings/api-access", "API access"], ["/settings/assistants", "AI assistants"], ["/settings/telemetry", "Sharing data"], ["/settings/support", "Support"], ["/apps", "Apps"],
]

test("every screen of the settings, in every mode", () =>
  checkScreens("settings", (page) => screens.map(([path, heading]) => [path, page.locator("body", { has: page.locator(".settings-main .panel, .hub, .app-list, .settings-list table, .blank") }).getByRole("heading", { name: heading, level: 1 })])))

test("a document is saved with what differs, and a refusal stands at its field", async () => {
  const v = await member()
  await open(v, "/settings/general", "General")
  await v.page.getByLabel("Website").fill("not a site")
  await save(v)
  await v.page.getByText("Enter a web address such as https://example.com.").waitFor()
  await check(v.page, "portal settings general refused")
  await v.page.getByLabel("Website").fill("https://linde.example")
  await v.page.getByLabel("City").fill("Gent " + unique())
  await v.page.getByRole("link", { name: "Tags" }).click()
  await v.page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click()
  // Somebody else changes another value: this form does not send what it did not change.
  const phone = "+32 9 " + Date.now().toString().slice(-7)
  await desk.admin.patch("/settings/general", { business: { phone } })
  await save(v)
  await v.page.getByText("General: saved.").last().waitFor()
  const { business } = await desk.admin.get("/settings/general")
  assert.deepEqual([business.phone, business.city.slice(0, 5)], [phone, "Gent "])
  await v.end()
})

test("two people change one document: what does not clash is kept, what clashes is asked", async () => {
  const before = await desk.admin.get("/settings/booking")
  const v = await member()
  // Without the stream nothing shows by itself, so the form is as old as a person's who thinks for a while.
  await v.page.route("**/v1/live", (route) => route.abort())
  await open(v, "/settings/booking", "Booking rules")
  const hours = v.page.getByLabel("Until so many hours before")
  await hours.fill("5")
  await desk.admin.patch("/settings/booking", { max_advance_days: 77 })
  await save(v)
  await v.page.getByText("Booking rules: saved.").waitFor()
  assert.deepEqual([(await desk.admin.get("/settings/booking")).cancel_notice_hours, (await desk.admin.get("/settings/booking")).max_advance_days], [5, 77])
  await hours.fill("6")
  await desk.admin.patch("/settings/booking", { cancel_notice_hours: 9 })
  await save(v)
  await v.page.getByText("Somebody else changed the same thing meanwhile.").waitFor()
  assert.equal(await hours.inputValue(), "6")
  await check(v.page, "portal settings booking conflict")
  await v.page.getByRole("button", { name: "Take theirs" }).click()
  await v.page.waitForFunction(() => document.querySelector("[name=cancel_notice_hours]").value === "9")
  await hours.fill("7")
  await desk.admin.patch("/settings/booking", { cancel_notice_hours: 11 })
  await save(v)
  await v.page.getByRole("button", { name: "Save mine" }).click()
  await v.page.getByText("Somebody else changed").waitFor({ state: "detached" })
  assert.equal((await desk.admin.get("/settings/booking")).cancel_notice_hours, 7)
  await desk.admin.patch("/settings/booking", { cancel_notice_hours: before.cancel_notice_hours, max_advance_days: before.max_advance_days })
  await v.end()
})

test("the portal's path is checked while somebody types, and whoever would lock themselves out is warned", async () => {
  const v = await member()
  await open(v, "/settings/portal", "Portal and booking page")
  const path = v.page.getByLabel("Path")
  await path.fill("Not Good")
  await v.page.getByText("Use lower-case letters, digits and hyphens.").waitFor()
  await path.fill("manage")
  await v.page.getByText("This path belongs to the system.").waitFor()
  await check(v.page, "portal settings path reserved")
  await path.fill("crew-" + unique())
  await v.page.getByText("This path is free.").waitFor()
  await path.fill("team")
  await v.page.getByLabel("Everybody needs a second factor").check()
  await v.page.getByText("You have no second factor yourself.").waitFor()
  await check(v.page, "portal settings lock-out")
  await v.page.getByRole("button", { name: "Discard" }).click()
  await v.page.getByText("You have no second factor yourself.").waitFor({ state: "detached" })
  await v.page.getByLabel("Own domain").fill("team.linde.example")
  await save(v)
  await v.page.getByRole("button", { name: "Check the domain" }).click()
  await v.page.getByText("team.linde.example does not answer over https").waitFor()
  await check(v.page, "portal settings host")
  await v.page.getByLabel("Own domain").fill("")
  await save(v)
  await until("no host", async () => (await desk.admin.get("/settings/portal")).host === "")
  await v.end()
})

test("the look of forms shows before it is saved, and what few can read is said", async () => {
  const v = await member()
  await open(v, "/settings/form-style", "Look of forms")
  const preview = v.page.locator(".sample")
  await v.page.getByLabel("Colour of the button", { exact: true }).fill("#e8c547")
  await v.page.getByLabel("Text of the button", { exact: true }).fill("#ffffff")
  await v.page.getByText("Button: 1.7 to 1").waitFor()
  await v.page.getByLabel("Corners of the button").fill("24")
  await v.page.getByLabel("Icon", { exact: true }).selectOption("send")
  await v.page.getByLabel("Font").selectOption("svc:lora")
  await preview.locator("svg.icon").waitFor()
  const button = preview.getByRole("button", { name: "Send" })
  const look = () => button.evaluate((b) => [getComputedStyle(b).backgroundColor, getComputedStyle(b).borderRadius].join(" "))
  await until("the button in its colour and shape", async () => (await look()) === "rgb(232, 197, 71) 24px")
  await v.page.getByLabel("Text of the button", { exact: true }).fill("#1b1f27")
  await v.page.getByText("the contrast is below 4.5 to 1").waitFor({ state: "detached" })
  await save(v)
  await v.page.getByText("Look of forms: saved.").waitFor()
  await check(v.page, "portal settings form style set")
  assert.equal((await desk.admin.get("/settings/form-style")).button_radius, 24)
  for (const name of ["Colour of the button", "Text of the button"]) await v.page.getByRole("button", { name: "Back to the theme: " + name }).click()
  await v.page.getByLabel("Corners of the button").fill("")
  await v.page.getByLabel("Icon", { exact: true }).selectOption("")
  await v.page.getByLabel("Font").selectOption("")
  await save(v)
  await until("the theme's look", async () => Object.values(await desk.admin.get("/settings/form-style")).every((x) => x === null))
  await v.end()
})

test("fields stand in groups, in an order, and go to the archive with their values", async () => {
  const mark = unique()
  const v = await member()
  await open(v, "/settings/fields", "Fields")
  await v.page.getByRole("button", { name: "New group" }).click()
  await v.page.getByRole("dialog").getByLabel("Name").fill("Sports " + mark)
  await v.page.getByRole("button", { name: "Add the group" }).click()
  await v.page.getByRole("heading", { name: "Sports " + mark }).waitFor()
  for (const [label, type] of [["Level " + mark, "dropdown"], ["Club " + mark, "text"]]) {
    await v.page.getByRole("button", { name: "New field" }).first().click()
    const dialog = v.page.getByRole("dialog")
    await dialog.getByLabel("Name").fill(label)
    await dialog.getByLabel("Type").selectOption(type)
    if (type === "dropdown") {
      await dialog.getByRole("button", { name: "Add the field" }).click()
      await dialog.getByText("Choose at least one.").waitFor()
      await check(v.page, "portal settings field refused")
      await dialog.getByLabel("Options").fill("Beginner\nAdvanced")
    }
    await dialog.getByLabel("Group").selectOption({ label: "Sports " + mark })
    await dialog.getByRole("button", { name: "Add the field" }).click()
    await v.page.getByRole("button", { name: label, exact: true }).waitFor()
  }
  await v.page.getByRole("button", { name: `Move Club ${mark} up` }).click()
  const own = async (all = false) => (await desk.admin.get(`/fields?entity=contact&include_archived=${all}`)).items.filter((f) => f.label.endsWith(mark))
  await until("the new order", async () => (await own())[0].label === "Club " + mark)
  await v.page.getByLabel(`Show Level ${mark} in the list`).check()
  await until("the column", async () => (await own()).some((f) => f.show_in_list))
  await check(v.page, "portal settings fields")
  await v.page.getByRole("button", { name: `Archive Club ${mark}` }).click()
  await v.page.getByText(`Club ${mark} is archived.`).waitFor()
  await v.page.getByRole("button", { name: "Undo" }).click()
  await v.page.getByText(`Club ${mark} is back.`).waitFor()
  assert.equal((await own()).length, 2)
  await v.page.getByRole("button", { name: `Actions of Sports ${mark}` }).click()
  await v.page.getByRole("menuitem", { name: "Delete" }).click()
  await v.page.getByRole("dialog", { name: `Delete the group Sports ${mark}?` }).getByRole("button", { name: "Delete" }).click()
  await v.page.getByText(`Sports ${mark} is deleted.`).waitFor()
  for (const f of await own()) await desk.admin.patch("/fields/" + f.id, { archived: true })
  await v.end()
})

test("a role's permission includes seeing contacts, and a change counts", async () => {
  const v = await member()
  await open(v, "/settings/roles", "Roles")
  await v.page.getByRole("button", { name: "Author" }).click()
  const role = v.page.getByRole("region", { name: "Author" })
  await role.getByLabel("Manage forms").check()
  assert.ok(await role.getByLabel("See contacts").isChecked())
  await check(v.page, "portal settings role")
  await role.getByRole("button", { name: "Save Author" }).click()
  await v.page.getByText("Author: saved.").waitFor()
  const found = (await desk.admin.get("/settings/roles")).roles.find((r) => r.role === "author")
  assert.deepEqual([found.capabilities, found.visibility], [["svc_view_contacts", "svc_manage_forms"], "own"])
  await role.getByLabel("See contacts").uncheck()
  assert.equal(await role.getByLabel("Manage forms").isChecked(), false)
  await role.getByRole("button", { name: "Save Author" }).click()
  await v.page.getByRole("dialog", { name: "Take Author out of the service?" }).getByRole("button", { name: "Take the role out" }).click()
  await until("no author", async () => !(await desk.admin.get("/settings/roles")).roles.some((r) => r.role === "author"))
  await v.end()
})

test("a person's data comes as a file, and is erased after the address was typed twice", async () => {
  const email = `erase-${unique()}@example.com`
  await desk.admin.post("/contacts", { first_name: "Erika", last_name: "Vergeten", email })
  const v = await member()
  await open(v, "/settings/privacy", "Privacy")
  const take = v.page.getByRole("region", { name: "Give a person their data" })
  await take.getByLabel("Email of the person").fill(email)
  const file = v.page.waitForEvent("download")
  await take.getByRole("button", { name: "Download" }).click()
  assert.match((await file).suggestedFilename(), new RegExp(email.replace(".", "\\.")))
  const erase = v.page.getByRole("region", { name: "Erase a person" })
  await erase.getByLabel("Email of the person").fill(email)
  await erase.getByRole("button", { name: "Erase" }).click()
  const dialog = v.page.getByRole("dialog", { name: `Erase ${email} for good?` })
  assert.ok(await dialog.getByRole("button", { name: "Erase" }).isDisabled())
  await dialog.getByRole("textbox").fill(email)
  await check(v.page, "portal settings erase")
  await dialog.getByRole("button", { name: "Erase" }).click()
  await v.page.getByText(`${email} is erased.`).waitFor()
  assert.equal((await desk.admin.get("/contacts?search=" + email)).total, 0)
  await v.end()
})

test("an app goes off after the question that lists what disappears, and comes back with its data", async () => {
  const v = await member()
  await open(v, "/apps", "Apps")
  await v.page.getByRole("switch", { name: "Booking" }).click()
  const dialog = v.page.getByRole("dialog", { name: "Switch Booking off?" })
  await dialog.getByText("All data stays.").waitFor()
  await check(v.page, "portal apps off question")
  await dialog.getByRole("button", { name: "Cancel" }).click()
  assert.ok((await desk.admin.get("/apps")).items.find((a) => a.id === "booking").enabled)
  try {
    await v.page.getByRole("switch", { name: "Booking" }).click()
    await v.page.getByRole("button", { name: "Switch Booking off" }).click()
    await v.page.getByRole("link", { name: "Calendar" }).waitFor({ state: "detached" })
    await v.page.getByText("Off", { exact: true }).waitFor()
    await check(v.page, "portal apps off")
    await v.page.getByRole("switch", { name: "Booking" }).click()
    await v.page.getByRole("link", { name: "Calendar" }).waitFor()
  } finally {
    await desk.admin.patch("/apps/booking", { enabled: true })
  }
  await until("booking", () => desk.admin.get("/services").then((l) => l.items.some((s) => s.id === desk.intake.id), () => false))
  await v.end()
})

test("a person decides what assistants may use", async () => {
  const v = await member()
  await open(v, "/settings/assistants?search=create-contact", "AI assistants")
  await v.page.getByLabel("Address for assistants").waitFor()
  const toggle = v.page.getByRole("switch", { name: "Assistants may use: Create contact", exact: true })
  await toggle.click()
  const mcp = async () => (await desk.admin.get("/integrations/ai")).abilities.find((a) => a.name === "svc/create-contact").mcp
  await until("the ability to be hidden", async () => !(await mcp()))
  await v.page.getByText("your choice").waitFor()
  await check(v.page, "portal settings ability hidden")
  await toggle.click()
  await until("the ability to be there", mcp)
  await v.end()
})

test("a request for support shows what goes along before it goes", async () => {
  const subject = "Printing " + unique()
  const v = await member()
  await open(v, "/settings/support", "Support")
  const form = v.page.getByRole("region", { name: "Ask for help" })
  await form.getByText("PostgreSQL").waitFor()
  await form.getByRole("button", { name: "Send" }).click()
  await v.page.getByText("Fill this in.").first().waitFor()
  await check(v.page, "portal settings support refused")
  await form.getByLabel("Subject").fill(subject)
  await form.getByLabel("Message").fill("How do I print the calendar?")
  await form.getByRole("button", { name: "Send" }).click()
  await v.page.getByText("Your request is sent.").waitFor()
  const { business } = await desk.admin.get("/settings/general")
  await until("the mail", async () => (await mails(business.email)).some((m) => m.subject === subject && m.text.includes("Postgres")))
  await open(v, "/settings/mails", "Sent mails")
  await v.page.getByText(subject).waitFor()
  await v.end()
})

test("what fails to load says so and loads again", async () => {
  const v = await member()
  for (const [path, call] of [["/settings/general", "**/v1/settings/general"], ["/settings/fields", "**/v1/fields*"], ["/settings/mails", "**/v1/mails*"], ["/apps", "**/v1/apps"], ["/settings/assistants", "**/v1/integrations/ai"]]) {
    let down = true
    await v.page.route(call, (route) => (down ? route.fulfill({ status: 400, json: { code: "svc_invalid", message: "The clock stands still." } }) : route.continue()))
    await v.page.goto(team() + path)
    await v.page.getByText("The clock stands still.").waitFor()
    await check(v.page, "portal failed " + path)
    down = false
    await v.page.getByRole("button", { name: "Try again" }).click()
    await v.page.getByText("The clock stands still.").waitFor({ state: "detached" })
    await v.page.unroute(call)
  }
  await v.end()
})

test("without permission there is no section, and its address says why", async () => {
  const v = await member()
  // The page begins with what its person may do; the API refuses all the same.
  await v.page.route(/\/team\/[^?]*(\?.*)?$/, async (route) => {
    const answer = await route.fetch()
    const text = await answer.text()
    await route.fulfill({ response: answer, body: text.replace(/(<meta name="portal" content=")([^"]*)"/, (_, head, value) => head + value.replaceAll("svc_manage_crm", "svc_none").replaceAll("svc_manage_integrations", "svc_none") + '"') })
  })
  await open(v, "/settings", "Settings")
  assert.deepEqual(await v.page.locator(".hub-link b").allTextContents(), ["Tags", "Support"])
  await check(v.page, "portal settings of staff")
  for (const path of ["/settings/general", "/settings/roles", "/apps", "/settings/api-access"]) {
    await v.page.goto(team() + path)
    await v.page.getByText("This is not open to you").waitFor()
  }
  await check(v.page, "portal settings forbidden")
  await v.end()
})

/** A PNG of one colour. */
const picture = (page, colour) => page.evaluate((c) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 220, height: 60 })
  const pen = canvas.getContext("2d")
  pen.fillStyle = c
  pen.beginPath()
  pen.roundRect(0, 6, 48, 48, 14)
  pen.fill()
  pen.font = "600 30px Georgia"
  pen.fillText("Linde", 62, 42)
  return canvas.toDataURL("image/png").split(",")[1]
}, colour)

test("a logo is uploaded, stands on every page in place of the name, and goes again", async () => {
  const v = await member()
  await open(v, "/settings/portal", "Portal and booking page")
  const files = v.page.locator("input[type=file]")
  await files.setInputFiles({ name: "logo.svg", mimeType: "image/png", buffer: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>") })
  await v.page.getByText("Choose a PNG, JPEG or WebP picture that is whole.").waitFor()
  await check(v.page, "portal settings logo refused")
  await files.setInputFiles({ name: "linde.png", mimeType: "image/png", buffer: Buffer.from(await picture(v.page, "#0b6e4f"), "base64") })
  await v.page.getByText("The logo is set.").waitFor()
  await v.page.getByRole("img", { name: "Logo of Praktijk Linde" }).waitFor()
  await files.setInputFiles({ name: "other.png", mimeType: "image/png", buffer: Buffer.from(await picture(v.page, "#1d4ed8"), "base64") })
  await v.page.getByRole("button", { name: "Make linde.png the logo" }).click()
  await v.page.getByRole("button", { name: "Make other.png the logo" }).waitFor()
  await check(v.page, "portal settings logo")
  await v.page.reload()
  await v.page.locator(".nav-logo").waitFor()
  assert.ok(await v.page.locator(".nav-logo").evaluate((i) => i.complete && i.naturalWidth > 0 || i.decode().then(() => true)))
  await check(v.page, "portal settings logo in the portal")
  const visit = await visitor(browser, { hosts: [new URL(desk.gateway).host] })
  await until("the logo on the booking page", async () => (await (await fetch(desk.bookPage)).text()).includes("/_ui/settings/media/"))
  await visit.page.goto(desk.bookPage)
  await visit.page.getByRole("img", { name: "Praktijk Linde" }).waitFor()
  await check(visit.page, "booking page with a logo")
  await visit.end()
  await v.page.getByRole("button", { name: "Show the name instead" }).click()
  await v.page.getByText("The name shows again.").waitFor()
  for (const name of ["linde.png", "other.png"]) {
    await v.page.getByRole("button", { name: "Delete " + name }).click()
    await v.page.getByRole("dialog", { name: `Delete the picture ${name}?` }).getByRole("button", { name: "Delete" }).click()
    await v.page.getByRole("button", { name: "Delete " + name }).waitFor({ state: "detached" })
  }
  await v.end()
})

test("the setup guide shows which steps are done, and goes when somebody hides it", async () => {
  await desk.admin.patch("/setup", { done: false, dismissed: false })
  const v = await member()
  await v.page.goto(team())
  const guide = v.page.getByRole("region", { name: "The first hour" })
  await guide.locator(".guide-done").filter({ hasText: "Open the booking page" }).waitFor()
  await guide.locator(".guide-next").waitFor()
  await check(v.page, "portal setup guide")
  await guide.getByRole("button", { name: "Hide the guide" }).click()
  await guide.waitFor({ state: "detached" })
  assert.ok((await desk.admin.get("/setup")).dismissed)
  await desk.admin.patch("/setup", { dismissed: false })
  await v.end()
})

for (const [name, options] of [["wide", {}], ["dark and small", { colorScheme: "dark", viewport: { width: 320, height: 720 }, hasTouch: true }]]) {
  test(`a tag is renamed, merged into another and deleted, ${name}`, async () => {
    const stamp = unique()
    const [old, renamed, other] = ["Client ", "Customer ", "Regular "].map((word) => word + stamp)
    const people = []
    for (const tags of [[old], [old, other]]) people.push((await desk.admin.post("/contacts", { first_name: "Tagged " + stamp, tags })).id)
    const tagsOf = () => Promise.all(people.map(async (id) => (await desk.admin.get("/contacts/" + id)).tags))
    const v = await member(options)
    await open(v, "/settings/tags?search=" + stamp, "Tags")
    const choose = async (tag, action) => {
      await v.page.getByRole("button", { name: "Actions for the tag " + tag }).click()
      await v.page.getByRole("menuitem", { name: action }).click()
    }
    const dialog = v.page.getByRole("dialog")

    await choose(old, "Rename")
    await dialog.getByText(`2 contacts have “${old}”.`).waitFor()
    await check(v.page, `portal settings tag rename ${name}`)
    await dialog.getByLabel("Name", { exact: true }).fill(renamed)
    await dialog.getByRole("button", { name: "Rename" }).click()
    await v.page.getByText(`“${old}” is “${renamed}” now.`).waitFor()
    await v.page.getByRole("link", { name: renamed }).waitFor()
    await until("the contacts", async () => (await tagsOf()).every((tags) => tags[0] === renamed))
    await v.page.getByText("Being changed").waitFor({ state: "detached" })
    await check(v.page, `portal settings tags ${name}`)

    // A name that is taken leads to the merge.
    await choose(renamed, "Rename")
    await dialog.getByLabel("Name", { exact: true }).fill(other.toLowerCase())
    await dialog.getByRole("button", { name: "Rename" }).click()
    await dialog.getByText(`“${other}” exists already.`).waitFor()
    await dialog.getByText(`2 contacts have “${renamed}”.`).waitFor()
    await check(v.page, `portal settings tag merge ${name}`)
    await dialog.getByRole("button", { name: "Merge" }).click()
    await v.page.getByRole("link", { name: renamed }).waitFor({ state: "detached" })
    await until("the contacts", async () => (await tagsOf()).every((tags) => tags.join() === other))

    await choose(other, "Delete")
    await dialog.getByText("It is taken off 2 contacts. The contacts stay.").waitFor()
    await check(v.page, `portal settings tag delete ${name}`)
    await dialog.getByRole("button", { name: `Delete “${other}”` }).click()
    await v.page.getByText("Nothing fits").waitFor()
    await until("the contacts", async () => (await tagsOf()).every((tags) => tags.length === 0))
    await v.end()
  })
}

test("the progress of a tag's change shows, and a tag that is being deleted has no actions", async () => {
  const v = await member()
  const tags = [{ name: "Slow", slug: "slow", changing: { deleting: false, contacts_left: 1200 } }, { name: "Vanishing", slug: "vanishing", changing: { deleting: true, contacts_left: 1 } }]
  await v.page.route("**/v1/tags", (route) => route.fulfill({ json: { items: tags, next_cursor: null, total: 2 } }))
  await open(v, "/settings/tags", "Tags")
  await v.page.getByText("Being changed: 1,200 contacts left").waitFor()
  await v.page.getByText("Being deleted: 1 contact left").waitFor()
  assert.equal(await v.page.getByRole("button", { name: "Actions for the tag" }).count(), 1)
  await check(v.page, "portal settings tags changing")
  for (const tag of tags) tag.changing = null
  await v.page.getByRole("button", { name: "Actions for the tag Vanishing" }).waitFor()
  await v.end()
})
