// Two people change one value of a record while the stream of changes runs: the second is told, may take what came, and nothing is replaced
// by a press on Save. Forms, booking rules and notifications say more about it in their own files.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { until } from "./system.mjs"
import { colleague, desk, go, member, openListening, unique } from "./team.mjs"

let v, page
before(async () => {
  v = await member({ viewport: { width: 1280, height: 900 } })
  page = v.page
  await openListening(v, "/tasks", "Tasks")
})
after(() => v.end())

const { admin } = desk
const inline = (label) => async () => {
  await page.getByRole("button", { name: new RegExp("^" + label) }).click()
  return page.getByRole("textbox", { name: label, exact: true })
}
const named = () => page.getByRole("dialog").getByLabel("Name", { exact: true })
const field = (name) => () => page.locator(`[name="${name}"]`)
const choose = (button, action) => async () => {
  await page.getByRole("button", { name: button }).click()
  await page.getByRole("menuitem", { name: action }).click()
}

const template = "/mail-templates/appointment.declined/fr"

/**
 * Of each kind: make answers a record, at its screen's path and heading, field what is typed into, theirs makes the colleague's change,
 * stored reads what is stored, and words stand before everything that is typed.
 */
const kinds = {
  contact: {
    make: () => admin.post("/contacts", { last_name: "Clash " + unique(), source: "Before" }),
    at: (c) => ["/contacts/" + c.id, c.last_name], field: inline("Source"),
    theirs: (c, source) => admin.patch("/contacts/" + c.id, { mode: "overwrite", source }), stored: async (c) => (await admin.get("/contacts/" + c.id)).source,
  },
  organization: {
    make: () => admin.post("/organizations", { name: "Clash " + unique(), city: "Before" }),
    at: (o) => ["/organizations/" + o.id, o.name], field: inline("City"),
    theirs: (o, city) => admin.patch("/organizations/" + o.id, { mode: "overwrite", city }), stored: async (o) => (await admin.get("/organizations/" + o.id)).city,
  },
  note: {
    make: async () => {
      const c = await admin.post("/contacts", { last_name: "Clash " + unique() })
      return { ...c, note: await admin.post(`/contacts/${c.id}/notes`, { body: "Before" }) }
    },
    at: (c) => ["/contacts/" + c.id, c.last_name],
    field: async () => (await choose("Actions of this note", "Change the note")(), page.getByLabel("Note", { exact: true })),
    theirs: (c, body) => admin.patch(`/contacts/${c.id}/notes/${c.note.id}`, { body }), stored: async (c) => (await admin.get(`/contacts/${c.id}/activities?type=note`)).items[0].body,
  },
  task: {
    make: () => admin.post("/tasks", { title: "Clash " + unique(), body: "Before", owner_user_id: desk.user }),
    at: (x) => ["/tasks?task=" + x.id, "Tasks"], field: () => page.getByLabel("More about it"),
    theirs: (x, body) => admin.patch("/tasks/" + x.id, { body }), stored: async (x) => (await admin.get("/tasks/" + x.id)).body,
  },
  service: {
    make: () => admin.post("/services", { name: "Clash " + unique(), duration_min: 30, location_details: "Before", staff: [desk.user] }),
    at: (s) => ["/services/" + s.id, s.name], field: field("location_details"),
    theirs: (s, location_details) => admin.patch("/services/" + s.id, { location_details }), stored: async (s) => (await admin.get("/services/" + s.id)).location_details,
  },
  member: {
    make: () => colleague(),
    at: (m) => ["/people/" + m.user_id, m.name], field: inline("Meeting link"), words: () => "https://example.com/",
    theirs: (m, meeting_url) => admin.patch("/staff/" + m.user_id, { meeting_url }), stored: async (m) => (await admin.get("/staff")).items.find((x) => x.user_id === m.user_id).meeting_url,
  },
  page: {
    make: () => admin.post("/pages", { title: "Clash " + unique(), content: "Before" }),
    at: (p) => ["/pages/" + p.id, p.title], field: field("content"),
    theirs: (p, content) => admin.patch("/pages/" + p.id, { content }), stored: async (p) => (await admin.get("/pages/" + p.id)).content,
  },
  view: {
    make: () => admin.post("/views", { entity: "contacts", name: "Clash " + unique(), query: {}, shared: false }),
    at: (x) => ["/contacts?tab=" + x.id, "Contacts"],
    field: async (x) => (await page.getByRole("button", { name: "Change the view " + x.name }).click(), page.getByLabel("Name of the view")),
    theirs: (x, name) => admin.patch("/views/" + x.id, { name }), stored: async (x) => (await admin.get("/views/" + x.id)).name,
  },
  webhook: {
    make: async () => (await admin.post("/webhooks", { name: "Clash " + unique(), url: desk.gateway + "/hooks", events: ["contact.created"], active: false })).webhook,
    at: (w) => ["/webhooks/" + w.id, w.name], field: inline("Name"),
    theirs: (w, name) => admin.patch("/webhooks/" + w.id, { name }), stored: async (w) => (await admin.get("/webhooks/" + w.id)).name,
  },
  field: {
    make: () => admin.post("/fields", { entity: "contact", label: "Clash " + unique(), type: "text" }),
    at: () => ["/settings/fields", "Fields"], field: async (f) => (await page.getByRole("button", { name: f.label, exact: true }).click(), page.getByRole("dialog").getByLabel("Name", { exact: true })),
    theirs: (f, label) => admin.patch("/fields/" + f.id, { label }), stored: async (f) => (await admin.get("/fields?entity=contact")).items.find((x) => x.id === f.id).label,
    clean: (f) => admin.patch("/fields/" + f.id, { archived: true }),
  },
  tag: {
    make: () => admin.post("/tags", { name: "Clash " + unique() }),
    at: (x) => ["/settings/tags?search=" + x.name, "Tags"], words: (x) => x.name + " ",
    field: async (x) => (await choose("Actions for the tag " + x.name, "Rename")(), named()),
    theirs: (x, name) => admin.patch("/tags/" + x.slug, { name }), stored: async (x) => (await admin.get("/tags")).items.find((y) => y.slug === x.slug).name,
    clean: (x) => admin.call("DELETE", "/tags/" + x.slug),
  },
  "calendar of another program": {
    make: async () => {
      const { user_id } = await colleague()
      const path = `/staff/${user_id}/calendars`
      return { path, user_id, ...(await admin.post(path, { kind: "ics", name: "Clash " + unique(), url: "https://calendar.example/shared.ics" })) }
    },
    at: (c) => ["/hours?staff=" + c.user_id, "Working hours"], field: async (c) => (await choose("More for " + c.name, "Change")(), named()),
    theirs: (c, name) => admin.patch(`${c.path}/${c.id}`, { name }), stored: async (c) => (await admin.get(c.path)).items[0].name,
  },
  "profile for news": {
    make: () => desk.person.patch("/settings/telemetry", { profile: true, profile_data: { company: "Before", email: `clash.${unique()}@example.com` } }),
    at: () => ["/settings/telemetry", "Sharing data"], field: field("profile_data.company"),
    theirs: (_, company) => desk.person.patch("/settings/telemetry", { profile_data: { company } }), stored: async () => (await desk.person.get("/settings/telemetry")).profile_data.company,
    clean: () => desk.person.patch("/settings/telemetry", { profile: false, profile_data: { company: "" } }),
  },
  "mail to clients": {
    make: () => admin.get(template),
    at: () => ["/settings/mails?kind=appointment.declined&language=fr", "Sent mails"], field: field("subject"),
    theirs: (x, subject) => admin.put(template, { subject, body: x.body }), stored: async () => (await admin.get(template)).subject,
    clean: () => admin.call("DELETE", template),
  },
  group: {
    make: () => admin.post("/field-groups", { entity: "contact", label: "Clash " + unique() }),
    at: () => ["/settings/fields", "Fields"], field: async (g) => (await choose("Actions of " + g.label, "Rename")(), page.getByRole("dialog").getByLabel("Name", { exact: true })),
    theirs: (g, label) => admin.patch("/field-groups/" + g.id, { label }), stored: async (g) => (await admin.get("/field-groups?entity=contact")).items.find((x) => x.id === g.id).label,
    clean: (g) => admin.call("DELETE", "/field-groups/" + g.id),
  },
  link: {
    make: async () => {
      const c = await admin.post("/contacts", { last_name: "Clash " + unique() })
      const organization = await admin.post("/organizations", { name: "Clash " + unique() })
      await admin.put(`/organizations/${organization.id}/contacts/${c.id}`, { role: "Before" })
      return { ...c, organization }
    },
    at: (c) => ["/contacts/" + c.id, c.last_name], field: async (c) => (await page.getByRole("button", { name: "Change the link with " + c.organization.name }).click(), page.getByRole("dialog").getByLabel("Role", { exact: true })),
    theirs: (c, role) => admin.put(`/organizations/${c.organization.id}/contacts/${c.id}`, { role }), stored: async (c) => (await admin.get(`/contacts/${c.id}/organizations`)).items[0].role,
  },
  document: {
    make: () => admin.get("/settings/general"),
    at: () => ["/settings/general", "General"], field: field("business.city"),
    theirs: (_, city) => admin.patch("/settings/general", { business: { city } }), stored: async () => (await admin.get("/settings/general")).business.city,
    clean: (d) => admin.patch("/settings/general", { business: { city: d.business.city } }),
  },
}

