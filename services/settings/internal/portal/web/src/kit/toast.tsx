import { useSyncExternalStore } from "react"
import { CircleAlert, CircleCheck, X } from "lucide-react"
import { t, type Key } from "./text"
import { asFault } from "@/api/fault"
import { saying } from "./problem"

type Act = { label: Key; run: () => void }
type Toast = { id: number; text: string; bad: boolean; act?: Act }

let toasts: Toast[] = []
let last = 0
const watchers = new Set<() => void>()
const set = (next: Toast[]) => ((toasts = next), watchers.forEach((w) => w()))
const close = (id: number) => set(toasts.filter((x) => x.id !== id))

/**
 * Says at the foot of the screen what happened. With undo it offers to take it back, with act to do something else, for ten seconds and for as long
 * as somebody points at it or has the focus in it.
 */
export function toast(text: string, { bad = false, undo, act = undo && { label: "undo", run: undo } }: { bad?: boolean; undo?: () => void; act?: Act } = {}) {
  const id = ++last
  set([...toasts.slice(-2), { id, text, bad, act }])
  const end = () => (document.querySelector(`[data-toast="${id}"]:is(:hover, :focus-within)`) ? setTimeout(end, 1000) : close(id))
  setTimeout(end, act || bad ? 10_000 : 5_000)
}

/** Says why something failed. */
export const toastFault = (e: unknown) => toast(saying(asFault(e)), { bad: true })

export function Toasts() {
  const all = useSyncExternalStore((w) => (watchers.add(w), () => void watchers.delete(w)), () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((x) => (
        <div key={x.id} data-toast={x.id} className={x.bad ? "toast toast--bad" : "toast"}>
          {x.bad ? <CircleAlert aria-hidden /> : <CircleCheck aria-hidden />}
          <span>{x.text}</span>
          {x.act && <button className="toast-undo" onClick={() => (close(x.id), x.act!.run())}>{t(x.act.label)}</button>}
          <button className="icon-button" aria-label={t("close")} onClick={() => close(x.id)}>
            <X aria-hidden />
          </button>
        </div>
      ))}
    </div>
  )
}
