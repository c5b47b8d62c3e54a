import { useSyncExternalStore } from "react"
import { CircleAlert, CircleCheck, X } from "lucide-react"
import { t } from "./text"
import { asFault } from "@/api/fault"
import { saying } from "./problem"

type Toast = { id: number; text: string; bad: boolean; undo?: () => void }

let toasts: Toast[] = []
let last = 0
const watchers = new Set<() => void>()
const set = (next: Toast[]) => ((toasts = next), watchers.forEach((w) => w()))
const close = (id: number) => set(toasts.filter((x) => x.id !== id))

/** Says at the foot of the screen what happened. With undo it offers to take it back, for ten seconds. */
export function toast(text: string, options: { bad?: boolean; undo?: () => void } = {}) {
  const id = ++last
  set([...toasts.slice(-2), { id, text, bad: options.bad ?? false, undo: options.undo }])
  setTimeout(() => close(id), options.undo || options.bad ? 10_000 : 5_000)
}

/** Says why something failed. */
export const toastFault = (e: unknown) => toast(saying(asFault(e)), { bad: true })

export function Toasts() {
  const all = useSyncExternalStore((w) => (watchers.add(w), () => void watchers.delete(w)), () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((x) => (
        <div key={x.id} className={x.bad ? "toast toast--bad" : "toast"}>
          {x.bad ? <CircleAlert aria-hidden /> : <CircleCheck aria-hidden />}
          <span>{x.text}</span>
          {x.undo && (
            <button className="toast-undo" onClick={() => (close(x.id), x.undo!())}>
              {t("undo")}
            </button>
          )}
          <button className="icon-button" aria-label={t("close")} onClick={() => close(x.id)}>
            <X aria-hidden />
          </button>
        </div>
      ))}
    </div>
  )
}
