// The one client of the REST API. Its types come from the OpenAPI document of a running system (schema.d.ts).
import createClient, { type Middleware } from "openapi-fetch"
import { noteAnswer, signInAgain } from "@/kit/session"
import { language } from "@/kit/text"
import { Fault } from "./fault"
import { newKey } from "./key"
import type { components, paths } from "./schema"

export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name]

/** Sends a request. If the session has ended it asks the person to sign in and sends the same request again. */
async function send(request: Request): Promise<Response> {
  const again = request.clone()
  const answer = await fetch(request)
  if (answer.ok) noteAnswer()
  return answer.status === 401 && (await signInAgain()) ? fetch(again) : answer
}

/** The version of each record that was last seen, by its path. A change names it, so that nobody's change is overwritten blindly. */
const versions = new Map<string, string>()

const shape: Middleware = {
  onRequest({ request }) {
    const version = versions.get(new URL(request.url).pathname)
    if (version && request.method === "PATCH" && !request.headers.has("If-Match")) request.headers.set("If-Match", version)
    if (request.method === "POST" && !request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", newKey())
    return request
  },
  async onResponse({ request, response }) {
    if (!response.ok) throw await Fault.of(response)
    const version = /"\d+"/.exec(response.headers.get("ETag") ?? "")?.[0]
    // The answer of POST /contacts/{id}/restore is the contact.
    if (version) versions.set(new URL(request.url).pathname.replace(request.method === "POST" ? /\/[a-z-]+$/ : "", ""), version)
  },
  onError({ error }) {
    return error instanceof Fault || (error instanceof Error && error.name === "AbortError") ? error : new Fault("offline", 0)
  },
}

export const api = createClient<paths>({ baseUrl: "/v1", fetch: send, credentials: "same-origin" })
api.use(shape)

/** The body of an answer. Every refusal is thrown as a Fault before. */
export async function take<A extends { data?: unknown }>(call: Promise<A>): Promise<NonNullable<A["data"]>> {
  return (await call).data as NonNullable<A["data"]>
}

/** The address of a download, which the browser fetches with its session. Exports have the separator that spreadsheets in the person's language expect. */
export function download(path: string, query: Record<string, string | string[] | undefined>): string {
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const v of [value ?? []].flat()) q.append(name, v)
  if (path.startsWith("/exports/") && language !== "en") q.set("separator", ";")
  return `/v1${path}?${q}`
}
