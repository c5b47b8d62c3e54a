// Changes by colleagues, visitors and assistants: the stream names what changed, and what is on the screen loads anew. One tab of a
// browser holds the stream and passes its messages on to the others. Without a stream, screens load anew from time to time.
import type { QueryClient } from "@tanstack/react-query"
import { start } from "@/kit/start"
import { onSignedIn } from "./session"

type Change = { type: string; id?: string }

/** The first part of the query keys that a type of record touches. */
const nouns: Record<string, string[]> = {
  contact: ["contacts", "overview"],
  organization: ["organizations", "contacts"],
  appointment: ["appointments", "calendar", "slots", "overview", "news"],
  submission: ["submissions", "forms", "overview", "news"],
  task: ["tasks", "overview", "news"],
  staff: ["staff", "team", "calendar"],
  time_off: ["time-off", "calendar", "slots", "staff"],
  field: ["fields", "field-groups"],
  user: ["staff", "team"],
  service: ["services", "calendar", "staff"],
  role: ["settings", "staff"],
  mail_template: ["mail-templates"],
}

/** Milliseconds: the pauses between two loads of what has changed, and the longest before a stream that was refused is asked for again. */
const [shortest, longest, rarest] = [250, 5000, 30_000]

/** outdated runs when the person has other rights than the page was made for. */
export function follow(queries: QueryClient, outdated: () => void) {
  let waiting: Change[] = []
  let [pause, last] = [shortest, 0]
  // What is hidden loads when somebody looks at it.
  const refetchType = () => (document.hidden ? "none" : "active")
  const reload = (changes: Change[]) =>
    void queries.invalidateQueries({
      refetchType: refetchType(),
      predicate: ({ queryKey: [noun, kind, id] }) =>
        changes.some((c) => (nouns[c.type] ?? [c.type + "s", c.type]).includes(String(noun)) && (kind !== "one" || c.id === undefined || c.id === id)),
    })
  const load = () => {
    const changes = waiting
    waiting = []
    last = Date.now()
    reload(changes)
    // Other services list people, and news, from copies, which may arrive after the change is announced: seconds, while the embedded broker compacts.
    const copied = changes.filter((c) => c.type === "user")
    if (changes.some((c) => nouns[c.type]?.includes("news"))) copied.push({ type: "new" })
    if (copied.length > 0) for (const late of [2000, 10_000]) setTimeout(() => reload(copied), late)
  }
  // As long as changes keep coming, such as from an import, the pauses grow. One that comes after a calm loads at once.
  const take = (c: Change) => {
    if (waiting.push(c) > 1) return
    const since = Date.now() - last
    pause = since < 2 * pause ? Math.min(2 * pause, longest) : shortest
    setTimeout(load, Math.max(shortest, pause - since))
  }
  const others = new BroadcastChannel("svc-live")
  others.onmessage = (e: MessageEvent<Change | "all">) => (e.data === "all" ? all() : take(e.data))
  const all = () => void queries.invalidateQueries({ refetchType: refetchType() })
  // Data that was loaded before a stream that does not continue from there may have changed since. A screen that failed stays as it is, with its button.
  const loaded = () => void queries.invalidateQueries({ predicate: (q) => q.state.status !== "error" })
  const listen = () =>
    new Promise<never>(() => {
      let first = true
      let had = start.live
      let wait = 1000
      let again: ReturnType<typeof setTimeout> | undefined
      const everything = () => {
        all()
        others.postMessage("all")
      }
      const open = () => {
        again = undefined
        const stream = new EventSource("/v1/live" + (had && "?after=" + encodeURIComponent(had)))
        stream.onerror = () => {
          // A refusal, such as while the service starts, ends a stream for good; for a lost connection the browser makes a new one itself.
          if (stream.readyState !== EventSource.CLOSED) return
          again = setTimeout(open, wait)
          if (wait === rarest) everything()
          wait = Math.min(wait * 2, rarest)
        }
        stream.addEventListener("ready", (e) => {
          wait = 1000
          had = e.lastEventId
          const { continued } = JSON.parse(e.data) as { continued?: boolean }
          if (!continued) (first ? loaded : everything)()
          first = false
        })
        stream.addEventListener("change", (e) => {
          had = e.lastEventId
          const c = JSON.parse(e.data) as Change
          take(c)
          others.postMessage(c)
        })
        stream.addEventListener("end", (e) => {
          if ((JSON.parse(e.data) as { reason: string }).reason === "rights") outdated()
        })
      }
      onSignedIn.add(() => {
        if (again === undefined) return
        clearTimeout(again)
        open()
      })
      open()
    })
  // Without locks (plain http outside localhost) each tab has a stream of its own.
  const locks = navigator.locks as LockManager | undefined
  if (!locks) void listen()
  else void locks.request("svc-live", { ifAvailable: true }, (lock) => (lock ? listen() : loaded())).then(() => locks.request("svc-live", listen))
}
