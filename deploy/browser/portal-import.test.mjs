// Imports of contacts and the trash, in a real browser: upload, mapping, progress, what failed; restoring from the lists.
import assert from "node:assert/strict"
import { test } from "node:test"
import { beginWith, check, intercept } from "./browser.mjs"
import { until } from "./system.mjs"
import { checkScreens, deaf, desk, member, nothing, open, refused, team, unique } from "./team.mjs"
import { workbook } from "./xlsx.mjs"

const choose = (v, name, content) => v.page.getByLabel("Choose a file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) })
const upload = (name, csv) => desk.admin.post("/imports", { file_name: name, csv })

test("a file is mapped, imported and found again by its tag, and the rows that failed come as a file", async () => {
  const u = unique()
  const v = await member()
  await open(v, "/contacts", "Contacts")
  await v.page.getByRole("link", { name: "Import", exact: true }).click()
  await v.page.getByRole("heading", { name: "Import contacts", level: 1 }).waitFor()
  await check(v.page, "portal imports")
  // Latin-1, as a spreadsheet in Western Europe writes it.
  await choose(v, `people-${u}.csv`, Buffer.from(`Voornaam;Achternaam;E-mail;Shoe;Nickname\r\nZoë;Peeters;zoe-${u}@example.com;40;Zo\r\nBram;Claes;no address;41;\r\nAn;Maes;an-${u}@example.com;;Annie\r\n`, "latin1"))
  await v.page.getByText("Voornaam;Achternaam").waitFor()
  await v.page.getByText("Zoë;Peeters").waitFor()
  await check(v.page, "portal import encoding")
  await v.page.getByRole("button", { name: "The names are right" }).click()
  await v.page.getByRole("heading", { name: `people-${u}.csv`, level: 1 }).waitFor()
  await v.page.getByText("3 of 5 recognised").waitFor()
  const values = (name) => v.page.getByRole("listitem").filter({ has: v.page.getByLabel(`${name} goes to`) })
  await values("E-mail").getByText("Row left out: Enter an email address such as name@example.com.").waitFor()
  await values("Shoe").getByText("40", { exact: true }).waitFor()
  await v.page.getByLabel("Shoe goes to").selectOption({ label: "Status" })
  await values("Shoe").getByText("Left out: None of the choices, such as: lead, customer, inactive.").first().waitFor()
  await check(v.page, "portal import values")
  await v.page.getByLabel("Shoe goes to").selectOption("")
  await v.page.getByRole("cell", { name: "Zoë" }).waitFor()
  await check(v.page, "portal import mapping")
  for (const name of ["Voornaam", "Achternaam", "E-mail"]) await v.page.getByLabel(`${name} goes to`).selectOption("")
  await v.page.getByText("No column goes anywhere yet.").waitFor()
  await v.page.getByRole("button", { name: "Import 3 rows" }).click()
  await v.page.getByText("Choose where one column goes at least.").waitFor()
  await check(v.page, "portal import refused")
  await v.page.getByLabel("Voornaam goes to").selectOption({ label: "First name" })
  await v.page.getByLabel("Achternaam goes to").selectOption({ label: "Last name" })
  await v.page.getByLabel("E-mail goes to").selectOption({ label: "Email address" })
  await v.page.getByLabel("Nickname goes to").selectOption({ label: "Source" })
  await v.page.getByText("Leave them alone").click()
  await v.page.getByLabel("Tag for everybody in the file").fill("Fair " + u)
  await v.page.getByRole("link", { name: "Import contacts" }).first().click()
  await v.page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click()
  await v.page.getByRole("button", { name: "Import 3 rows" }).click()
  await v.page.getByRole("heading", { name: "The import is done" }).waitFor()
  await v.page.getByRole("heading", { name: "1 row was not imported" }).waitFor()
  await v.page.getByText("Enter an email address such as name@example.com.").waitFor()
  await check(v.page, "portal import done")
  const href = await v.page.getByRole("link", { name: "Download them" }).getAttribute("href")
  const file = await (await fetch(desk.gateway + href, { headers: desk.person.headers })).text()
  assert.match(file, /Bram/)
  await v.page.getByRole("link", { name: `See everybody with “Fair ${u}”` }).click()
  await v.page.getByRole("link", { name: "Zoë Peeters" }).waitFor()
  await v.page.getByRole("link", { name: "An Maes" }).waitFor()
  assert.equal((await desk.admin.get(`/contacts?search=zoe-${u}`)).items[0].source, "Zo")
  await v.end()
})

test("a workbook is tried, imported, corrected in place and undone; the row with the names is a choice, and cards are a file", async () => {
  const u = unique()
  const v = await member()
  await open(v, "/import", "Import contacts")
  await v.page.getByLabel("Choose a file").setInputFiles({ name: `cards-${u}.vcf`, mimeType: "text/vcard", buffer: Buffer.from(`BEGIN:VCARD\r\nVERSION:3.0\r\nN:Maes;Ann;;;\r\nFN:Ann Maes\r\nEMAIL:card-${u}@example.com\r\nEND:VCARD\r\n`) })
  await v.page.getByRole("heading", { name: `cards-${u}.vcf`, level: 1 }).waitFor()
  await v.page.getByRole("button", { name: "Import 1 row" }).waitFor()
  await v.page.getByRole("link", { name: "Import contacts" }).first().click()
  await v.page.getByLabel("Choose a file").setInputFiles({ name: `sheet-${u}.xlsx`, mimeType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", buffer: workbook([
    ["Members"], ["Who", "Where"], ["Zoë", `zoe-${u}@example.com`], ["Bram", "nowhere"], ["An", `an-${u}@example.com`],
  ]) })
  await v.page.getByRole("heading", { name: `sheet-${u}.xlsx`, level: 1 }).waitFor()
  await v.page.getByLabel("Names of the columns").selectOption({ label: "Row 2" })
  await v.page.getByLabel("Who goes to").selectOption({ label: "First name" })
  await v.page.getByLabel("Where goes to").selectOption({ label: "Email address" })
  const found = async () => (await desk.admin.get(`/contacts?search=${u}@example.com`)).total
  await v.page.getByRole("button", { name: "Try it first" }).click()
  await v.page.getByRole("heading", { name: "This would happen; nothing was changed" }).waitFor()
  await v.page.getByRole("heading", { name: "1 row was not imported" }).waitFor()
  await check(v.page, "portal import tried")
  assert.equal(await found(), 0)
  await v.page.getByRole("button", { name: "Import 3 rows" }).click()
  await v.page.getByRole("heading", { name: "The import is done" }).waitFor()
  assert.equal(await found(), 2)
  const first = new URL(v.page.url()).pathname
  await v.page.getByRole("button", { name: "Correct them here" }).click()
  await v.page.getByLabel("Row 4, Where").fill(`bram-${u}@example.com`)
  await check(v.page, "portal import repair")
  await v.page.getByRole("button", { name: "Import 1 row" }).click()
  await v.page.getByRole("button", { name: "Try it first" }).waitFor()
  await v.page.getByRole("button", { name: "Import 1 row" }).click()
  await v.page.getByRole("heading", { name: "The import is done" }).waitFor()
  assert.equal(await found(), 3)
  // What somebody touched since stays when the import is undone.
  const zoe = (await desk.admin.get(`/contacts?search=zoe-${u}`)).items[0]
  await desk.admin.post(`/contacts/${zoe.id}/notes`, { body: "Called" })
  await v.page.goto(desk.gateway + first)
  await v.page.getByRole("button", { name: "Undo the import" }).click()
  await v.page.getByRole("dialog").getByRole("button", { name: "Undo the import" }).click()
  await v.page.getByRole("heading", { name: "The import was undone" }).waitFor()
  await check(v.page, "portal import undone")
  const kept = await v.page.getByRole("link", { name: "Which and why" }).getAttribute("href")
  assert.match(await (await fetch(new URL(kept, desk.gateway), { headers: desk.person.headers })).text(), new RegExp(`zoe-${u}|Zoë`))
  assert.equal(await found(), 2)
  await v.end()
})

