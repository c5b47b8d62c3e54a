// Every screen of the portal for people of several roles: nothing of others for who sees only their own, no action that would be refused,
// a sentence at each screen that is closed, and the administration at /admin.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { check, gone } from "./browser.mjs"
import { until } from "./system.mjs"
import { colleague, desk, go, member, open, records, screens, team, unique } from "./team.mjs"

const everything = ["svc_manage_crm", "svc_view_contacts", "svc_edit_contacts", "svc_delete_contacts", "svc_import_contacts", "svc_export_contacts", "svc_manage_bookings", "svc_manage_forms", "svc_manage_integrations"]

/** Bea sees only her own records. mine are hers, theirs the administrator's; the marks stand in all texts of each. */
let bea, staff, mine, theirs
const marks = { mine: "Bloem" + unique(), theirs: "Zwijger" + unique() }

/** Gives the role staff these permissions, and waits until a service that another one tells has them too. */
async function grant(capabilities) {
  await desk.admin.patch("/settings/roles/staff", { capabilities, visibility: "own" })
  await until("the rights", async () => (await bea.api.get("/me")).capabilities.length === capabilities.length)
  const may = (path) => bea.api.get(path).then(() => true, (e) => (e.status === 403 ? false : Promise.reject(e)))
  for (const [path, right] of [["/imports", "svc_import_contacts"], ["/forms/templates", "svc_manage_forms"]]) await until("the rights at " + path, async () => (await may(path)) === capabilities.includes(right))
}

before(async () => {
  staff = (await desk.admin.get("/settings/roles")).roles.find((r) => r.role === "staff")
  bea = await colleague()
  await grant(everything)
  ;[mine, theirs] = await Promise.all([records({ api: bea.api, user: bea.user_id, mark: marks.mine }), records({ mark: marks.theirs })])
  // An organization is everybody's; the people in it are not.
  for (const who of [mine, theirs]) await desk.admin.put(`/organizations/${mine["/organizations/$id"]}/contacts/${who["/contacts/$id"]}`, { role: "Baker" })
})
after(() => desk.admin.patch("/settings/roles/staff", { capabilities: staff.capabilities, visibility: staff.visibility }))

/** A page of somebody, with the answers that it gets. settled() waits until it has shown them all. */
async function walker(who) {
  const v = await member({ cookie: who?.cookie })
  const waiting = new Set()
  const answers = []
  const api = (r) => r.url().includes("/v1/") && !r.url().includes("/v1/live")
  v.page.on("request", (r) => api(r) && waiting.add(r))
  v.page.on("requestfailed", (r) => waiting.delete(r))
  v.page.on("requestfinished", async (r) => {
    if (!api(r)) return
    const answer = await r.response().catch(() => null) // a page that is closed knows it no more
    if (answer) answers.push({ address: `${r.method()} ${r.url().replace(desk.gateway, "")}`, status: answer.status(), text: await answer.text().catch(() => "") })
    waiting.delete(r)
  })
  const settled = async () => {
    await v.page.locator("#main h1, #main .blank").first().waitFor()
    for (let quiet = 0; quiet < 2; quiet++) {
      await until("the answers of " + v.page.url(), () => waiting.size === 0)
      await gone(v.page, ".skeleton")
      await v.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    }
  }
  return { ...v, answers, settled }
}

/** All that stands on a page, in its attributes and fields too, and in the pages within it. */
const standing = async (page) =>
  (await Promise.all(page.frames().map((f) => f.evaluate(() => document.documentElement.outerHTML + [...document.querySelectorAll("input, textarea")].map((e) => e.value).join("\n"))))).join("\n")

/** Goes to a screen by the program's router, and waits until the one before is gone. */
async function leaveFor(v, path) {
  await v.page.evaluate(() => document.querySelectorAll("#main h1, #main .blank").forEach((e) => (e.dataset.left = e.textContent)))
  await go(v, path)
  await v.page.waitForFunction(() => [...document.querySelectorAll("[data-left]")].every((e) => e.dataset.left !== e.textContent))
}

/**
 * Goes to every screen, in two pages at once that load once each, and looks at it once it has loaded: all answers that the pages got. None of
 * them may be a refusal.
 */
async function walk(who, ids, look) {
  const waiting = [...screens]
  const pages = await Promise.all([walker(who), walker(who)])
  await Promise.all(pages.map(async (v) => {
    for (let next, loaded; (next = waiting.shift()); loaded = true) {
      const [path, screen] = next
      const to = path.replace("$id", ids[path]) + (path === "/calendar" ? "?date=" + ids[path] : "")
      await (loaded ? leaveFor(v, to) : v.page.goto(team() + to))
      await v.settled()
      await look(v, path, screen)
    }
    await v.end()
  }))
  const answers = pages.flatMap((v) => v.answers)
  assert.deepEqual(refused(answers), [])
  return answers
}

const closed = (page) => page.getByText("This is not open to you").isVisible()
const refused = (answers) => answers.filter((a) => a.status >= 400).map((a) => `${a.address}: ${a.status}`)

