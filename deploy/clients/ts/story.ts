// The story of README.md by the SDK: what does not fit the document does not compile. It calls by way of a proxy that is unsteady (run.mjs).
import { Frontdesk, FrontdeskError } from "./index.js"

declare const process: { env: Record<string, string> }

const { API, LOGIN, KEY, ME, MAILS } = process.env as Record<"API" | "LOGIN" | "KEY" | "ME" | "MAILS", string>
const me = Number(ME)
const visitor = new Frontdesk({ url: API })
const desk = new Frontdesk({ url: API, login: LOGIN, key: KEY })

function assert(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** The error of a call that is refused. */
async function refused(call: Promise<unknown>): Promise<FrontdeskError> {
  const error = await call.then(() => undefined, (e: unknown) => e)
  assert(error instanceof FrontdeskError, "not refused")
  return error
}

async function until<T>(what: string, ok: () => Promise<T | undefined | false>): Promise<T> {
  for (let i = 0; i < 100; i++) {
    const found = await ok()
    if (found) return found
    await new Promise<void>((done) => setTimeout(done, 100))
  }
  throw new Error("waited in vain for " + what)
}

const service = await desk.post("/services", { body: { name: "Consultation by TypeScript", duration_min: 30, bookable_online: true, staff: [me] } })
const day: [string, string][] = [["09:00", "17:00"]]
await desk.put("/staff/{user}/hours", { params: { path: { user: me } }, body: { hours: { "1": day, "2": day, "3": day, "4": day, "5": day, "6": day, "7": day } } })
const form = await desk.post("/forms", {
  body: {
    name: "Contact by TypeScript",
    status: "publish",
    definition: { elements: [{ id: "email", type: "field", target: "contact.email", label: "Email", required: true }, { id: "message", type: "field", target: "submission.fields.message", label: "Message" }] },
  },
})
const hook = await desk.post("/webhooks", { body: { name: "TypeScript", url: "http://127.0.0.1:9/hook", active: false, events: ["contact.created", "appointment.booked"] }, params: { header: { "Idempotency-Key": "story-" + service.id } } })
assert(hook.secret?.startsWith("whsec_"), "no secret")

const slots = await until("free times", async () => {
  const found = await visitor.get("/booking/slots", { params: { query: { service: service.id } } })
  return found.items.length > 1 && found // the first may have passed when it is booked
})
const { token } = await until("the form", () => visitor.get("/forms/{id}/token", { params: { path: { id: form.id } } }).catch(() => undefined))
await new Promise<void>((done) => setTimeout(done, 3200))
const ada = `ada.${service.id}@example.com`
const booked = await visitor.post("/booking/book", { body: { service: service.id, starts_at: slots.items[1]!.starts_at, token: slots.token, hp_url: "", page: "https://example.com/", values: { first_name: "Ada", last_name: "Visitor", email: ada } } })
assert(booked.status === "confirmed", "not confirmed")
await visitor.post("/forms/{id}/submit", { params: { path: { id: form.id } }, body: { token, hp_url: "", page: "https://example.com/contact", values: { email: `grace.${service.id}@example.com`, message: "Good morning" } } })

const contact = await until("the contact", async () => (await desk.get("/contacts", { params: { query: { search: ada } } })).items[0])
await until("the timeline", async () => {
  for await (const entry of desk.each("/contacts/{id}/activities", { params: { path: { id: contact.id } } })) if (entry.channel === "booking") return true
  return false
})

// Pages of one record each, and a record that somebody else changes between reading and writing it.
const seen: string[] = []
for await (const c of desk.each("/contacts", { params: { query: { search: service.id, per_page: 1 } } })) seen.push(c.id)
assert(seen.includes(contact.id) && new Set(seen).size === seen.length && seen.length === 2, "the pages have " + seen)
const path = { params: { path: { id: contact.id } } }
let reads = 0
const edited = await desk.edit("/contacts/{id}", path, async (c) => {
  if (++reads === 1) await desk.patch("/contacts/{id}", { ...path, body: { first_name: "Ada M.", mode: "overwrite" } })
  return { last_name: c.first_name + " Byron", mode: "overwrite" }
})
assert(edited.last_name === "Ada M. Byron", "not edited")

const link = await until("the mail", async () => {
  const mails = (await (await fetch(`${MAILS}/api/mails?to=${ada}`)).json()) as { items: { text: string }[] }
  return mails.items.map((m) => /\/manage#token=([A-Za-z0-9_-]+)/.exec(m.text)?.[1]).find(Boolean)
})
await visitor.post("/booking/manage", { body: { token: link } })
assert((await visitor.post("/booking/manage/cancel", { body: { token: link, reason: "ill" } })).status === "cancelled", "not cancelled")
const again = await refused(visitor.post("/booking/manage/cancel", { body: { token: link } }))
assert(["svc_token_expired", "svc_invalid_status"].includes(again.code), "a cancelled appointment was cancelled again")
const wrong = await refused(desk.get("/contacts", { params: { query: { per_page: 1000 } } }))
assert(wrong.status === 400 && wrong.code === "svc_invalid_param" && wrong.fields["per_page"] && wrong.requestId, "the error has no facts")

await desk.patch("/apps/{app}", { params: { path: { app: "booking" } }, body: { enabled: false } })
assert((await refused(visitor.get("/booking/services"))).code === "svc_no_route", "booking is not off")
await desk.patch("/apps/{app}", { params: { path: { app: "booking" } }, body: { enabled: true } })
await until("booking", () => visitor.get("/booking/services").catch(() => undefined))
console.log("TypeScript: done")
