// The forms of the portal, in a real browser: list, builder with the real widget beside it, submissions, every state, by mouse and
// by keyboard.
import assert from "node:assert/strict"
import { test } from "node:test"
import { beginWith, check, shot } from "./browser.mjs"
import { Client, until } from "./system.mjs"
import { desk, member as signedIn, open, team, unique } from "./team.mjs"

/** A page of the administrator. sent are the bodies of what it sent to a form: a preview has to send none. */
async function member(options = {}) {
  const v = await signedIn({ permissions: ["clipboard-read", "clipboard-write"], ...options })
  const sent = []
  v.page.on("request", (r) => /\/v1\/forms\/[^/]+\/(submit|token)$/.test(r.url()) && sent.push(r.url()))
  const end = async () => {
    assert.deepEqual(sent, [], "a preview sends nothing")
    await v.end()
  }
  return { ...v, end }
}

const elements = [
  { id: "title", type: "heading", text: "Tell us about your garden" },
  { id: "first", type: "field", target: "contact.first_name", width: "half", required: true },
  { id: "last", type: "field", target: "contact.last_name", width: "half" },
  { id: "email", type: "field", target: "contact.email", required: true },
  { id: "season", type: "field", target: "submission.fields.season", label: "When should we come?", options: ["Spring", "Summer", "Autumn"] },
  { id: "message", type: "field", target: "submission.fields.message", label: "What would you like?", required: true },
  { id: "privacy", type: "consent", text: "You may keep my details to answer this.", required: true },
]

const form = async (more = {}) => {
  const name = "Garden plan " + unique()
  return desk.admin.post("/forms", { name, status: "publish", definition: { elements, submit_label: "Ask for a plan", after_submit: { type: "message", message: "Thank you, we will call." } }, ...more })
}

/** Sends a form as a visitor. */
async function send(f, values) {
  const v = new Client()
  const { token } = await v.get(`/forms/${f.id}/token`)
  await until("the token to be old enough", () => v.post(`/forms/${f.id}/submit`, { token, hp_url: "", page: "https://linde.example/garden", values: { first: "Nora", last: "Claes", message: "A bench under the tree,\nand roses.", season: "Spring", privacy: true, ...values } }).then(() => true, (e) => (e.status === 400 && /token/.test(e.message) ? false : Promise.reject(e))))
  return until("the submission", async () => (await desk.admin.get(`/submissions?form=${f.id}`)).items.find((s) => s.values.email === values.email))
}

const preview = (v) => v.page.getByRole("region", { name: "Preview" })

test("a form is made from a template, changed with the real widget beside it, and published", async () => {
  const name = "Write to us " + unique()
  const v = await member()
  await open(v, "/forms", "Forms")
  await v.page.getByRole("button", { name: "New form" }).first().click()
  const dialog = v.page.getByRole("dialog", { name: "New form" })
  await dialog.getByText("Callback request", { exact: true }).click()
  assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Callback request")
  await check(v.page, "portal forms new")
  await dialog.getByText("Contact", { exact: true }).click()
  await dialog.getByLabel("Name", { exact: true }).fill(name)
  await dialog.getByRole("button", { name: "Make the form" }).click()
  await v.page.getByRole("heading", { name, level: 1 }).waitFor()
  await preview(v).getByRole("textbox", { name: "Message" }).waitFor()
  await check(v.page, "portal form template")

  await v.page.getByRole("button", { name: "Question", exact: true }).click()
  await v.page.getByLabel("About", { exact: true }).last().selectOption({ label: "A question of your own" })
  const card = v.page.locator(".element--open").last()
  await card.getByLabel("Question", { exact: true }).fill("How did you find us?")
  await card.getByLabel("Answers to choose from").fill("A friend\nThe web")
  await preview(v).getByLabel("How did you find us?").waitFor()
  await until("the options in the widget", async () => (await preview(v).getByLabel("How did you find us?").locator("option").allTextContents()).slice(1).join() === "A friend,The web")
  await v.page.getByLabel("These addresses get each submission").fill("team@linde.example\nnot an address")
  await v.page.getByRole("button", { name: "Save and publish" }).click()
  await v.page.getByText("Enter an email address").waitFor()
  assert.equal(await v.page.getByLabel("These addresses get each submission").evaluate((e) => e === document.activeElement), true, "the focus is at the problem")
  await check(v.page, "portal form refused")
  await v.page.getByLabel("These addresses get each submission").fill("team@linde.example")
  await v.page.getByRole("button", { name: "Save and publish" }).click()
  await v.page.getByText(`${name} is published.`).waitFor()
  await v.page.locator(".head").getByText("Published").waitFor()
  const made = (await desk.admin.get("/forms")).items.find((f) => f.name === name)
  assert.equal(made.status, "publish")
  assert.deepEqual(made.definition.notify.emails, ["team@linde.example"])
  assert.deepEqual(made.definition.elements.at(-1).options, ["A friend", "The web"])
  await v.page.getByRole("button", { name: "Copy: HTML for any site" }).click()
  await v.page.getByText("Copied", { exact: true }).first().waitFor()
  assert.match(await v.page.evaluate(() => navigator.clipboard.readText()), new RegExp(`<svc-form form="${made.id}">`))
  assert.equal(await v.page.getByLabel("These addresses get each submission").inputValue(), "team@linde.example", "the screen shows what was saved")
  await v.page.getByRole("button", { name: "Back to draft" }).waitFor()
  await check(v.page, "portal form published")
  await v.end()
})

