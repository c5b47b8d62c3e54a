// Calls of the public API, without credentials.
import { Fault, refused } from "./fault"

/** An error as a fault. An error of another kind means that there was no connection. */
export const asFault = (e: unknown) => (e instanceof Fault ? e : new Fault("offline", 0))

// Requests that the embedded script sent while the widget was loading.
const early: Map<string, Promise<Response>> = ((globalThis as any).svcEarly ??= new Map())

/** Gets what is at an address, or posts a body to it. With the same key a body has its effect once, however often it is posted. */
export async function call<A>(url: string, body?: object, key = ""): Promise<A> {
  const held = early.get(url)
  early.delete(url)
  const json = "application/json"
  const headers: Record<string, string> = { Accept: json, ...(body && { "Content-Type": json, "Idempotency-Key": key }) }
  const answer = await (held ?? fetch(url, { method: body ? "POST" : "GET", credentials: "omit", headers, body: JSON.stringify(body) })).catch((e) => {
    throw asFault(e)
  })
  const given = await answer.json().catch(() => {})
  if (answer.ok) return given as A
  throw new Fault(...refused(answer, given))
}

/** The part of a time token before its dot: it changes with the words of the form's consents. */
export const wordsOf = (token: string) => (token.includes(".") ? token.split(".")[0] : "")
