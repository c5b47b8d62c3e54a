// The system under test: the processes that `make run` starts, calls of its API, its mails, and a business that is set up.
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")
export const password = "correct horse battery staple"
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The first answer of ok() that is not false or empty. It throws if ok() gives no such answer within so many seconds. */
export async function until(what, ok, seconds = 20) {
  // It looks less often the longer it takes.
  for (const began = Date.now(); ; await pause(Math.max(50, (Date.now() - began) / 10))) {
    const found = await ok()
    if (found) return found
    if (Date.now() > began + seconds * 1000) throw new Error("waited in vain for " + what)
  }
}

/** Waits until a form that was there at this time may be sent: the services take it for a program's within three seconds. */
export const ripe = (shown) => pause(Math.max(0, shown + 3100 - Date.now()))

/**
 * Starts a system by `local with` (deploy/local/README.md), with more variables: its data folder, and a function that stops it. With
 * E2E_DATA_DIR it is the one that runs there.
 */
export async function start(variables = {}) {
  // The command that the system is there for says where it is, and waits for the end of its input, which comes when this process ends too.
  const command = ["with", "--", "sh", "-c", 'echo "$E2E_DATA_DIR" && exec cat']
  const system = spawn(join(root, ".run/bin/local"), command, { cwd: root, env: { ...process.env, SVC_ADMIN_PASSWORD: password, ...variables }, detached: true, stdio: ["pipe", "pipe", 2] })
  const end = new Promise((resolve) => system.once("exit", resolve))
  const dir = await Promise.race([new Promise((resolve) => system.stdout.once("data", (line) => resolve(String(line).trim()))), end])
  if (typeof dir !== "string") throw new Error("the system ended before it was ready")
  return { dir, stop: () => (system.stdin.end(), end) }
}

/** The content of run.json. */
export const state = (dir = process.env.E2E_DATA_DIR) => JSON.parse(readFileSync(join(dir, "run.json"), "utf8"))

/** Runs statements in the system's database as its administrator, by psql, and answers what they print. */
export function sql(...statements) {
  const { status, stdout, stderr, error } = spawnSync("psql", ["-qAt", "-v", "ON_ERROR_STOP=1", state().database_url, ...statements.flatMap((s) => ["-c", s])], { encoding: "utf8" })
  if (status !== 0) throw new Error("psql: " + (error?.message ?? stderr))
  return stdout.trim()
}