/** Screens that look otherwise for who sees only their own; the other files look at all. */
const axed = ["/", "/contacts/$id", "/calendar", "/webhooks", "/settings"]

/** Where something of one's own stands. */
const own = ["/", "/contacts", "/contacts/$id", "/import", "/import/$id", "/organizations/$id", "/calendar", "/appointments/$id", "/submissions", "/submissions/$id", "/audit"]

test("who may do everything with their own records finds nothing of others, on any screen", async () => {
  await grant(everything)
  const offered = new Set()
  const answers = await walk(bea, mine, async (v, path, screen) => {
    assert.equal(await closed(v.page), screen.sees === "all", `${path} is open`)
    const text = await standing(v.page)
    assert.ok(!text.includes(marks.theirs), `${path} shows nothing of others`)
    if (own.includes(path)) assert.ok(text.includes(marks.mine), `${path} shows what is one's own`)
    for (const a of await v.page.locator("a[download]").all()) offered.add(await a.getAttribute("href"))
    if (axed.includes(path)) await check(v.page, "portal own " + path)
  })
  assert.deepEqual(answers.filter((a) => a.text.includes(marks.theirs)).map((a) => a.address), [], "no answer has anything of others")
  const exports = [...offered].map((address) => new URL(address, desk.gateway))
  assert.deepEqual([...new Set(exports.map((e) => e.pathname))].sort(), ["audit-log", "contacts", "organizations", "submissions"].map((name) => `/v1/exports/${name}.csv`))
  for (const e of exports) {
    const answer = await fetch(e, { headers: bea.api.headers })
    const text = await answer.text()
    assert.equal(answer.status, 200, e.href)
    assert.ok(!text.includes(marks.theirs), `${e.pathname} has nothing of others`)
    if (!e.pathname.includes("organizations")) assert.ok(text.includes(marks.mine), `${e.pathname} has what is one's own`)
  }
})

test("the figures and plots of who sees only their own are of their own records", async () => {
  const v = await walker(bea)
  await open(v, "/", /Bram/)
  await v.settled()
  const overview = await bea.api.get("/overview")
  const figures = { contacts: overview.new_contacts, submissions: overview.submissions, requests: overview.requests.total }
  assert.deepEqual(figures, { contacts: 1, submissions: 1, requests: 1 })
  assert.deepEqual((await v.page.locator(".figure-number").allInnerTexts()).map(Number), [1, 1])
  const panel = (title) => v.page.getByRole("region", { name: title })
  const { weeks } = await bea.api.get("/statistics/bookings")
  assert.deepEqual((await panel("Bookings by week").locator("tbody td").allTextContents()).map(Number), weeks.flatMap((w) => [w.booked, w.cancelled]))
  assert.equal(weeks.reduce((sum, w) => sum + w.booked, 0), 2)
  const { sources } = await bea.api.get("/statistics/contacts")
  assert.deepEqual(sources.map((s) => [s.source, s.contacts]), [["Fair " + marks.mine, 1]])
  for (const [path, calls] of [["/contacts", "/contacts"], ["/submissions", "/submissions"], ["/audit", "/audit-log"]]) {
    await v.page.goto(team() + path)
    await v.settled()
    const { total } = await bea.api.get(calls)
    if (path !== "/audit") assert.equal(total, 1, path)
    assert.equal(Number((await v.page.locator("#main .count").first().innerText()).replaceAll(/\D/g, "")), total, `${path} counts what the API answers`)
  }
  await v.end()
})

test("Ctrl-K and addresses lead who sees only their own to nothing of others", async () => {
  const v = await walker(bea)
  await open(v, "/contacts", "Contacts")
  await v.page.keyboard.press("Control+k")
  const words = v.page.getByRole("combobox", { name: "Search or go to…" })
  const palette = v.page.getByRole("dialog")
  await words.fill(marks.mine)
  await palette.getByRole("group", { name: "People" }).getByRole("option").first().waitFor()
  await palette.getByRole("group", { name: "Appointments" }).getByRole("option").first().waitFor()
  for (const nothing of [marks.theirs, "Webhooks"]) {
    await words.fill(nothing)
    await v.settled()
    await palette.getByRole("status").getByText("Nothing fits").waitFor()
    assert.equal(await palette.getByRole("option").count(), 0, nothing)
  }
  for (const path of ["/contacts/$id", "/appointments/$id", "/submissions/$id", "/import/$id"]) {
    await v.page.goto(team() + path.replace("$id", theirs[path]))
    await v.settled()
    assert.ok(v.answers.some((a) => a.address.endsWith(theirs[path]) && a.status === 404), path)
    assert.ok(!(await standing(v.page)).includes(marks.theirs), path)
  }
  await v.end()
})

/** The screens of somebody who only looks. */
const looking = ["/", "/tasks", "/approvals", "/contacts", "/contacts/$id", "/organizations", "/organizations/$id", "/organizations/duplicates", "/calendar", "/appointments/$id", "/services", "/services/$id", "/hours",
  "/forms", "/forms/$id", "/pages", "/pages/$id", "/submissions", "/submissions/$id", "/people", "/people/$id", "/settings", "/settings/notifications", "/settings/tags", "/settings/support"]

