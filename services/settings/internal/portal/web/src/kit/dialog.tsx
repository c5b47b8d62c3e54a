// Dialogs are the browser's own: it keeps the focus inside, closes on Escape and gives the focus back.
import { createContext, useEffect, useId, useRef, useState, type ReactNode } from "react"
import { createRoot } from "react-dom/client"
import { X } from "lucide-react"
import { Button } from "./button"
import { t } from "./text"

/** The dialog that the children are in: what floats over them has to be inside it, because everything outside is inert. */
export const Layer = createContext<HTMLElement | null>(null)

export function Dialog({ title, children, onClose, size = "m", guarded = false }: {
  title: string
  children: ReactNode
  onClose: () => void
  size?: "s" | "m" | "l"
  /** Asks before it closes, because something was typed. */
  guarded?: boolean
}) {
  const id = useId()
  const ref = useRef<HTMLDialogElement>(null)
  const [layer, setLayer] = useState<HTMLElement | null>(null)
  useEffect(() => {
    const d = ref.current!
    setLayer(d)
    const before = document.activeElement as HTMLElement | null
    d.showModal()
    // Where people begin: the first field, else the main action, else the one that changes nothing. An autoFocus came too early, while
    // the dialog was still closed. A combobox that has its value would open over the rest.
    const begin = ["input:not([type=hidden], [type=checkbox], [type=radio], [role=combobox]:not(:placeholder-shown)), select, textarea", ".dialog-foot .button--main", ".dialog-foot .button"]
    begin.map((s) => d.querySelector<HTMLElement>(s)).find((e) => e !== null)?.focus()
    return () => {
      d.close()
      if (before?.isConnected) before.focus()
    }
  }, [])
  useEffect(() => {
    if (!guarded) return
    const leaving = (e: BeforeUnloadEvent) => e.preventDefault()
    addEventListener("beforeunload", leaving)
    return () => removeEventListener("beforeunload", leaving)
  }, [guarded])
  const close = async () => {
    if (!guarded || (await confirm({ title: t("unsaved.title"), text: t("unsaved.text"), action: t("unsaved.leave"), bad: true }))) onClose()
  }
  // The browser closes a dialog on a second Escape without asking: then it comes back, and asks.
  return (
    <dialog ref={ref} className={`dialog dialog--${size}`} aria-labelledby={id} onCancel={(e) => e.cancelable && (e.preventDefault(), void close())}
      onClose={() => ref.current && !ref.current.open && (ref.current.showModal(), void close())}
      onMouseDown={(e) => e.target === ref.current && void close()}>
      <div className="dialog-card">
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          <button className="icon-button" aria-label={t("close")} onClick={() => void close()}>
            <X aria-hidden />
          </button>
        </header>
        <Layer value={layer}>{children}</Layer>
      </div>
    </dialog>
  )
}

type Question = {
  title: string
  text?: ReactNode
  /** The button's words: what will happen, with the record's name if it is for good. */
  action: string
  /** The action destroys something. */
  bad?: boolean
  /** A word that has to be typed before the button works, for what cannot be undone. */
  word?: string
}

/** Asks a question and answers whether the person agreed. */
export function confirm(q: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const host = document.body.appendChild(document.createElement("div"))
    const root = createRoot(host)
    const end = (ok: boolean) => {
      root.unmount()
      host.remove()
      resolve(ok)
    }
    root.render(<Confirm q={q} end={end} />)
  })
}

function Confirm({ q, end }: { q: Question; end: (ok: boolean) => void }) {
  const [typed, setTyped] = useState("")
  return (
    <Dialog title={q.title} onClose={() => end(false)} size="s">
      <form onSubmit={(e) => (e.preventDefault(), end(true))}>
        <div className="dialog-body">
          {q.text && <div className="soft">{q.text}</div>}
          {q.word && (
            <label className="field">
              <span className="label">{t("confirm.type", { word: q.word })}</span>
              <input className="input" value={typed} onChange={(e) => setTyped(e.target.value)} autoComplete="off" />
            </label>
          )}
        </div>
        <footer className="dialog-foot">
          <Button onClick={() => end(false)}>{t("cancel")}</Button>
          <Button kind={q.bad ? "bad" : "main"} type="submit" disabled={q.word !== undefined && typed.trim() !== q.word}>
            {q.action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
