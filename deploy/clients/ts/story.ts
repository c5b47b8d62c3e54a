// The story of README.md by openapi-fetch, with types of openapi-typescript: what does not fit the document does not compile.
import createClient from "openapi-fetch"
import type { components, paths } from "./api.js"

declare const process: { env: Record<string, string> }
declare const console: { log(text: string): void }
declare const btoa: (text: string) => string
declare const fetch: typeof globalThis.fetch
declare const setTimeout: (f: () => void, ms: number) => void

const { API, LOGIN, KEY, ME, MAILS } = process.env as Record<"API" | "LOGIN" | "KEY" | "ME" | "MAILS", string>
const me = Number(ME)
const visitor = createClient<paths>({ baseUrl: API })
const desk = createClient<paths>({ baseUrl: API, headers: { Authorization: "Basic " + btoa(`${LOGIN}:${KEY}`) } })

/** The data of an answer; its error, with the code, is thrown. */
function ok<T>(a: { data?: T; error?: components["schemas"]["Error"] }): T {
  if (a.error) throw new Error(`${a.error.code}: ${a.error.message}`)
  return a.data as T
}

async function until<T>(what: string, ok: () => Promise<T | undefined | false>): Promise<T> {
  for (let i = 0; i < 100; i++) {
    const found = await ok()
    if (found) return found
    await new Promise<void>((done) => setTimeout(done, 100))
  }
  throw new Error("waited in vain for " + what)
}

const service = ok(await desk.POST("/services", { body: { name: "Consultation by TypeScript", duration_min: 30, bookable_online: true, staff: [me] } }))
const day: [string, string][] = [["09:00", "17:00"]]
ok(await desk.PUT("/staff/{user}/hours", { params: { path: { user: me } }, body: { hours: { "1": day, "2": day, "3": day, "4": day, "5": day, "6": day, "7": day } } }))
const form = ok(
  await desk.POST("/forms", {
    body: {
      name: "Contact by TypeScript",
      status: "publish",
      definition: { elements: [{ id: "email", type: "field", target: "contact.email", label: "Email", required: true }, { id: "message", type: "field", target: "submission.fields.message", label: "Message" }] },
    },
  }),
)
const hook = ok(await desk.POST("/webhooks", { body: { name: "TypeScript", url: "http://127.0.0.1:9/hook", active: false, events: ["contact.created", "appointment.booked"] }, params: { header: { "Idempotency-Key": "story-" + service.id } } }))
if (!hook.secret?.startsWith("whsec_")) throw new Error("no secret")

const slots = await until("free times", async () => {
  const a = await visitor.GET("/booking/slots", { params: { query: { service: service.id } } })
  return a.data && a.data.items.length > 0 && a.data
})
const { token } = ok(await until("the form", async () => { const a = await visitor.GET("/forms/{id}/token", { params: { path: { id: form.id } } }); return a.data && a }))
await new Promise<void>((done) => setTimeout(done, 3200))
const ada = `ada.${service.id}@example.com`
const booked = ok(await visitor.POST("/booking/book", { body: { service: service.id, starts_at: slots.items[0]!.starts_at, token: slots.token, hp_url: "", page: "https://example.com/", values: { first_name: "Ada", last_name: "Visitor", email: ada } } }))
if (booked.status !== "confirmed") throw new Error("not confirmed")
ok(await visitor.POST("/forms/{id}/submit", { params: { path: { id: form.id } }, body: { token, hp_url: "", page: "https://example.com/contact", values: { email: `grace.${service.id}@example.com`, message: "Good morning" } } }))

const contact = await until("the contact", async () => ok(await desk.GET("/contacts", { params: { query: { search: ada } } })).items[0])
const timeline = await until("the timeline", async () => {
  const entries = ok(await desk.GET("/contacts/{id}/activities", { params: { path: { id: contact.id } } })).items
  return entries.some((e) => e.channel === "booking") && entries
})
console.log(`contact ${contact.id} with ${timeline.length} entries`)

const link = await until("the mail", async () => {
  const mails = (await (await fetch(`${MAILS}/api/mails?to=${ada}`)).json()) as { items: { text: string }[] }
  return mails.items.map((m) => /\/manage#token=([A-Za-z0-9_-]+)/.exec(m.text)?.[1]).find(Boolean)
})
ok(await visitor.POST("/booking/manage", { body: { token: link } }))
if (ok(await visitor.POST("/booking/manage/cancel", { body: { token: link, reason: "ill" } })).status !== "cancelled") throw new Error("not cancelled")
const again = await visitor.POST("/booking/manage/cancel", { body: { token: link } })
if (!again.error || !["svc_token_expired", "svc_invalid_status"].includes(again.error.code)) throw new Error("a cancelled appointment was cancelled again")

ok(await desk.PATCH("/apps/{app}", { params: { path: { app: "booking" } }, body: { enabled: false } }))
const off = await visitor.GET("/booking/services")
if (off.error?.code !== "svc_no_route") throw new Error("booking is not off")
ok(await desk.PATCH("/apps/{app}", { params: { path: { app: "booking" } }, body: { enabled: true } }))
await until("booking", async () => (await visitor.GET("/booking/services")).data)
console.log("TypeScript: done")