/** Calls the API with these headers. An answer that is not ok throws an error with its status. */
export class Client {
  constructor(headers = {}) {
    this.headers = headers
  }
  async call(method, path, body) {
    const answer = await fetch(state().gateway + "/v1" + path, { method, headers: { ...this.headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) }, body: body === undefined ? undefined : JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${text}`), { status: answer.status })
    return { json: text ? JSON.parse(text) : undefined, headers: answer.headers }
  }
  get = async (path) => (await this.call("GET", path)).json
  post = async (path, body) => (await this.call("POST", path, body)).json
  put = async (path, body) => (await this.call("PUT", path, body)).json
  patch = async (path, body) => (await this.call("PATCH", path, body)).json
}

/**
 * The client, once every service knows its credential. A service waits 0.4 s for one that was just made, and beside other programs it takes longer
 * to reach it.
 */
export async function known(client) {
  for (const path of ["/me", "/services", "/forms", "/webhooks", "/contacts"]) await until("the credential at " + path, () => client.get(path).then(() => true, (e) => e.status && e.status !== 401 && e.status < 500))
  return client
}

/** Sets up a business: clients of its administrator with a key (admin) and in a browser (person), three services, hours, the booking page. */
export async function setUp() {
  const visitor = new Client()
  const login = await visitor.call("POST", "/auth/login", { login: state().admin?.login || "admin", password: state().admin?.password || process.env.SVC_ADMIN_PASSWORD || password })
  const cookie = login.headers.getSetCookie().map((c) => c.split(";")[0]).find((c) => c.startsWith("svc_session="))
  const person = await known(new Client({ Cookie: cookie }))
  const me = await person.get("/me")
  const key = await person.post("/me/application-passwords", { name: "browser tests " + Date.now() })
  const admin = await known(new Client({ Authorization: "Basic " + Buffer.from(`${state().admin?.login || "admin"}:${key.password}`).toString("base64") }))
  // A test that failed in a file before this one may have left an app off, or the look of forms.
  for (const app of (await admin.get("/apps")).items) if (!app.enabled) await admin.patch("/apps/" + app.id, { enabled: true })
  const look = Object.entries(await admin.get("/settings/form-style")).filter(([, value]) => value !== null)
  if (look.length > 0) await admin.patch("/settings/form-style", Object.fromEntries(look.map(([name]) => [name, null])))
  await admin.patch("/settings/general", { business: { name: "Praktijk Linde", phone: "+32 9 123 45 67", website: "https://linde.example" }, country: "BE", currency: "EUR" })
  await person.patch("/settings/portal", { booking_page: true, host: "", staff_out: false })
  const week = Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((d) => [d, [["09:00", "12:00"], ["13:00", "17:30"]]]))
  await until("booking", () => admin.put(`/staff/${me.user_id}/hours`, { hours: week }).catch((e) => (e.status === 404 ? undefined : Promise.reject(e))))
  await admin.patch("/settings/booking", { min_notice_min: 0, max_advance_days: 90, cancel_notice_hours: 2, client_changes: true, late_cancel_text: "", terms_text: "You can move or cancel until two hours before. We keep your details only for this appointment." })
  const service = (fields) => admin.post("/services", { staff: [me.user_id], bookable_online: true, ...fields })
  const intake = await service({ name: "First visit " + stamp(), description: "We get to know you and make a plan together.", duration_min: 60, price: "75", location_type: "in_person", location_details: "Lindelaan 12, Gent", sort_order: 1 })
  const followUp = await service({ name: "Follow-up " + stamp(), duration_min: 30, price: "45.50", location_type: "online", confirmation: "review", sort_order: 2 })
  const visit = await service({ name: "Home visit " + stamp(), duration_min: 90, location_type: "client", sort_order: 3 })
  const bookPage = state().gateway + "/team/book"
  await until("the booking page", async () => (await fetch(bookPage + "?service=" + intake.id)).ok)
  await until("free times", async () => (await visitor.get("/booking/slots?service=" + visit.id).catch(() => ({ items: [] }))).items.length > 5)
  return { admin, person, user: me.user_id, intake, followUp, visit, bookPage, gateway: state().gateway }
}

/** A colleague who accepted the invitation and works at the same hours every day: the user id. */
export async function hire(admin, name, hours) {
  const email = `team-${stamp()}@example.com`
  const { user_id } = await admin.post("/staff", { name, email, role: "staff" })
  const token = new URL(await mailLink(email, "/account/invitation")).hash.split("token=")[1]
  await new Client().post("/auth/invitation", { token, password: "long enough 1" })
  await until("the member of the team", async () => (await admin.get("/staff")).items.some((s) => s.user_id === user_id && !s.invited))
  await admin.put(`/staff/${user_id}/hours`, { hours: Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((d) => [d, hours])) })
  return user_id
}

let count = 0
const stamp = () => Date.now().toString(36).slice(-4) + (count++).toString(36)

/** The mails to an address, newest first. */
export const mails = async (to) => (await (await fetch(state().mail_page + "/api/mails?to=" + encodeURIComponent(to))).json()).items

/** The link to path in the newest mail to an address, once n mails have one. It leads to this system's gateway. */
export const mailLink = async (to, path, n = 1) =>
  until(`mail ${n} with ${path} to ${to}`, async () => {
    const links = (await mails(to)).map((m) => new RegExp(`https?://[^\\s]*${path}[^\\s]*`).exec(m.text)?.[0]).filter(Boolean)
    if (links.length < n) return undefined
    const link = new URL(links[0])
    return state().gateway + link.pathname + link.search + link.hash
  })
