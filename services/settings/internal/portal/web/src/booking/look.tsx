// A quick look at an appointment, beside it in the grid.
import { Link } from "@tanstack/react-router"
import { CalendarClock, StickyNote, UserRound, X } from "lucide-react"
import { useEffect, useLayoutEffect, useRef } from "react"
import { ButtonLink } from "@/kit/button"
import { dayLongText, durationText, timeRange } from "@/kit/dates"
import { t } from "@/kit/text"
import { Actions } from "./appointment"
import { whoComes, type Appointment } from "./data"
import { Place, Status } from "./marks"

/** Pixels between the look and what it belongs to, and to the edges of the window. */
const gap = 8

export function Look({ a, at, onClose }: { a: Appointment; at: HTMLElement; onClose: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const closing = useRef(onClose)
  closing.current = onClose
  useLayoutEffect(() => {
    const el = box.current!
    // A phone has it at its foot, see booking.css.
    const place = () => {
      const [mine, theirs] = [el.getBoundingClientRect(), at.getBoundingClientRect()]
      const [right, left] = [theirs.right + gap, theirs.left - gap - mine.width]
      const beside = right + mine.width <= innerWidth - gap ? right : left >= gap ? left : undefined
      // What is as wide as the window has it below, or above where there is no room.
      const top = beside !== undefined ? theirs.top : theirs.bottom + gap + mine.height <= innerHeight - gap ? theirs.bottom + gap : theirs.top - gap - mine.height
      el.style.setProperty("--left", `${beside ?? Math.max(gap, Math.min(theirs.left, innerWidth - gap - mine.width))}px`)
      el.style.setProperty("--top", `${Math.max(gap, Math.min(top, innerHeight - gap - mine.height))}px`)
    }
    place()
    addEventListener("resize", place)
    return () => removeEventListener("resize", place)
  }, [a, at])
  useEffect(() => {
    box.current!.focus()
    // Dialogs of the actions are inside of it for React and beside it for the browser.
    const outside = (e: Event) => e.target instanceof Element && !box.current!.contains(e.target) && !e.target.closest("dialog, .toasts") && closing.current()
    document.addEventListener("pointerdown", outside)
    return () => {
      document.removeEventListener("pointerdown", outside)
      if (at.isConnected && (document.activeElement === document.body || document.activeElement === null)) at.focus()
    }
  }, [at])
  return (
    <div ref={box} className="look" role="dialog" aria-label={whoComes(a)} tabIndex={-1} onKeyDown={(e) => e.key === "Escape" && !(e.target as Element).closest("dialog") && (e.stopPropagation(), onClose())}>
      <header className="look-head">
        <div className="cell-main"><b>{whoComes(a)}</b><span className="soft">{a.service.name} · {a.staff.name}</span></div>
        <Status status={a.status} />
        <button className="icon-button" aria-label={t("close")} onClick={onClose}><X aria-hidden /></button>
      </header>
      <p className="with-icon"><CalendarClock aria-hidden /><span>{dayLongText(a.starts_at)}, <span className="num nowrap">{timeRange(a.starts_at, a.ends_at)}</span> <span className="soft">({durationText((Date.parse(a.ends_at) - Date.parse(a.starts_at)) / 60_000)})</span></span></p>
      <p><Place kind={a.location_type} /> {a.location && <span className="soft">{a.location}</span>}</p>
      <p className="with-icon"><UserRound aria-hidden /><Link to="/contacts/$id" params={{ id: a.contact.id }} className="row-link">{a.contact.name}</Link></p>
      {a.notes && <p className="with-icon"><StickyNote aria-hidden /><span className="pre look-note">{a.notes}</span></p>}
      <footer className="row look-actions">
        <ButtonLink small kind="main" to="/appointments/$id" params={{ id: a.id }}>{t("booking.open")}</ButtonLink>
        <Actions a={a} small />
      </footer>
    </div>
  )
}