test("a file of an old Mac is shown where its letters tell, and read as the person chooses", async () => {
  const u = unique()
  const v = await member()
  await open(v, "/import", "Import contacts")
  const plain = Array.from({ length: 200 }, (_, i) => `Bram,plain-${u}-${i}@example.com\r\n`).join("")
  // In Central Europe's encoding the byte 8E is a letter as well.
  await choose(v, `mac-${u}.csv`, Buffer.concat([Buffer.from(`First name,Email\r\n${plain}Ren`), Buffer.from([0x8e]), Buffer.from(`e,renee-${u}@example.com\r\n`)]))
  const lines = v.page.getByRole("region", { name: "Lines of the file" })
  await lines.getByText(`RenŽe,renee-${u}@example.com`).waitFor()
  await v.page.getByLabel("Character set").selectOption("macintosh")
  await lines.getByText(`Renée,renee-${u}@example.com`).waitFor()
  assert.doesNotMatch(await lines.innerText(), /Bram/)
  await v.page.getByRole("button", { name: "The names are right" }).click()
  await v.page.getByRole("button", { name: "Import 201 rows" }).click()
  await v.page.getByRole("heading", { name: "The import is done" }).waitFor()
  assert.equal((await desk.admin.get(`/contacts?search=renee-${u}`)).items[0].first_name, "Renée")
  await v.end()
})

