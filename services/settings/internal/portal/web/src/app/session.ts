// A session that ends while somebody works: the screen stays, a dialog asks to sign in, and the requests that waited go on.
import { useSyncExternalStore } from "react"
import { session } from "@/api/client"
import { kept } from "@/kit/start"

let asking: { done: Promise<boolean>; end: (ok: boolean) => void } | undefined
const watchers = new Set<() => void>()
const changed = () => watchers.forEach((w) => w())

/** Notes, for all tabs, that the session was good just now. */
export const noteAnswer = () => kept.set("answered", String(Date.now()))

/** Asks the person to sign in, once for all requests that wait: true when they did, false when they closed the dialog. */
export function signInAgain(): Promise<boolean> {
  if (!asking) {
    let end!: (ok: boolean) => void
    const done = new Promise<boolean>((resolve) => (end = resolve))
    asking = { done, end }
    changed()
  }
  return asking.done
}

/** What runs after the person has signed in again. */
export const onSignedIn = new Set<() => void>()

export function answerSignIn(ok: boolean) {
  asking?.end(ok)
  if (ok) for (const run of onSignedIn) run()
  asking = undefined
  changed()
}

export const useAskedToSignIn = () =>
  useSyncExternalStore(
    (w) => (watchers.add(w), () => void watchers.delete(w)),
    () => asking !== undefined,
  )

session.answered = noteAnswer
session.ended = signInAgain