test("the preview is the widget: it checks answers, shows what comes after, and sends nothing", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  await preview(v).getByRole("button", { name: "Ask for a plan" }).click()
  await preview(v).locator(".summary li").nth(3).waitFor()
  await preview(v).getByLabel("First name").fill("Ada j k ?")
  await preview(v).getByLabel(/^Email/).fill("ada@example.com")
  await preview(v).getByLabel("What would you like?").fill("Roses")
  await preview(v).getByLabel("You may keep my details").check()
  await preview(v).getByRole("button", { name: "Ask for a plan" }).click()
  await preview(v).getByText("Thank you, we will call.").waitFor()
  assert.equal(await v.page.getByRole("dialog").count(), 0, "single keys do nothing while somebody types in the widget")
  await check(v.page, "portal form preview sent")
  await preview(v).getByLabel("Language").selectOption("nl")
  await preview(v).getByLabel("Voornaam").waitFor()
  assert.equal((await desk.admin.get("/submissions?form=" + f.id)).total, 0)
  await v.end()
})

test("parts move by buttons and by keyboard, and what is removed comes back", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  const order = () => v.page.locator(".element-name b").allTextContents()
  await v.page.getByRole("button", { name: "Move Email address down" }).click()
  assert.deepEqual((await order()).slice(3, 5), ["When should we come?", "Email address"])
  assert.equal(await v.page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Move Email address down", "the focus goes along")
  await v.page.locator(".element-name", { hasText: "Email address" }).focus()
  await v.page.keyboard.press("Alt+ArrowUp")
  await v.page.keyboard.press("Alt+ArrowUp")
  assert.deepEqual((await order()).slice(2, 4), ["Email address", "Last name"])
  await v.page.getByText("Now number 3 of 7.").waitFor()
  await v.page.getByRole("button", { name: "Remove Last name" }).click()
  assert.equal((await order()).includes("Last name"), false)
  await v.page.getByRole("button", { name: "Undo" }).click()
  assert.equal((await order())[3], "Last name")
  await v.page.keyboard.press("Tab")
  await v.page.getByRole("link", { name: "Forms" }).first().click()
  await v.page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click()
  await v.page.getByRole("button", { name: "Save for visitors" }).click()
  await v.page.getByText(`${f.name} is saved.`).waitFor()
  assert.deepEqual((await desk.admin.get("/forms/" + f.id)).definition.elements.map((e) => e.id), ["title", "first", "email", "last", "season", "message", "privacy"])
  await v.end()
})