const said = () => page.getByText("Somebody else changed the same thing meanwhile.")

for (const [kind, k] of Object.entries(kinds))
  test(`who changes a ${kind} that somebody else changes too is told`, async (t) => {
    const record = await k.make()
    t.after(() => k.clean?.(record))
    const [path, heading] = k.at(record)
    await go(v, path)
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor()
    const words = k.words?.(record) ?? ""
    let input = await k.field(record)
    await input.fill(words + "mine")
    await k.theirs(record, words + "theirs")
    await said().waitFor()
    assert.equal(await input.inputValue(), words + "mine")
    const form = page.locator("form", { has: said() })
    await form.evaluate((f) => f.requestSubmit())
    await said().waitFor()
    assert.equal(await k.stored(record), words + "theirs", "Save decides nothing")
    await form.getByRole("button", { name: "Take theirs" }).click()
    await said().waitFor({ state: "detached" })
    // A value that is edited where it stands is shown again.
    if (await input.isHidden()) input = await k.field(record)
    assert.equal(await input.inputValue(), words + "theirs")
    await input.fill(words + "mine")
    await k.theirs(record, words + "theirs again")
    // Save does not wait for the stream: the version says it.
    await input.evaluate((i) => i.form.requestSubmit())
    await said().waitFor()
    await form.getByRole("button", { name: "Save mine" }).click()
    await until("mine", async () => (await k.stored(record)) === words + "mine")
    await said().waitFor({ state: "detached" })
  })

