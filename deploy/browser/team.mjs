// What a test file begins with: a business that is set up, a browser, and the administrator in it.
import { readFileSync } from "node:fs"
import { check, checkModes, failed, gone, intercept, launch, member as signedIn, patience, tidy } from "./browser.mjs"
import { Client, known, mailLink, password, pause, ripe, setUp, until } from "./system.mjs"

/** The business of the file that runs, and the browser of its process. */
export let desk, browser

/** Sets a business up for the file that comes. The browser is the one of the file before, with nothing open, if that file has not broken it. */
export async function begin() {
  if (browser?.isConnected()) await tidy(browser)
  else browser = await launch()
  desk = await setUp()
}

/** The address and the text of each page that is open: of what is in front, a dialog or else what the page is about. */
export async function shown() {
  const open = browser.contexts().flatMap((c) => c.pages()).filter((page) => !page.url().endsWith("/robots.txt"))
  const text = (page) => page.evaluate(() => (document.querySelector("dialog[open]") ?? document.querySelector("main") ?? document.body).innerText.slice(0, 2000))
  // A page may answer no more.
  const says = (page) => Promise.race([text(page).catch((e) => e.message), pause(2000).then(() => "(no answer)")])
  return (await Promise.all(open.map(async (page) => `${page.url()} shows:\n${await says(page)}`))).join("\n\n")
}

/** The address of the portal. */
export const team = () => desk.gateway + "/team"

/** A page of the administrator, or of whose cookie it is, in a browser elsewhere in the world: times have to be the business's all the same. */
export const member = (options) => signedIn(browser, desk, options)

/** Opens a screen, and waits for its heading. */
export async function open(v, path, heading) {
  await v.page.goto(team() + path)
  await v.page.getByRole("heading", { name: heading, level: 1 }).waitFor()
}

/** Opens a screen, and waits until the stream of changes has begun too. */
export async function openListening(v, path, heading) {
  const network = await v.context.newCDPSession(v.page)
  await network.send("Network.enable")
  const ready = new Promise((resolve) => network.on("Network.eventSourceMessageReceived", (e) => e.eventName === "ready" && resolve()))
  await open(v, path, heading)
  await ready
  await network.detach()
}

/** Keeps changes from a page, and answers it: one by somebody else, or by a test before, makes a screen read again by itself, also one that has failed. */
export const deaf = async (v) => {
  await intercept(v.page, ["*/v1/live*"], () => failed)
  return v
}

/**
 * Ends the session of a page that is deaf and has begun, so that it asks for nothing by itself: what the person does next is the first to hear of it.
 */
export async function endSession(v) {
  await v.page.waitForLoadState("networkidle")
  await v.context.clearCookies()
}

/** Opens screens of which a call is refused, by its pattern: they say why in the answer's words, and load when they are tried again. */
export async function refused(v, screens) {
  const message = "The clock stands still."
  for (const [path, call] of Object.entries(screens)) {
    const allow = await intercept(v.page, [call], () => ({ status: 400, json: { code: "svc_invalid", message } }))
    await v.page.goto(team() + path)
    await v.page.getByText("This could not be loaded").waitFor()
    await v.page.getByText(message).waitFor()
    await check(v.page, "portal failed " + path.replace(/\d+/, "one"))
    await allow()
    await v.page.getByRole("button", { name: "Try again" }).click()
    await v.page.getByText(message).waitFor({ state: "detached" })
  }
}

/** An answer for a list in which nothing is. */
export const nothing = () => ({ json: { items: [], next_cursor: null, total: 0 } })

