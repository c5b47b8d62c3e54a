import { Fault } from "@/api/fault"
import { toastFault } from "@/kit/toast"

export async function signOut() {
  // A session that has ended is signed out of as well: nobody has to sign in for it.
  const answer = await fetch("/v1/auth/logout", { method: "POST" }).catch(() => undefined)
  if (answer && (answer.ok || answer.status === 401)) location.assign("/account/sign-out")
  else toastFault(answer ? await Fault.of(answer) : new Fault("offline", 0))
}