test("who changes a person's hours, a role or the access to the API that somebody else changes too is told", async (t) => {
  const c = await colleague()
  const roles = (await admin.get("/settings/roles")).roles.find((r) => r.role === "staff")
  const access = (await admin.get("/settings/api-access")).roles
  t.after(() => Promise.all([admin.patch("/settings/roles/staff", { capabilities: roles.capabilities, visibility: roles.visibility }), admin.patch("/settings/api-access", { roles: access })]))
  const without = (all, one) => (all.includes(one) ? all.filter((x) => x !== one) : [...all, one])
  const lists = [
    ["/people/" + c.user_id, c.name, () => page.getByRole("button", { name: "Add a block on Monday" }).click(), () => admin.put(`/staff/${c.user_id}/hours`, { hours: { 1: [["10:00", "12:00"]] } })],
    ["/settings/roles", "Roles", () => page.locator("form", { has: page.locator("legend", { hasText: /^Staff$/ }) }).locator("[name=capabilities][value=svc_export_contacts]").click(), () => admin.patch("/settings/roles/staff", { capabilities: without(roles.capabilities, "svc_import_contacts"), visibility: roles.visibility })],
    ["/settings/api-access", "API access", () => page.locator("[name=roles][value=staff]").click(), () => admin.patch("/settings/api-access", { roles: without(access, "svc_admin") })],
  ]
  for (const [path, heading, mine, theirs] of lists) {
    await go(v, path)
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor()
    await mine()
    await theirs()
    await said().waitFor()
    await page.getByRole("button", { name: "Take theirs" }).click()
    await said().waitFor({ state: "detached" })
  }
})

test("what is typed about a person, and a box that both tick, stay while somebody else changes the privacy settings", async (t) => {
  t.after(() => admin.patch("/settings/privacy", { delete_on_uninstall: false }))
  await go(v, "/settings/privacy")
  const [box, email] = [page.locator("[name=delete_on_uninstall]"), page.getByRole("region", { name: "Erase a person" }).locator("[name=email]")]
  await email.fill("ada@example.com")
  await admin.patch("/settings/privacy", { delete_on_uninstall: true })
  await page.waitForFunction(() => document.querySelector("[name=delete_on_uninstall]").checked)
  await box.uncheck()
  await admin.patch("/settings/privacy", { delete_on_uninstall: false })
  await page.getByText("Not saved yet").waitFor({ state: "detached" })
  assert.deepEqual([await box.isChecked(), await email.inputValue(), await said().count()], [false, "ada@example.com", 0])
})