for (const [language, heading, reasons] of [
  ["en", "4 rows were not imported", ["Enter an email address such as name@example.com.", "None of the choices, such as: lead, customer, inactive.", "Use at most 100 characters.", "Give a name, an email address or a phone number."]],
  ["nl", "4 rijen zijn niet geïmporteerd", ["Geen van de keuzes, zoals: lead, customer, inactive."]],
  ["fr", "4 lignes n’ont pas été importées", ["Aucun des choix, par exemple : lead, customer, inactive."]],
  ["de", "4 Zeilen wurden nicht importiert", ["Keine der Auswahlen, etwa: lead, customer, inactive."]],
]) {
  test(`rows that failed say why in the language of the person, ${language}`, async () => {
    const m = await upload(`wrong-${unique()}.csv`, `first name,email,status\nA,nowhere,\n,,friend\n${"n".repeat(101)},,\n,,lead\n`)
    await desk.admin.post(`/imports/${m.id}/start`, {})
    const failed = await until("the import", async () => (await desk.admin.get("/imports/" + m.id)).errors.length === 4 && desk.admin.get("/imports/" + m.id))
    const v = await member({ locale: language })
    await v.page.goto(`${team()}/import/${m.id}`)
    await v.page.getByRole("heading", { name: heading }).waitFor()
    for (const reason of reasons) await v.page.getByRole("cell", { name: reason }).waitFor()
    if (language !== "en") for (const e of failed.errors) assert.equal(await v.page.getByText(e.message).count(), 0, e.message)
    await check(v.page, "portal import reasons " + language)
    await v.end()
  })
}

test("a file that is too large is refused before anything is sent, and one that cannot be read says why", async () => {
  const v = await member()
  let sent = 0
  v.page.on("request", (r) => r.method() === "POST" && r.url().endsWith("/v1/imports") && sent++)
  await open(v, "/import", "Import contacts")
  await choose(v, "large.csv", "email\n" + "a@example.com\n".repeat(400_000))
  await v.page.getByText("large.csv is larger than 5 MB.").waitFor()
  assert.equal(sent, 0)
  await check(v.page, "portal import too large")
  await choose(v, "empty.csv", "")
  await v.page.getByText("The file cannot be read. Save it as CSV, with the names of the columns in the first row.").waitFor()
  await choose(v, "wide.csv", "x,".repeat(500) + "x\n")
  await v.page.getByText("The file has too many columns: it may have 500.").waitFor()
  await v.end()
})

