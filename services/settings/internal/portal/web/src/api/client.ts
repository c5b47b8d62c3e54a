// The one client of the REST API. Its types come from the OpenAPI document of a running system (schema.d.ts), by those of openapi-fetch; every
// page waits for the program, so that it has only what our operations need.
import type { Client } from "openapi-fetch"
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

type Values = Record<string, unknown>
type Call = { params?: { path?: Values; query?: Values; header?: Values }; headers?: Values; body?: unknown; signal?: AbortSignal }

/** The values that are there, a name with several of them once for each. */
export const given = (values: Values = {}) => Object.entries(values).flatMap(([name, value]) => [value ?? []].flat().map((v) => [name, String(v)]))

const calls = (method: string) => async (path: string, { params = {}, headers, body, signal }: Call = {}) => {
  const query = new URLSearchParams(given(params.query))
  const json = body !== undefined && !(body instanceof FormData)
  const request = new Request("/v1" + path.replace(/{(\w+)}/g, (_, name: string) => encodeURIComponent(String(params.path![name]))) + (query.size > 0 ? `?${query}` : ""), {
    method,
    headers: given({ "Idempotency-Key": method === "POST" ? newKey() : undefined, "Content-Type": json ? "application/json" : undefined, ...headers, ...params.header }) as [string, string][],
    body: json ? JSON.stringify(body) : ((body as FormData | undefined) ?? null),
    signal: signal ?? null,
  })
  const response = await send(request).catch((e: unknown) => {
    throw e instanceof Error && e.name === "AbortError" ? e : new Fault("offline", 0)
  })
  if (!response.ok) throw await Fault.of(response)
  const text = await response.text()
  return { data: text ? JSON.parse(text) : undefined, response }
}

/** A call of each method. Every refusal is thrown as a Fault. A POST has an Idempotency-Key of its own, unless it is given one. */
export const api = { GET: calls("GET"), POST: calls("POST"), PUT: calls("PUT"), PATCH: calls("PATCH"), DELETE: calls("DELETE") } as unknown as Pick<Client<paths>, "GET" | "POST" | "PUT" | "PATCH" | "DELETE">

/** The body of an answer, whose version versionOf knows. */
export async function take<A extends { data?: unknown; response: Response }>(call: Promise<A>): Promise<NonNullable<A["data"]>> {
  const { data, response } = await call
  return noteVersion(data as NonNullable<A["data"]>, response.headers.get("ETag"))
}

/** The header of a change that is refused when the record has another version. */
export const ifMatch = (version: string | undefined) => ({ "If-Match": version })
