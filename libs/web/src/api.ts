// Calls of the public API, without credentials.
import { Fault, refused } from "./fault"

/** An error as a fault. An error of another kind means that there was no connection. */
export const asFault = (e: unknown) => (e instanceof Fault ? e : new Fault("offline", 0))

// Requests that the embedded script sent while the widget was loading.
const early: Map<string, Promise<Response>> = ((globalThis as any).svcEarly ??= new Map())

export async function call<A>(url: string, body?: unknown, key?: string): Promise<A> {
  const headers: Record<string, string> = { Accept: "application/json" }
  if (body !== undefined) headers["Content-Type"] = "application/json"
  if (key) headers["Idempotency-Key"] = key
  let answer: Response
  try {
    const held = early.get(url)
    early.delete(url)
    answer = await (held ?? fetch(url, { method: body === undefined ? "GET" : "POST", credentials: "omit", headers, body: body === undefined ? null : JSON.stringify(body) }))
  } catch (e) {
    throw asFault(e)
  }
  const json = await answer.json().catch(() => undefined)
  if (answer.ok) return json as A
  throw new Fault(...refused(answer, json))
}

/** The part of a time token before its dot: it changes with the words of the form's consents. */
export const wordsOf = (token: string) => (token.includes(".") ? token.split(".")[0] : "")