test("a part is dragged by mouse and by finger, and Escape puts it back", async () => {
  const f = await form()
  const v = await member({ hasTouch: true })
  await open(v, "/forms/" + f.id, f.name)
  const names = v.page.locator(".element-name b")
  const before = await names.allTextContents()
  const middle = async (i) => {
    const box = await v.page.locator(".element-grip").nth(i).boundingBox()
    return [box.x + box.width / 2, box.y + box.height / 2]
  }
  const cdp = await v.context.newCDPSession(v.page)
  const finger = (type, x, y) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] })
  await v.page.locator(".element").first().scrollIntoViewIfNeeded()
  const [x, y] = await middle(1)
  await v.page.mouse.move(...(await middle(3)))
  await v.page.mouse.down()
  await v.page.mouse.move(x, y - 5, { steps: 4 })
  await v.page.locator(".element--after", { hasText: before[0] }).waitFor()
  await check(v.page, "portal form part dragged")
  await v.page.keyboard.press("Escape")
  await v.page.mouse.up()
  assert.equal(await v.page.locator(".element--dragged").count(), 0)
  assert.deepEqual(await names.allTextContents(), before, "Escape puts it back")

  await v.page.mouse.move(...(await middle(3)))
  await v.page.mouse.down()
  await v.page.mouse.move(x, y - 5, { steps: 4 })
  await v.page.mouse.up()
  await v.page.getByText("Now number 2 of 7.").waitFor()
  assert.deepEqual(await names.allTextContents(), [before[0], before[3], before[1], before[2], ...before.slice(4)])
  assert.equal(await v.page.evaluate(() => document.activeElement.querySelector("b")?.textContent), before[3], "the focus goes along")

  const [fx, fy] = await middle(1)
  const [, ty] = await middle(3)
  await finger("touchStart", fx, fy)
  for (let i = 1; i <= 4; i++) await finger("touchMove", fx, fy + ((ty + 8 - fy) * i) / 4)
  await finger("touchEnd")
  await v.page.getByText("Now number 4 of 7.").waitFor()
  assert.deepEqual(await names.allTextContents(), before)
  await v.end()
})

test("the page scrolls along with a part that is dragged to its edge, and comes to an end", async () => {
  const f = await form()
  const v = await member({ viewport: { width: 390, height: 560 }, hasTouch: true })
  await open(v, "/forms/" + f.id, f.name)
  const grip = v.page.locator(".element-grip")
  await grip.first().scrollIntoViewIfNeeded()
  const box = await grip.first().boundingBox()
  const x = box.x + box.width / 2
  await v.page.mouse.move(x, box.y + box.height / 2)
  await v.page.mouse.down()
  await v.page.mouse.move(x, 555, { steps: 4 })
  const bottom = () => v.page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1 && document.documentElement.scrollHeight)
  const height = await until("the end of the page", bottom)
  await v.page.mouse.up()
  await v.page.getByText("Now number 7 of 7.").waitFor()
  assert.equal(await v.page.evaluate(() => document.documentElement.scrollHeight), height, "a part that is dragged makes the page no longer")
  await v.end()
})

test("a problem inside a closed part opens it and has the focus", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  await v.page.getByRole("button", { name: "Consent", exact: true }).click()
  const part = v.page.locator(".element").last()
  await part.locator(".element-name").click()
  assert.equal(await part.getByLabel("What the visitor agrees to").isVisible(), false)
  await preview(v).getByText("The preview goes on when the form is complete again.").waitFor()
  await v.page.getByRole("button", { name: "Save for visitors" }).click()
  await part.getByText("Fill this in.").waitFor()
  assert.equal(await part.getByLabel("What the visitor agrees to").evaluate((e) => e === document.activeElement), true)
  await check(v.page, "portal form part refused")
  await part.getByLabel("What the visitor agrees to").fill("Send me your news.")
  await part.getByLabel("Subscribes to marketing mails").check()
  await preview(v).getByText("You will get an email to confirm this first.").waitFor()
  await v.page.getByRole("button", { name: "Save for visitors" }).click()
  await v.page.getByText(`${f.name} is saved.`).waitFor()
  await v.end()
})

test("two people at one form are told, and nobody overwrites blindly", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  await v.page.route("**/v1/live", (route) => route.abort())
  await v.page.getByLabel("Words on the button").fill("Mine")
  await desk.admin.patch("/forms/" + f.id, { name: f.name + " by a colleague" })
  await v.page.getByRole("button", { name: "Save for visitors" }).click()
  const dialog = v.page.getByRole("dialog", { name: "Somebody was faster" })
  await dialog.waitFor()
  await check(v.page, "portal form conflict")
  await dialog.getByRole("button", { name: "Show their change" }).click()
  await v.page.getByRole("heading", { name: f.name + " by a colleague", level: 1 }).waitFor()
  assert.equal(await v.page.getByLabel("Words on the button").inputValue(), "Ask for a plan")
  await v.page.getByLabel("Words on the button").fill("Mine again")
  await desk.admin.patch("/forms/" + f.id, { name: f.name + " twice" })
  await v.page.getByRole("button", { name: "Save for visitors" }).click()
  await dialog.getByRole("button", { name: "Save mine over it" }).click()
  await v.page.getByText(/is saved\./).waitFor()
  const after = await desk.admin.get("/forms/" + f.id)
  assert.deepEqual([after.name, after.definition.submit_label], [f.name + " by a colleague", "Mine again"])
  await v.end()
})

