// Tasks: the list, the panels of a contact and an organization, the overview, by mouse, by keyboard and on a phone.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check } from "./browser.mjs"
import { until } from "./system.mjs"
import { checkScreens, colleague, desk, dayOf, member, open, openListening, team, unique } from "./team.mjs"

const day = (days) => dayOf(Date.now() + days * 24 * 3600_000)

test("a task is added on a contact's screen, changed, ticked off and taken back", async () => {
  const c = await desk.admin.post("/contacts", { first_name: "Ada", last_name: "Todo " + unique() })
  const name = `${c.first_name} ${c.last_name}`
  const v = await member()
  await open(v, "/contacts/" + c.id, name)
  await v.page.getByText("Nothing to do here.").waitFor()
  await v.page.getByLabel("What is to do").fill("Send the offer")
  await v.page.getByLabel("What is to do").press("Enter")
  await v.page.getByRole("button", { name: "Send the offer" }).waitFor()
  const [made] = (await desk.admin.get("/tasks?contact=" + c.id)).items
  assert.deepEqual([made.title, made.owner_user_id, made.contact.name], ["Send the offer", desk.user, name])
  await check(v.page, "portal tasks of a contact")

  await v.page.getByRole("button", { name: "Send the offer" }).click()
  const dialog = v.page.getByRole("dialog")
  await dialog.getByLabel("By when").fill(day(-1))
  await dialog.getByLabel("More about it").fill("With the new prices.")
  await check(v.page, "portal task dialog")
  await dialog.getByRole("button", { name: "Save" }).click()
  await v.page.getByText(/^Overdue/).waitFor()
  assert.equal((await desk.admin.get("/tasks/" + made.id)).body, "With the new prices.")

  const tick = v.page.getByLabel("Done: Send the offer")
  await tick.focus()
  await v.page.keyboard.press("Space")
  await until("the task is done", async () => (await desk.admin.get("/tasks/" + made.id)).done_at !== null)
  await v.page.locator(".timeline").getByText("Task done · Send the offer").waitFor()
  await v.page.getByRole("button", { name: "Undo" }).click()
  await until("the task is open", async () => (await desk.admin.get("/tasks/" + made.id)).done_at === null)
  await v.end()
})

test("the list has one's own open tasks first, and those of others and done ones when asked", async () => {
  const u = unique()
  const who = await colleague("svc_admin")
  const company = await desk.admin.post("/organizations", { name: "Todo Ltd " + u })
  const make = (title, fields) => who.api.post("/tasks", { title: `${title} ${u}`, owner_user_id: who.user_id, ...fields })
  await make("Late", { due_on: day(-2), organization: company.id })
  const done = await make("Done")
  await who.api.post(`/tasks/${done.id}/done`)
  await desk.admin.post("/tasks", { title: "Of the admin " + u, owner_user_id: desk.user })
  const v = await member({ cookie: who.cookie, viewport: { width: 390, height: 844 } })
  await open(v, "/tasks", "Tasks")
  await v.page.getByRole("link", { name: "Late " + u }).waitFor()
  assert.equal(await v.page.getByRole("link", { name: "Done " + u }).count(), 0)
  await check(v.page, "portal tasks on a phone")
  await v.page.goto(team() + "/tasks?owner=all&show=all")
  for (const title of ["Late", "Done", "Of the admin"]) await v.page.getByRole("link", { name: `${title} ${u}` }).waitFor()
  await v.page.goto(team() + "/tasks?show=overdue")
  await v.page.getByRole("link", { name: "Late " + u }).click()
  const dialog = v.page.getByRole("dialog")
  await dialog.getByRole("button", { name: "Delete task" }).click()
  await v.page.getByText("Nothing fits").waitFor()
  await v.end()
})

test("a task that a colleague gives rings the bell and stands in the overview", async () => {
  const who = await colleague("svc_admin")
  await who.api.post("/me/news/seen")
  const v = await member({ cookie: who.cookie })
  await openListening(v, "", "Hello")
  await v.page.getByText("You have nothing to do.").waitFor()
  const title = "Call back " + unique()
  await desk.admin.post("/tasks", { title, owner_user_id: who.user_id, due_on: day(0) })
  await v.page.getByRole("button", { name: title }).waitFor()
  await v.page.locator(".nav-link", { hasText: "Tasks" }).locator(".nav-count").waitFor()
  await check(v.page, "portal overview with tasks")
  await v.end()
})

test("tasks are without findings in every mode", async () => {
  const u = unique()
  const o = await desk.admin.post("/organizations", { name: "Tasks Ltd " + u })
  const x = await desk.admin.post("/tasks", { title: "Visit " + u, organization: o.id, owner_user_id: desk.user, due_on: day(3) })
  await checkScreens("tasks", (page) => [
    ["/tasks", page.getByRole("link", { name: "Visit " + u })],
    ["/tasks?task=" + x.id, page.getByRole("dialog")],
    ["/organizations/" + o.id, page.getByRole("button", { name: "Visit " + u })],
  ])
})
