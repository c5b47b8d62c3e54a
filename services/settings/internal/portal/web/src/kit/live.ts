// Changes by colleagues, visitors and assistants: the stream names what changed, and what is on the screen loads anew. One tab of a
// browser holds the stream and passes its messages on to the others. Without a stream, screens load anew when they get the focus.
import type { QueryClient } from "@tanstack/react-query"

type Change = { type: string; id?: string }

/** The first part of the query keys that a type of record touches. */
const nouns: Record<string, string[]> = {
  contact: ["contacts", "overview"],
  organization: ["organizations", "contacts"],
  appointment: ["appointments", "calendar", "slots", "overview"],
  submission: ["submissions", "forms", "overview"],
  service: ["services", "calendar"],
  staff: ["staff", "team", "calendar"],
  time_off: ["time-off", "calendar", "slots", "staff"],
  field: ["fields", "field-groups"],
  user: ["staff", "team"],
}

export function follow(queries: QueryClient) {
  let waiting: Change[] = []
  const reload = (changes: Change[]) =>
    void queries.invalidateQueries({
      predicate: ({ queryKey: [noun, kind, id] }) =>
        changes.some((c) => (nouns[c.type] ?? [c.type + "s", c.type]).includes(String(noun)) && (kind !== "one" || c.id === undefined || c.id === id)),
    })
  const load = () => {
    const changes = waiting
    waiting = []
    reload(changes)
    // Other services list people from copies, which may arrive after the change is announced.
    const people = changes.filter((c) => c.type === "user")
    if (people.length > 0) setTimeout(() => reload(people), 2000)
  }
  const take = (c: Change) => {
    if (waiting.push(c) === 1) setTimeout(load, 250)
  }
  const others = new BroadcastChannel("svc-live")
  others.onmessage = (e: MessageEvent<Change | "all">) => (e.data === "all" ? all() : take(e.data))
  const all = () => void queries.invalidateQueries()
  // Data that was loaded before the stream was there may have changed since. A screen that failed stays as it is, with its button.
  const loaded = () => void queries.invalidateQueries({ predicate: (q) => q.state.status !== "error" })
  const listen = () =>
    new Promise<never>(() => {
      const stream = new EventSource("/v1/live")
      let first = true
      stream.onerror = () => {
        // A refusal ends the stream for good; a lost connection does not, the browser makes a new one.
        if (stream.readyState === EventSource.CLOSED) setInterval(all, 30_000)
      }
      stream.addEventListener("ready", () => {
        if (first) loaded()
        else {
          all()
          others.postMessage("all")
        }
        first = false
      })
      stream.addEventListener("change", (e) => {
        const c = JSON.parse(e.data) as Change
        take(c)
        others.postMessage(c)
      })
    })
  // Without locks (plain http outside localhost) each tab has a stream of its own.
  const locks = navigator.locks as LockManager | undefined
  if (!locks) void listen()
  else void locks.request("svc-live", { ifAvailable: true }, (lock) => (lock ? listen() : loaded())).then(() => locks.request("svc-live", listen))
}