test("a change by a colleague shows at once, and beside what was typed it is announced", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  await desk.admin.patch("/forms/" + f.id, { name: f.name + " renamed" })
  await v.page.getByRole("heading", { name: f.name + " renamed", level: 1 }).waitFor()
  await v.page.getByLabel("Words on the button").fill("Mine")
  await desk.admin.patch("/forms/" + f.id, { name: f.name + " again" })
  await v.page.getByText("Somebody else has changed this form meanwhile.").waitFor()
  await check(v.page, "portal form changed meanwhile")
  assert.equal(await v.page.getByLabel("Words on the button").inputValue(), "Mine")
  await v.page.getByRole("button", { name: "Show their change" }).click()
  await v.page.getByRole("heading", { name: f.name + " again", level: 1 }).waitFor()
  await v.end()
})

test("a change from before the stream of changes was there shows once it is", async () => {
  const f = await form()
  const v = await member()
  let listened
  const changed = new Promise((resolve) => (listened = resolve))
  await v.page.route("**/v1/live", async (route) => (await changed, await route.continue()))
  await open(v, "/forms/" + f.id, f.name)
  await desk.admin.patch("/forms/" + f.id, { name: f.name + " renamed" })
  listened()
  await v.page.getByRole("heading", { name: f.name + " renamed", level: 1 }).waitFor()
  await v.end()
})

test("a form is put on a page, duplicated, hidden and deleted", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/forms/" + f.id, f.name)
  await v.page.getByRole("button", { name: "Add to a page" }).click()
  const dialog = v.page.getByRole("dialog", { name: "Add to a page" })
  await dialog.getByLabel("Title of the page").fill("Gardens " + unique())
  await check(v.page, "portal form in page")
  await dialog.getByRole("button", { name: "Add the form" }).click()
  await v.page.getByText(/The draft Gardens .* was made\./).waitFor()
  await v.page.getByRole("button", { name: "Back to draft" }).click()
  await v.page.getByText(`${f.name} is a draft`).waitFor()
  assert.equal((await desk.admin.get("/forms/" + f.id)).status, "draft")
  await v.page.getByRole("button", { name: "More actions" }).click()
  await v.page.getByRole("menuitem", { name: "Duplicate" }).click()
  await v.page.getByRole("heading", { name: f.name + " (copy)", level: 1 }).waitFor()
  await v.page.getByRole("button", { name: "More actions" }).click()
  await v.page.getByRole("menuitem", { name: "Delete" }).click()
  await v.page.getByRole("heading", { name: `Delete ${f.name} (copy)?` }).waitFor()
  await check(v.page, "portal form delete")
  await v.page.getByRole("button", { name: `Delete ${f.name} (copy)` }).click()
  await v.page.getByRole("heading", { name: "Forms", level: 1 }).waitFor()
  await v.page.getByRole("link", { name: f.name, exact: true }).waitFor()
  assert.equal(await v.page.getByRole("link", { name: f.name + " (copy)" }).count(), 0)
  await v.end()
})

test("a submission shows as sent, leads to its contact, and comes in while somebody looks", async () => {
  const f = await form()
  const email = `nora-${unique()}@example.com`
  const v = await member()
  await open(v, "/submissions?form=" + f.id, "Submissions")
  await v.page.getByText("Nothing fits").waitFor()
  await check(v.page, "portal submissions nothing")
  await send(f, { email })
  await v.page.getByRole("link", { name: "Nora Claes" }).waitFor()
  await check(v.page, "portal submissions")
  await v.page.keyboard.press("j")
  await v.page.keyboard.press("Enter")
  await v.page.getByRole("heading", { name: "Nora Claes", level: 1 }).waitFor()
  await v.page.getByText("When should we come?").waitFor()
  await v.page.getByText("and roses.").waitFor()
  await v.page.getByRole("link", { name: "linde.example/garden" }).waitFor()
  await v.page.getByText("The contact was made.").waitFor()
  await check(v.page, "portal submission")
  await v.page.getByRole("link", { name: "All submissions of this person" }).click()
  await v.page.waitForURL(/contact=/)
  await v.page.getByRole("button", { name: "From anybody" }).click()
  await v.page.getByLabel("From", { exact: true }).fill("2001-01-01")
  await v.page.getByLabel("to", { exact: true }).fill("2001-01-02")
  await v.page.getByText("Nothing fits").waitFor()
  await v.page.getByRole("button", { name: "Clear the filters" }).last().click()
  const href = await v.page.getByRole("link", { name: "Export" }).getAttribute("href")
  assert.equal((await desk.person.call("GET", href.replace("/v1", "")).catch((e) => e)).message?.includes("JSON"), true, "a file, not JSON")
  await open(v, "/forms", "Forms")
  await v.page.getByRole("link", { name: `1 submission of ${f.name}` }).waitFor()
  await check(v.page, "portal forms")
  await v.page.getByRole("link", { name: f.name, exact: true }).click()
  await v.page.getByRole("heading", { name: "Submissions by week" }).waitFor()
  await v.end()
})

