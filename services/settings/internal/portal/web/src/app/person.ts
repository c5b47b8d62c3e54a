// Whose session this browser has. The program looks once the first screen is there.
import { kept, me } from "@/kit/start"
import { noteAnswer } from "./session"

export const lastAnswer = () => Number(kept.get("answered"))

/**
 * Uses the session, and reports whether there still is one of this person. A page acts by the session of its browser: where that has become
 * somebody else's, it begins anew as theirs.
 */
export async function ask(): Promise<boolean> {
  const answer = await fetch("/v1/auth/session").catch(() => undefined)
  if (!answer?.ok) return false
  noteAnswer()
  const own = (await answer.json()).user_id === me.user_id
  if (!own) location.reload()
  return own
}

/** Looks whose session it is when somebody else opens the portal in another tab, and when a person comes back to this one. */
export function watchPerson() {
  const own = String(me.user_id)
  kept.set("person", own)
  addEventListener("storage", () => ![own, ""].includes(kept.get("person")) && location.reload())
  addEventListener("focus", () => void ask())
}