/** Goes to a screen by the program's router, and waits until it has taken the place of the one before. */
export async function go(v, path) {
  await v.page.evaluate(async ([to, patience]) => {
    history.pushState({}, "", to)
    for (let waited = 0; waited === 0 || globalThis.__TSR_ROUTER__.state.status !== "idle"; waited += 20) {
      if (waited > patience) throw new Error(to + " does not open")
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }, [new URL(team() + path).href, patience])
}

/**
 * Checks screens in every mode, in one page that loads once. screensOf gives of a page their paths, what shows that each is there, and
 * its name unless that is the path. The first screen is then loaded on a small screen in the dark; with a language, all are looked at in it.
 */
export async function checkScreens(area, screensOf, { language } = {}) {
  const look = async (v, [path, ready, name = path], inspect) => {
    await go(v, path)
    await ready.first().waitFor()
    await gone(v.page, ".skeleton")
    await inspect(v.page, `portal ${area} ${name}`)
  }
  const v = await member()
  const all = screensOf(v.page)
  await v.page.goto(team() + all[0][0])
  for (const screen of all) await look(v, screen, checkModes)
  await v.end()
  const dark = await member({ colorScheme: "dark", viewport: { width: 320, height: 720 }, hasTouch: true, ...(language && { locale: language }) })
  const [first, ...others] = screensOf(dark.page)
  await dark.page.goto(team() + first[0])
  for (const screen of [first, ...(language ? others : [])]) await look(dark, screen, (page, name) => check(page, `${name} begun dark ${language ?? ""}`))
  await dark.end()
}

/** A moment as the business's clock and calendar show it: "2026-11-24 23:45". */
export const wall = (moment) => new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Brussels", dateStyle: "short", timeStyle: "short" }).format(new Date(moment))
export const dayOf = (moment) => wall(moment).slice(0, 10)

let count = 0
/** A text that no other call returns. */
export const unique = () => Date.now().toString(36).slice(-5) + count++

/** Every screen by its path: the app that has to be on, what the person may and sees, and the calls with which it begins. The build writes it. */
export const screens = Object.entries(JSON.parse(readFileSync(new URL("../../services/settings/internal/portal/dist/screens.json", import.meta.url))))

/** Somebody who has accepted an invitation: their account, the session of their browser, and a client with that session. */
export async function colleague(role = "staff") {
  const name = "Bram " + unique()
  const email = name.replace(" ", ".").toLowerCase() + "@example.com"
  const { user_id } = await desk.person.post("/staff", { name, email, role })
  const token = new URL(await mailLink(email, "/account/invitation")).hash.replace("#token=", "")
  await new Client().post("/auth/invitation", { token, password })
  const login = await new Client().call("POST", "/auth/login", { login: email, password })
  const cookie = login.headers.getSetCookie().map((c) => c.split(";")[0]).find((c) => c.startsWith("svc_session="))
  await until("the colleague", async () => (await desk.admin.get("/staff")).items.some((m) => m.user_id === user_id && !m.invited))
  return { user_id, name, email, cookie, api: await known(new Client({ Cookie: cookie })) }
}

/** An answer of each kind, and what the kinds that are chosen from offer. */
const answers = { number: "1250.50", date: "2031-05-04", url: "https://linde.example", checkbox: true, long_text: "Roses along the wall,\nand a bench.", dropdown: "Street", choices: ["Morning", "Noon"] }
const offered = { dropdown: ["Garden", "Street"], choices: ["Morning", "Noon", "Evening"] }

/** A question of each kind, for custom fields of contacts that all files share. */
async function questions() {
  const label = (type) => "Our " + type
  for (const type of Object.keys(answers)) {
    await desk.admin.post("/fields", { entity: "contact", type, label: label(type), options: offered[type] }).catch((e) => {
      if (e.status !== 409) throw e
    })
  }
  const { items } = await desk.admin.get("/fields?entity=contact")
  return Object.keys(answers).map((type) => ({ id: type, type: "field", target: "contact.fields." + items.find((f) => f.label === label(type)).key, label: "My " + type, help: "As you like", required: type === "choices" }))
}

/**
 * Makes a record for each screen of one record, with all that it can show, and answers its id by the screen's path; for the calendar, the day of the
 * appointment. request is the id of an appointment that waits for an answer, and client the name in both. Contact, appointments, submission and import are of
 * the person whose client it is, and have mark in all their texts; the others are everybody's.
 */
export async function records({ api = desk.admin, user = desk.user, mark = "Mark" + unique() } = {}) {
  const email = mark.toLowerCase() + "@example.com"
  const organization = await desk.admin.post("/organizations", { name: "Bakery " + unique() })
  const elements = [
    { id: "head", type: "heading", level: 2, text: "Tell us about your garden" }, { id: "text", type: "paragraph", text: "A few lines are enough.\nWe come by and look around." },
    { id: "first", type: "field", target: "contact.first_name", width: "half" }, { id: "phone", type: "field", target: "contact.phone", width: "half", placeholder: "+32 …" }, { id: "email", type: "field", target: "contact.email", required: true },
    { id: "words", type: "field", target: "submission.fields.words", label: "Your words" }, ...(await questions()),
    { id: "privacy", type: "consent", text: "You may keep my details to answer this.", purpose: "privacy", required: true }, { id: "news", type: "consent", text: "Send me the garden letter.", purpose: "newsletter", marketing: true },
  ]
  // Each service takes fields, forms and people as soon as it has heard of them.
  const form = await until("the fields at forms", () => desk.admin.post("/forms", { name: "Question " + unique(), status: "publish", definition: { elements } }).catch(() => undefined))
  const other = await desk.person.post("/staff", { name: "Cas " + unique(), email: `cas-${unique()}@example.com`, role: "staff" })
  const service = await until("the form and the people at booking", () => desk.admin.post("/services", { name: "Talk " + unique(), description: "We sit down together.\nBring what you have drawn.", duration_min: 30, price: "62.50",
    location_type: "in_person", location_details: "Lindelaan 12, Gent", form_id: form.id, staff: [user, other.user_id] }).catch(() => undefined))
  const page = await desk.admin.post("/pages", { title: "About " + unique() })
  const visitor = new Client()
  const { token } = await visitor.get(`/forms/${form.id}/token`)
  const shown = Date.now()
  const { webhook } = await desk.admin.post("/webhooks", { name: "Accounting " + unique(), url: desk.gateway + "/hooks", events: ["contact.created"], active: false })
  const contact = await api.post("/contacts", { first_name: "Ada", last_name: mark, email, owner_user_id: user })
  await api.patch("/contacts/" + contact.id, { mode: "overwrite", source: "Fair " + mark })
  await api.post(`/contacts/${contact.id}/notes`, { body: "Likes " + mark })
  const soon = Math.ceil(Date.now() / 900_000) * 900_000
  const book = (starts, status) => until("a free time and the right to book it", () => api.post("/appointments", { contact: contact.id, service: service.id, staff: user, starts_at: new Date(starts).toISOString(), outside_hours: true, status, notes: "Bring " + mark })
    .catch((e) => {
      if (e.status === 409) starts += 1_800_000
      else if (e.status !== 403) throw e
    }))
  const appointment = await book(soon, "confirmed")
  const request = await book(soon + 86_400_000, "pending")
  const upload = await api.post("/imports", { file_name: mark + ".csv", csv: `Voornaam,E-mail\r\n${mark},${mark}-2@example.com\r\n` })
  await ripe(shown)
  await visitor.post(`/forms/${form.id}/submit`, { token, hp_url: "", values: { first: "Ada", phone: "+32 470 11 22 33", email, words: "Words of " + mark, ...answers, privacy: true } })
  const submission = await until("the submission", async () => (await api.get("/submissions?form=" + form.id)).items[0])
  return {
    "/contacts/$id": contact.id, "/organizations/$id": organization.id, "/appointments/$id": appointment.id, "/services/$id": service.id, "/people/$id": user,
    "/forms/$id": form.id, "/submissions/$id": submission.id, "/import/$id": upload.id, "/webhooks/$id": webhook.id, "/pages/$id": page.id,
    "/calendar": dayOf(appointment.starts_at), request: request.id, client: "Ada " + mark,
  }
}