test("submissions of one person are chosen by name, and the address keeps the choice", async () => {
  const f = await form()
  const u = unique()
  const [one, other] = [`one-${u}@example.com`, `other-${u}@example.com`]
  await send(f, { email: one, first: "Iris", last: "One " + u })
  await send(f, { email: other, first: "Ilja", last: "Other " + u })
  const v = await member()
  await open(v, "/submissions?form=" + f.id, "Submissions")
  const rows = (name) => v.page.getByRole("table").getByRole("link", { name })
  await rows("Iris One " + u).waitFor()
  await rows("Ilja Other " + u).waitFor()
  const picker = v.page.getByRole("combobox", { name: "Contact" })
  await picker.fill(one)
  await until("only this person in the list", async () => (await v.page.getByRole("option").allTextContents()).join() === `Iris One ${u}${one}`)
  await shot(v.page, "portal submissions picker") // no check: axe refuses the page behind an open list of React Aria, which hides it from screen readers
  await v.page.keyboard.press("ArrowDown")
  await v.page.keyboard.press("Enter")
  await rows("Ilja Other " + u).waitFor({ state: "detached" })
  await v.page.waitForURL(/contact=/)
  await v.page.locator(".tag--filter", { hasText: "Iris One " + u }).waitFor()
  const anybody = v.page.getByRole("button", { name: "From anybody" })
  assert.equal(await anybody.evaluate((e) => e === document.activeElement), true, "the focus is at the chosen person")
  await check(v.page, "portal submissions of one person")
  await v.page.reload()
  await v.page.locator(".tag--filter", { hasText: "Iris One " + u }).waitFor()
  await rows("Iris One " + u).waitFor()
  assert.equal(await rows("Ilja Other " + u).count(), 0)
  await anybody.click()
  await rows("Ilja Other " + u).waitFor()
  assert.equal(await picker.evaluate((e) => e === document.activeElement), true, "the focus is at the picker")

  await beginWith(v.page, (value) => value.replace(/\{[^{}]*contacts[^{}]*\}/g, (app) => app.replace("&#34;enabled&#34;:true", "&#34;enabled&#34;:false")))
  const contact = (await desk.admin.get("/contacts?search=" + encodeURIComponent(one))).items[0]
  await open(v, `/submissions?form=${f.id}&contact=${contact.id}`, "Submissions")
  await rows("Iris One " + u).waitFor()
  await rows("Ilja Other " + u).waitFor()
  for (const gone of [picker, anybody]) assert.equal(await gone.count(), 0, "without the app contacts there is no such filter")
  await v.end()
})

test("spam says why, counts as received after all, and is deleted for good", async () => {
  const f = await form()
  const email = `spam-${unique()}@example.com`
  const s = await send(f, { email, message: "http://a.example http://b.example http://c.example" })
  const v = await member()
  await open(v, "/submissions/" + s.id, "Submission of " + f.name)
  await v.page.getByText("Held back: an answer with many links").waitFor()
  await check(v.page, "portal spam")
  await v.page.getByRole("button", { name: "Not spam" }).click()
  await v.page.getByText("It counts as received now").waitFor()
  await v.page.getByRole("heading", { name: "Nora Claes", level: 1 }).waitFor()
  await v.page.getByRole("button", { name: "Delete", exact: true }).click()
  await v.page.getByRole("heading", { name: "Delete what Nora Claes sent?" }).waitFor()
  await check(v.page, "portal submission delete")
  await v.page.getByRole("button", { name: "Delete for good" }).click()
  await v.page.getByText("What Nora Claes sent is deleted.").waitFor()
  await assert.rejects(desk.admin.get("/submissions/" + s.id), { status: 404 })
  await v.end()
})

test("Ctrl-K finds a form and the screens of forms", async () => {
  const f = await form()
  const v = await member()
  await open(v, "/submissions", "Submissions")
  await v.page.keyboard.press("Control+k")
  await v.page.getByRole("combobox", { name: "Search or go to…" }).fill(f.name.slice(-7))
  await v.page.getByRole("group", { name: "Forms" }).getByRole("option").first().click()
  await v.page.getByRole("heading", { name: f.name, level: 1 }).waitFor()
  await v.end()
})

