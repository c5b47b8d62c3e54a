import createClient, { type Client, type ClientPathsWithMethod, type MaybeOptionalInit, type MethodResponse } from "openapi-fetch"
import { Webhook } from "standardwebhooks"
import type { components, paths, webhooks } from "./api.js"
import type { Code } from "./codes.js"

export type { components, operations, paths } from "./api.js"
export type { Code } from "./codes.js"

/** A record by its name in the OpenAPI document: Schema<"Contact">. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name]

export interface Options {
  /** The address of the API with its version, such as https://desk.example.com/v1. */
  url: string
  /** The login of a person, with an application password of theirs. Without both only public operations answer. */
  login?: string
  key?: string
  /** How often a call is sent at most, 4 when left out. */
  attempts?: number
  /** Milliseconds for each attempt, 30,000 when left out. */
  timeout?: number
  fetch?: (request: Request) => Promise<Response>
}

/** An answer that is an error, or svc_approval_needed of a call that waits for a person. Programs decide by code and reason. */
export class FrontdeskError extends Error {
  override name = "FrontdeskError"
  readonly status: number
  readonly code: Code
  /** Why, where a code has several reasons. */
  readonly reason: string | undefined
  /** A sentence for each parameter that is wrong. */
  readonly fields: Record<string, string>
  /** Finds the call in the logs of the installation. */
  readonly requestId: string | undefined
  /** All facts beside the code. */
  readonly data: Record<string, unknown>

  constructor(status: number, body: { code?: string; message?: string; data?: Record<string, unknown> } | undefined) {
    super(body?.message ?? `The server answered with ${status}.`)
    this.status = status
    this.code = body?.code ?? `http_${status}`
    this.data = body?.data ?? {}
    this.reason = this.data["reason"] as string | undefined
    this.fields = (this.data["params"] as Record<string, string> | undefined) ?? {}
    this.requestId = this.data["request_id"] as string | undefined
  }
}

type Api = Client<paths>
type Method = "get" | "post" | "put" | "patch" | "delete"
/** The second argument, which may be left out where nothing in it is required. */
type InitParam<Init> = undefined extends Init ? [Init?] : [Init]
/** The body of an answer, undefined of one that has none. */
type Answer<M extends Method, P extends ClientPathsWithMethod<Api, M>, Init = {}> = [MethodResponse<Api, M, P, Init>] extends [never] ? undefined : MethodResponse<Api, M, P, Init>
type Call<M extends Method> = <P extends ClientPathsWithMethod<Api, M>, Init extends MaybeOptionalInit<paths[P], M>>(path: P, ...init: InitParam<Init>) => Promise<Answer<M, P, Init>>

type Page = { items: unknown[]; next_cursor: string | null }
type ListPath = { [P in ClientPathsWithMethod<Api, "get">]: MethodResponse<Api, "get", P> extends Page ? P : never }[ClientPathsWithMethod<Api, "get">]
type EditPath = ClientPathsWithMethod<Api, "get"> & ClientPathsWithMethod<Api, "patch">
type Body<P extends EditPath> = NonNullable<MaybeOptionalInit<paths[P], "patch">> extends { body?: infer B } ? NonNullable<B> : never
type Loose = (path: string, init?: unknown) => Promise<{ data: unknown; response: Response }>

/** An installation of Frontdesk, called as one person or as nobody. An error of the API is thrown as FrontdeskError. */
export class Frontdesk {
  /** What openapi-fetch makes of the document, for the headers of an answer. It retries and throws like the methods here. */
  readonly raw: Api

  constructor({ url, login, key, attempts = 4, timeout = 30_000, fetch = globalThis.fetch }: Options) {
    const headers = login === undefined ? {} : { Authorization: "Basic " + base64(`${login}:${key ?? ""}`) }
    this.raw = createClient<paths>({ baseUrl: url.replace(/\/+$/, ""), headers, fetch: (request) => send(request, { attempts, timeout, fetch }) })
  }