test("an import that runs shows how far it came, and is found again after it was left", async () => {
  const u = unique()
  const rows = Array.from({ length: 3000 }, (_, i) => `N${i},n${i}-${u}@example.com`).join("\n")
  const m = await upload(`many-${u}.csv`, "first name,email\n" + rows)
  const v = await member()
  // The states are the API's; the test holds each until it has looked.
  let shown = { status: "running", totals: { rows: 3000, created: 1200, updated: 30, skipped: 5, failed: 2 } }
  await v.page.route("**/v1/imports/" + m.id, async (route) => {
    const answer = await route.fetch()
    const json = await answer.json()
    await route.fulfill({ response: answer, json: shown ? { ...json, ...shown } : json })
  })
  await open(v, "/import/" + m.id, `many-${u}.csv`)
  await v.page.getByText("1,237 of 3,000 rows").waitFor()
  assert.equal(await v.page.getByRole("progressbar", { name: "Importing" }).getAttribute("value"), "1237")
  await check(v.page, "portal import running")
  shown.totals.created = 2000
  await v.page.getByText("2,037 of 3,000 rows").waitFor()
  shown = undefined
  await v.page.getByRole("button", { name: "Import 3,000 rows" }).waitFor()
  await v.page.unroute("**/v1/imports/" + m.id)
  await v.page.getByRole("button", { name: "Import 3,000 rows" }).click()
  await v.page.getByText(/Running|Waiting|Done/).first().waitFor()
  await open(v, "/import", "Import contacts")
  await v.page.getByRole("link", { name: `many-${u}.csv` }).click()
  await v.page.getByRole("heading", { name: "The import is done" }).waitFor()
  assert.equal((await desk.admin.get("/imports/" + m.id)).totals.created, 3000)
  await v.end()
})

test("what is in the trash is listed by itself and comes back", async () => {
  const u = unique()
  const c = await desk.admin.post("/contacts", { first_name: "Trashed", last_name: "Person " + u })
  const o = await desk.admin.post("/organizations", { name: "Trashed Company " + u })
  await desk.admin.call("DELETE", "/contacts/" + c.id)
  await desk.admin.call("DELETE", "/organizations/" + o.id)
  const v = await member()
  for (const [path, heading, name, call] of [["/contacts", "Contacts", "Trashed Person " + u, "/contacts/" + c.id], ["/organizations", "Organizations", "Trashed Company " + u, "/organizations/" + o.id]]) {
    await open(v, `${path}?search=${u}`, heading)
    await v.page.getByText("Nothing fits").waitFor()
    await v.page.getByRole("combobox", { name: "Trash" }).selectOption({ label: "Only the trash" })
    await v.page.getByRole("link", { name }).waitFor()
    await check(v.page, `portal trash ${heading}`)
    await v.page.getByRole("button", { name: "Restore " + name }).click()
    await v.page.getByText(`${name} is back.`).waitFor()
    await v.page.getByText("Nothing fits").waitFor()
    assert.equal((await desk.admin.get(call)).deleted_at, null)
  }
  await v.end()
})

test("what fails to load says so and loads again; without permission there is no import", async () => {
  const v = await deaf(await member())
  await refused(v, { "/import": "*/v1/imports?*" })
  await intercept(v.page, ["*/v1/imports?*"], nothing)
  await v.page.goto(team() + "/import")
  await v.page.getByText("Nothing was imported yet").waitFor()
  await check(v.page, "portal imports empty")
  await v.page.goto(team() + "/import/0194c3b2-5f5e-7000-8000-000000000000")
  await v.page.getByText("This record does not exist").waitFor()
  await beginWith(v.page, (s) => s.replaceAll("svc_import_contacts", "svc_none"))
  await open(v, "/contacts", "Contacts")
  assert.equal(await v.page.getByRole("link", { name: "Import", exact: true }).count(), 0)
  await v.page.goto(team() + "/import")
  await v.page.getByText("This is not open to you").waitFor()
  await v.end()
})

test("every screen of imports, in every mode", async () => {
  const u = unique()
  const waiting = await upload(`waiting-${u}.csv`, "first name,email,A column with a long name that nobody knows\nAn,an-x@example.com,1\n")
  const done = await upload(`done-${u}.csv`, `first name,email\nAn,ann-${u}@example.com\nBo,nobody\n`)
  await desk.admin.post(`/imports/${done.id}/start`, { options: { tag: "Done " + u } })
  await until("the end of the import", async () => (await desk.admin.get("/imports/" + done.id)).status === "completed")
  await checkScreens("import", (page) => [
    ["/import", page.getByRole("link", { name: `done-${u}.csv` })], ["/import/" + waiting.id, page.getByRole("button", { name: "Import 1 row" }), "mapping"],
    ["/import/" + done.id, page.getByRole("heading", { name: "1 row was not imported" }), "done"], ["/contacts?deleted=true", page.getByRole("heading", { name: "Contacts", level: 1 })],
  ])
})
