// An idle session: two minutes before its limit a dialog asks the person, and at the limit all tabs are signed out. Typed values
// stay on the screen, under the dialog that asks to sign in again.
import { useEffect, useReducer } from "react"
import { createRoot } from "react-dom/client"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { ask, lastAnswer } from "./person"
import { answerSignIn, signInAgain } from "./session"
import { kept, me } from "@/kit/start"
import { t } from "@/kit/text"

const minute = 60_000
const limit = me.idle_hours * 60 * minute
const warning = 2 * minute
// The server counts from the last request, and notes one every five minutes at most: the session is used once more so long before the
// warning, and the person's limit comes first.
const slack = 10 * minute

// A key or a click in one tab counts for all.
const used = () => Number(kept.get("used"))
const noteUse = () => kept.set("used", String(Date.now()))

/** Watches over the session of this browser for as long as the page is there. */
export function watchIdle() {
  let close: (() => void) | undefined
  let ending = false
  const warn = () => {
    const host = document.body.appendChild(document.createElement("div"))
    const root = createRoot(host)
    close = () => {
      close = undefined
      root.unmount()
      host.remove()
    }
    root.render(<Warning stay={() => (noteUse(), tick())} end={() => void end()} />)
  }
  const end = async () => {
    ending = true
    close?.()
    await fetch("/v1/auth/logout", { method: "POST" }).catch(() => {})
    await signInAgain()
    ending = false
    noteUse()
  }
  const tick = () => {
    const left = used() + limit - Date.now()
    if (left > warning) {
      close?.()
      // The person signed in again in another tab.
      if (ending) return void ask().then((ok) => ok && answerSignIn(true))
      const due = left < warning + slack ? used() + limit - warning - slack : used()
      if (lastAnswer() < due && Date.now() - lastAnswer() > 4 * minute) void ask()
    } else if (left <= 0) {
      if (!ending) void end()
    } else if (!close && !ending) warn()
  }
  noteUse()
  for (const event of ["keydown", "pointerdown", "wheel"]) {
    document.addEventListener(event, () => close || ending || Date.now() - used() < 1000 || noteUse(), { capture: true, passive: true })
  }
  setInterval(tick, 1000)
}

function Warning({ stay, end }: { stay: () => void; end: () => void }) {
  const [, draw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    const timer = setInterval(draw, 1000)
    return () => clearInterval(timer)
  }, [])
  const left = Math.max(1, Math.ceil((used() + limit - Date.now()) / minute))
  return (
    <Dialog title={t("frame.idle.title")} onClose={stay} size="s">
      <div className="dialog-body"><p role="status">{t("frame.idle.text", { n: left })}</p></div>
      <footer className="dialog-foot">
        <Button onClick={end}>{t("person.sign_out")}</Button>
        <Button kind="main" onClick={stay}>{t("frame.idle.stay")}</Button>
      </footer>
    </Dialog>
  )
}