test("what is typed about the business is there again after its box was ticked off and on", async (t) => {
  t.after(() => desk.person.patch("/settings/telemetry", { profile: false }))
  await desk.person.patch("/settings/telemetry", { profile: true, profile_data: { company: "Linde", email: "linde@example.com" } })
  await go(v, "/settings/telemetry")
  const company = page.locator("[name='profile_data.company']")
  await company.fill("Linde and sons")
  await page.locator("[name=profile]").uncheck()
  await company.waitFor({ state: "detached" })
  await page.locator("[name=profile]").check()
  assert.equal(await company.inputValue(), "Linde and sons")
  await page.getByRole("button", { name: "Save" }).click()
  await until("the profile", async () => (await desk.person.get("/settings/telemetry")).profile_data.company === "Linde and sons")
})

// What is saved with a press has no draft that somebody looks at: theirs comes while the press is on its way.
const presses = {
  "moves a service": {
    begin: async () => {
      const made = await Promise.all([1, 2, 3].map((n) => admin.post("/services", { name: `Clash ${n} ${unique()}`, duration_min: 30, sort_order: 1000 + n })))
      return { name: made[2].name, at: ["/services", "Services"], made }
    },
    press: async ({ name }) => {
      await page.getByRole("button", { name: "Change the order" }).click()
      await page.getByRole("button", { name: `Move ${name} up` }).press("Enter")
    },
    path: "/v1/services/order",
    theirs: ({ made }) => admin.put("/services/order", { services: [made[0].id] }),
    stored: async () => (await admin.get("/services")).items.map((s) => s.id),
    clean: ({ made }) => Promise.all(made.map((s) => admin.call("DELETE", "/services/" + s.id))),
  },
  "moves a field": {
    begin: async () => {
      const made = []
      for (const n of [1, 2]) made.push(await admin.post("/fields", { entity: "contact", label: `Clash ${n} ${unique()}`, type: "text" }))
      return { name: made[1].label, at: ["/settings/fields", "Fields"], made }
    },
    press: ({ name }) => page.getByRole("button", { name: `Move ${name} up` }).press("Enter"),
    path: "/v1/fields/",
    theirs: ({ made }) => Promise.all(made.map((f) => admin.patch("/fields/" + f.id, { sort_order: f.sort_order + 50 }))),
    stored: async ({ made }) => (await admin.get("/fields?entity=contact")).items.filter((f) => made.some((m) => m.id === f.id)).map((f) => f.sort_order),
    clean: ({ made }) => Promise.all(made.map((f) => admin.patch("/fields/" + f.id, { archived: true }))),
  },
  "chooses which calls of an ability wait": {
    begin: async () => ({ at: ["/settings/assistants?search=delete-organization", "AI assistants"] }),
    press: () => page.getByRole("combobox", { name: "Approval of Delete organization" }).selectOption("writes"),
    path: "/v1/integrations/ai",
    theirs: () => desk.person.patch("/integrations/ai", { approval: { "svc/delete-organization": "destructive" } }),
    stored: async () => (await desk.person.get("/integrations/ai")).abilities.find((a) => a.name === "svc/delete-organization").approval,
    clean: () => desk.person.patch("/integrations/ai", { approval: { "svc/delete-organization": "never" } }),
  },
}

for (const [what, p] of Object.entries(presses))
  test(`who ${what} while somebody else does is told, and theirs stays`, async (t) => {
    const of = await p.begin()
    t.after(() => p.clean(of))
    await openListening(v, ...of.at) // loaded anew: what the press before said is gone
    const isOf = (url) => url.pathname.startsWith(p.path)
    const isChange = (request) => request.method() !== "GET" && isOf(new URL(request.url()))
    let theirs
    await page.route(isOf, async (route) => {
      if (!theirs && isChange(route.request())) {
        theirs = p.theirs(of).then(() => p.stored(of))
        await theirs
      }
      await route.fallback()
    })
    // A field that others have left elsewhere moves too, maybe first.
    const refused = page.waitForResponse((a) => isChange(a.request()) && a.status() === 412)
    await p.press(of)
    await refused
    await page.getByText("Somebody else changed this meanwhile.").first().waitFor()
    await page.unroute(isOf)
    assert.deepEqual(await p.stored(of), await theirs)
  })
