// Drags an item of a list by mouse or finger. Buttons, or Alt with an arrow key, do the same.
import "./css/drag.css"

/** Pixels at the top and the bottom of the window in which the page scrolls along. */
const edge = 64

/**
 * Lets the part of a grip follow the pointer that went down on it, and calls place with the part's new index once the pointer is
 * released elsewhere in the list. Escape and a cancelled pointer leave the part where it was.
 */
export function drag(event: React.PointerEvent<HTMLElement>, place: (to: number) => void) {
  if (event.button !== 0 || !event.isPrimary) return
  const grip = event.currentTarget
  const card = grip.closest<HTMLElement>("li")!
  const list = card.parentElement!
  const from = [...list.children].indexOf(card)
  const others = [...list.children].filter((e) => e !== card)
  const start = event.clientY + scrollY
  const [mine, all] = [card.getBoundingClientRect(), list.getBoundingClientRect()]
  let y = event.clientY
  let to = from
  let frame = 0
  const follow = () => {
    // The part stays within its list, so a page that scrolls along comes to an end.
    card.style.translate = `0 ${Math.min(Math.max(y + scrollY - start, all.top - mine.top), all.bottom - mine.bottom)}px`
    to = others.filter((o) => {
      const { top, height } = o.getBoundingClientRect()
      return top + height / 2 < y
    }).length
    others.forEach((o, i) => {
      o.classList.toggle("drop-after", to !== from && i === to - 1)
      o.classList.toggle("drop-before", to !== from && to === 0 && i === 0)
    })
  }
  const draw = () => {
    if (y < edge) scrollBy(0, -12)
    else if (y > innerHeight - edge) scrollBy(0, 12)
    follow()
    frame = requestAnimationFrame(draw)
  }
  const move = (e: PointerEvent) => (y = e.clientY)
  const end = (e: Event) => {
    if (e instanceof KeyboardEvent) {
      if (e.key !== "Escape") return
      e.preventDefault()
    }
    if (e.type === "pointerup") {
      y = (e as PointerEvent).clientY
      follow()
    }
    controller.abort()
    cancelAnimationFrame(frame)
    card.classList.remove("dragged")
    card.style.translate = ""
    others.forEach((o) => o.classList.remove("drop-after", "drop-before"))
    if (e.type === "pointerup" && to !== from) place(to)
  }
  const controller = new AbortController()
  const { signal } = controller
  card.classList.add("dragged")
  grip.setPointerCapture(event.pointerId)
  grip.addEventListener("pointermove", move, { signal })
  for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) grip.addEventListener(type, end, { signal })
  document.addEventListener("keydown", end, { signal, capture: true })
  draw()
}
