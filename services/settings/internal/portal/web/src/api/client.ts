// The one client of the REST API. Its types come from the OpenAPI document of a running system (schema.d.ts).
import createClient, { type Middleware } from "openapi-fetch"
import { Fault } from "./fault"
import { newKey } from "@/../../../../../../libs/web/src/key"
import type { components, paths } from "./schema"
import { noteVersion } from "./version"

export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name]

/** What the program does about the session: answered runs after each good answer, ended asks the person to sign in and says whether they did. */
export const session = { answered: () => {}, ended: () => Promise.resolve(false) }

/** Sends a request. If the session has ended it asks the person to sign in and sends the same request again. */
async function send(request: Request): Promise<Response> {
  const again = request.clone()
  const answer = await fetch(request)
  if (answer.ok) session.answered()
  return answer.status === 401 && (await session.ended()) ? fetch(again) : answer
}

const shape: Middleware = {
  onRequest({ request }) {
    if (request.method === "POST" && !request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", newKey())
    return request
  },
  async onResponse({ response }) {
    if (!response.ok) throw await Fault.of(response)
  },
  onError({ error }) {
    return error instanceof Fault || (error instanceof Error && error.name === "AbortError") ? error : new Fault("offline", 0)
  },
}

export const api = createClient<paths>({ baseUrl: "/v1", fetch: send, credentials: "same-origin" })
api.use(shape)

/** The body of an answer, whose version versionOf knows. Every refusal is thrown as a Fault before. */
export async function take<A extends { data?: unknown; response: Response }>(call: Promise<A>): Promise<NonNullable<A["data"]>> {
  const { data, response } = await call
  return noteVersion(data as NonNullable<A["data"]>, response.headers.get("ETag"))
}

/** The header of a change that is refused when the record has another version. */
export const ifMatch = (version: string | undefined) => ({ "If-Match": version })

/** The address of a download, which the browser fetches with its session. Exports have the separator that spreadsheets in the person's language expect. */
export function download(path: string, query: Record<string, string | string[] | undefined>): string {
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const v of [value ?? []].flat()) q.append(name, v)
  if (path.startsWith("/exports/") && document.documentElement.lang !== "en") q.set("separator", ";")
  return `/v1${path}?${q}`
}
