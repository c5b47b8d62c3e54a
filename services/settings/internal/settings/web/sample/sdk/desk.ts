// The lines of the guides in TypeScript, a section for each, which make clients compiles and runs.
declare const process: { env: Record<string, string> }
const { FRONTDESK_URL, FRONTDESK_LOGIN, FRONTDESK_KEY } = process.env as Record<"FRONTDESK_URL" | "FRONTDESK_LOGIN" | "FRONTDESK_KEY", string>

// § connect
import { Frontdesk, FrontdeskError, verify } from "frontdesk-sdk"

const desk = new Frontdesk({ url: FRONTDESK_URL, login: FRONTDESK_LOGIN, key: FRONTDESK_KEY })
console.log((await desk.get("/me")).capabilities)
// § once
// Sent again with the same key when no answer comes. Without a key of yours each call has one of its own.
const tag = await desk.post("/tags", { body: { name: "From the guide" }, params: { header: { "Idempotency-Key": "8d3e7c4a" } } })
// §
const someone = await desk.post("/contacts", { body: { email: "lines.typescript@example.com" } })
const id = someone.id
// § each
for await (const contact of desk.each("/contacts", { params: { query: { status: "lead" } } })) console.log(contact.email)
// § edit
// Reads the contact and its version, and writes it only if nobody has changed it meanwhile; else it begins again.
await desk.edit("/contacts/{id}", { params: { path: { id } } }, (contact) => ({ tags: [...contact.tags, "VIP"] }))
// § error
try {
  await desk.get("/contacts", { params: { query: { per_page: 1000 } } })
} catch (e) {
  if (e instanceof FrontdeskError && e.code === "svc_invalid_param") console.log(e.fields, e.requestId)
  else throw e
}
// §
const sample = await desk.get("/webhooks/events/{event}/sample", { params: { path: { event: "contact.created" } } })
const { secret, body } = sample
const headers = Object.fromEntries(sample.headers.map((h) => [h.name, h.value]))
// § verify
const event = verify(secret, headers, body) // throws if the signature is wrong
if (event.event === "contact.created") console.log(event.id, event.data.contact.email)
// §
if (!tag.slug || event.event !== "contact.created") throw new Error("the lines did not do what the guides say")