test("what fails to load says so and loads again; what does not exist, is off or is forbidden says that", async () => {
  const f = await form()
  const v = await member()
  for (const [path, call] of [["/forms", "**/v1/forms"], ["/forms/" + f.id, `**/v1/forms/${f.id}`], ["/submissions", "**/v1/submissions?*"]]) {
    let down = true
    await v.page.route(call, (route) => (down ? route.fulfill({ status: 400, json: { code: "svc_invalid", message: "The clock stands still." } }) : route.continue()))
    await v.page.goto(team() + path)
    await v.page.getByText("The clock stands still.").waitFor()
    await check(v.page, "portal failed " + path.replace(/\d+/, "one"))
    down = false
    await v.page.getByRole("button", { name: "Try again" }).click()
    await v.page.getByText("The clock stands still.").waitFor({ state: "detached" })
    await v.page.unroute(call)
  }
  for (const path of ["/forms/987654", "/submissions/0194c3b2-5f5e-7000-8000-000000000000"]) {
    await v.page.goto(team() + path)
    await v.page.getByText("This record does not exist").waitFor()
  }
  await check(v.page, "portal submission gone")
  await v.page.route("**/v1/forms", (route) => route.fulfill({ json: { items: [], next_cursor: null, total: 0 } }))
  await v.page.goto(team() + "/forms")
  await v.page.getByText("No forms yet").waitFor()
  await check(v.page, "portal forms empty")
  await v.page.unroute("**/v1/forms")

  const begin = (change) => v.page.route(/\/team\/[^?]*(\?.*)?$/, async (route) => {
    const answer = await route.fetch()
    const text = await answer.text()
    await route.fulfill({ response: answer, body: text.replace(/(<meta name="portal" content=")([^"]*)"/, (_, head, value) => head + change(value) + '"') })
  })
  await begin((s) => s.replaceAll("svc_manage_forms", "svc_none"))
  await open(v, "/forms", "Forms")
  await v.page.getByRole("link", { name: f.name }).waitFor()
  assert.equal(await v.page.getByRole("button", { name: "New form" }).count(), 0)
  await open(v, "/forms/" + f.id, f.name)
  for (const name of ["Save for visitors", "Back to draft", "Question"]) assert.equal(await v.page.getByRole("button", { name, exact: true }).count(), 0, name)
  await check(v.page, "portal form to read")
  await v.page.unrouteAll()
  await begin((s) => s.replace(/\{[^{}]*forms[^{}]*\}/g, (app) => app.replace("&#34;enabled&#34;:true", "&#34;enabled&#34;:false")))
  await v.page.goto(team() + "/forms")
  await v.page.getByText("This app is off").waitFor()
  assert.equal(await v.page.getByRole("link", { name: "Submissions" }).count(), 0)
  await check(v.page, "portal forms off")
  await v.end()
})

for (const [name, options] of [["dark", { colorScheme: "dark" }], ["small", { viewport: { width: 320, height: 720 }, hasTouch: true }], ["small dark", { viewport: { width: 320, height: 720 }, hasTouch: true, colorScheme: "dark" }], ["forced colours", { forcedColors: "active" }]]) {
  test(`every screen of forms, ${name}`, async () => {
    const f = await form()
    const s = await send(f, { email: `many-${unique()}@example.com` })
    const v = await member(options)
    for (const [path, ready] of [
      ["/forms", v.page.getByRole("link", { name: f.name }).first()], ["/forms/" + f.id, v.page.getByLabel("Words on the button")],
      ["/submissions?form=" + f.id, v.page.getByRole("link", { name: "Nora Claes" })], ["/submissions/" + s.id, v.page.getByText("What would you like?")],
    ]) {
      await v.page.goto(team() + path)
      await ready.waitFor()
      if (path === "/forms/" + f.id) {
        await v.page.locator(".element-name").nth(4).click()
        if (name.startsWith("small")) {
          await check(v.page, `portal forms ${name} parts`)
          await v.page.getByRole("button", { name: "Preview", exact: true }).click()
        }
        await preview(v).getByLabel("What would you like?").waitFor()
      }
      await check(v.page, `portal forms ${name} ${path.split("?")[0].replace(/[0-9a-f-]{36}|\d+/, "one")}`)
    }
    await v.end()
  })
}