/** What somebody who only looks may press on a screen: it changes nothing. */
const harmless = /^((Filters|More filters|Columns|Name|Organization|Created|Last activity|Possible duplicates|Today|Previous day|Next day|Day|Week|Month|List|Print|Year|More actions|See them|Write a mail|Call|Copy: .*|Your account|Send|Send the reason)$|[^\n]+\n(Question|Heading|Text|Consent|\d\d:\d\d))/

/** What they may change because it is their own. */
const theirOwn = { "/hours": ["Connect a calendar", "Create address"], "/settings/notifications": ["Save"] }

test("who only looks is offered no change but of their own, and a screen that is closed says so", async () => {
  await grant(["svc_view_contacts"])
  const found = []
  const seen = []
  await walk(bea, mine, async (v, path) => {
    if (await closed(v.page)) return
    seen.push(path)
    const names = await v.page.locator("#main").locator("button:not([disabled]), [role=button], [role=switch], a.button, input[type=file], [role=menuitem]").evaluateAll((all) => all.map((e) => (e.getAttribute("aria-label") || e.innerText || e.type).trim()))
    const unfit = names.filter((name) => !harmless.test(name) && !theirOwn[path]?.includes(name))
    if (unfit.length > 0) found.push(`${path}: ${unfit.join(", ")}`)
  })
  assert.deepEqual(seen.sort(), looking.toSorted())
  assert.deepEqual(found, [])
  const v = await walker(bea)
  await v.page.goto(team() + "/settings")
  await v.settled()
  await check(v.page, "portal looks settings")
  const places = await v.page.locator("#nav .nav-link").allInnerTexts()
  for (const name of ["Webhooks", "Audit log", "Apps"]) assert.ok(!places.includes(name), name)
  await v.end()
})

test("a service administrator has every screen and everybody's records, and cannot touch an administrator", async () => {
  const cleo = await colleague("svc_admin")
  await walk(cleo, { ...theirs, "/organizations/$id": mine["/organizations/$id"] }, async (v, path) => {
    assert.ok(!(await closed(v.page)), `${path} is open`)
    if (own.includes(path) && path !== "/audit") assert.ok((await standing(v.page)).includes(marks.theirs), `${path} shows records of others`)
  })
  const v = await walker(cleo)
  await v.page.goto(team() + "/people/" + desk.user)
  await v.settled()
  for (const name of ["Remove from the team", /^Role/, /^End /, "Reset"]) assert.equal(await v.page.getByRole("button", { name }).count(), 0, `${name} is not offered for an administrator`)
  await open(v, "/people", "Team")
  await v.page.getByRole("button", { name: "Invite somebody" }).click()
  const role = v.page.getByRole("dialog").getByLabel("Role")
  assert.deepEqual(await role.locator("option").evaluateAll((all) => all.map((o) => o.value)), ["svc_admin", "staff"])
  assert.equal(await role.inputValue(), "staff", "the role with the fewest rights is chosen first")
  await v.end()
})

test("the administration at /admin has the same screens; staff_out sends who is only staff to the portal", async () => {
  const v = await walker()
  const admin = desk.gateway + "/admin"
  await v.page.goto(admin)
  await v.settled()
  for (const name of ["Contacts", "Calendar", "Forms", "Apps", "Settings"]) {
    await v.page.getByRole("link", { name, exact: true }).first().click()
    await v.page.getByRole("heading", { name, level: 1 }).waitFor()
    assert.ok(v.page.url().startsWith(admin + "/"), v.page.url())
  }
  await v.page.goto(admin + "/contacts/" + theirs["/contacts/$id"])
  await v.page.getByRole("heading", { name: "Ada " + marks.theirs, level: 1 }).waitFor()
  await v.settled()
  await check(v.page, "portal admin contact")
  await v.page.keyboard.press("Control+k")
  await v.page.getByRole("combobox", { name: "Search or go to…" }).fill("Audit")
  await v.page.getByRole("option", { name: "Audit log" }).waitFor()
  await v.page.keyboard.press("Enter")
  await v.page.waitForURL(admin + "/audit")
  assert.deepEqual(refused(v.answers), [])

  const w = await walker(bea)
  await w.page.goto(admin + "/contacts?status=lead")
  await w.settled()
  assert.equal(w.page.url(), admin + "/contacts?status=lead", "staff works in the administration while staff_out is off")
  try {
    await desk.admin.patch("/settings/portal", { staff_out: true })
    await until("staff_out", async () => {
      await w.page.goto(admin + "/contacts?status=lead")
      return w.page.url() === team() + "/contacts?status=lead"
    })
    await w.page.getByRole("heading", { name: "Contacts", level: 1 }).waitFor()
    await v.page.goto(admin + "/contacts")
    assert.equal(v.page.url(), admin + "/contacts", "an administrator stays")
  } finally {
    await desk.admin.patch("/settings/portal", { staff_out: false })
  }
  await v.end()
  await w.end()
})