  get: Call<"get"> = (path, ...init) => this.#data("GET", path, init)
  post: Call<"post"> = (path, ...init) => this.#data("POST", path, init)
  put: Call<"put"> = (path, ...init) => this.#data("PUT", path, init)
  patch: Call<"patch"> = (path, ...init) => this.#data("PATCH", path, init)
  delete: Call<"delete"> = (path, ...init) => this.#data("DELETE", path, init)

  /** All records of a list, page by page. */
  async *each<P extends ListPath, Init extends MaybeOptionalInit<paths[P], "get">>(path: P, ...[init]: InitParam<Init>): AsyncGenerator<MethodResponse<Api, "get", P> extends { items: (infer T)[] } ? T : never> {
    const { params, ...rest } = (init ?? {}) as { params?: { query?: object } }
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { ...params?.query, ...(cursor !== undefined && { cursor }) }
      const { data } = await (this.raw.GET as Loose)(path, { ...rest, params: { ...params, query } })
      const page = data as Page
      yield* page.items as never[]
      cursor = page.items.length > 0 ? page.next_cursor : null // a feed of events keeps its cursor at the end
    }
  }

  /**
   * Changes a record as change says, only as it was read (If-Match). If somebody else has changed it meanwhile, it is read
   * again and change is asked again, three times at most.
   */
  async edit<P extends EditPath, Init extends MaybeOptionalInit<paths[P], "get">>(path: P, init: Init, change: (record: MethodResponse<Api, "get", P>) => Body<P> | Promise<Body<P>>): Promise<MethodResponse<Api, "patch", P>> {
    for (let attempt = 1; ; attempt++) {
      const { data, response } = await (this.raw.GET as Loose)(path, init)
      const headers = { "If-Match": response.headers.get("ETag") }
      try {
        return (await (this.raw.PATCH as Loose)(path, { ...init, headers, body: await change(data as never) })).data as never
      } catch (e) {
        if (attempt === 3 || !(e instanceof FrontdeskError && e.status === 412)) throw e
      }
    }
  }

  async #data(method: Uppercase<Method>, path: string, [init]: unknown[]): Promise<never> {
    return (await (this.raw[method] as Loose)(path, init)).data as never
  }
}

/** An event as a webhook with the format svc sends it; the name in event decides what data is. */
export type Event = { [Name in keyof webhooks]: webhooks[Name]["post"]["requestBody"]["content"]["application/json"] }[keyof webhooks]

/** The event of a delivery whose signature is right. body is what arrived, byte by byte. Any other delivery throws. */
export function verify(secret: string, headers: Headers | Record<string, string | string[] | undefined>, body: string): Event {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  return new Webhook(secret).verify(body, Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? "")]))) as Event
}

interface Sending {
  attempts: number
  timeout: number
  fetch: (request: Request) => Promise<Response>
}

/**
 * Sends a request until it is answered by something else than 429 and 503. A request without an answer is sent again if that does nothing
 * twice: a POST has an Idempotency-Key, the same in each attempt; one to /auth/, a DELETE, and what has an If-Match, are sent once.
 */
async function send(request: Request, { attempts, timeout, fetch }: Sending): Promise<Response> {
  if (request.method === "POST" && !request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", crypto.randomUUID())
  const repeatable = request.method !== "DELETE" && !request.headers.has("If-Match") && !/\/v1\/auth\//.test(request.url)
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= attempts
    let wait = 250 * 2 ** (attempt - 1) * (0.5 + Math.random())
    try {
      const answer = await fetch(new Request(request.clone(), { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]) }))
      const waits = answer.status === 202 && answer.headers.get("Location")?.includes("/v1/approvals/")
      if ((answer.ok && !waits) || answer.status === 304) return answer
      if (waits || last || (answer.status !== 429 && answer.status !== 503)) throw new FrontdeskError(answer.status, await answer.json().catch(() => undefined))
      await answer.body?.cancel()
      wait = Math.min(Number(answer.headers.get("Retry-After")) * 1000, 60_000) || wait
    } catch (e) {
      if (last || e instanceof FrontdeskError || !repeatable || request.signal.aborted) throw e
    }
    await pause(wait, request.signal)
  }
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason))
    const timer = setTimeout(() => (signal.removeEventListener("abort", stop), resolve()), milliseconds)
    signal.addEventListener("abort", stop, { once: true })
  })

const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
