// The calendar's grid: @event-calendar/core in a chunk of its own. It works with times on the business's wall; what it hands
// out are such times too. Dragging only asks: the event goes back, and whoever is asked decides.
import "@event-calendar/core/index.css"
import "./grid.css"
import { createCalendar, destroyCalendar, Interaction, ResourceTimeGrid, TimeGrid, type Calendar } from "@event-calendar/core"
import { useEffect, useRef } from "react"
import { locale } from "@/kit/text"
import { offsetNow, wallPlus } from "@/kit/wall"

/** An appointment or a stretch of time in the grid. start and end are on the wall. */
export type Block = {
  id: string
  start: string
  end: string
  staff: number
  /** Read to people who do not see the grid. */
  label: string
  look: string
  lines: string[]
  /** An icon's text for the status, because colour alone does not say it. */
  sign?: string
  background?: boolean
  movable?: boolean
}

export default function Grid({ view, date, people, blocks, from, to, scroll, onOpen, onMove, onLength, onMark, onFree }: {
  view: "day" | "week"
  date: string
  people: { id: number; name: string }[]
  blocks: Block[]
  /** The first and last time of the day that is shown, such as "07:00". */
  from: string
  to: string
  /** The time to which the grid scrolls first. */
  scroll: string
  onOpen: (id: string, at: HTMLElement) => void
  onMove?: (id: string, wall: string, staff: number) => void
  /** An appointment was drawn to another length. */
  onLength?: (id: string, minutes: number) => void
  /** A stretch of time was marked. */
  onMark?: (wall: string, until: string, staff: number | undefined) => void
  onFree?: (wall: string, staff: number | undefined) => void
}) {
  const host = useRef<HTMLDivElement>(null)
  const calendar = useRef<Calendar>(undefined)
  const now = useRef({ onOpen, onMove, onLength, onMark, onFree, blocks })
  now.current = { onOpen, onMove, onLength, onMark, onFree, blocks }
  const options = (): Calendar.Options => ({
    view: view === "day" ? "resourceTimeGridDay" : "timeGridWeek",
    date,
    resources: people.map((p) => ({ id: String(p.id), title: p.name })),
    slotMinTime: from,
    slotMaxTime: to,
    columnWidth: view === "day" ? "minmax(132px, 1fr)" : "minmax(92px, 1fr)",
    events: blocks.map((b) => ({
      id: b.id, start: b.start, end: b.end, resourceIds: [String(b.staff)], display: b.background ? "background" as const : "auto" as const,
      classNames: b.look.split(" "), title: b.label, editable: false, startEditable: b.movable === true, durationEditable: b.movable === true,
    })),
  })
  useEffect(() => {
    const el = host.current!
    const made = createCalendar(el, [TimeGrid, ResourceTimeGrid, Interaction], {
      ...options(),
      headerToolbar: { start: "", center: "", end: "" },
      allDaySlot: false,
      firstDay: 1,
      flexibleSlotTimeLimits: true,
      locale,
      timeZone: offsetNow(),
      nowIndicator: true,
      scrollTime: scroll,
      slotDuration: "00:30:00",
      snapDuration: "00:05:00",
      slotHeight: 32,
      slotEventOverlap: false,
      eventLongPressDelay: 350,
      dayHeaderFormat: { weekday: "short", day: "numeric" },
      slotLabelFormat: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
      eventContent: ({ event }) => content(now.current.blocks.find((b) => b.id === event.id)),
      eventClick: ({ event, el: at }) => now.current.onOpen(String(event.id), at),
      eventDrop: ({ event, delta, newResource, revert }) => {
        revert()
        const b = now.current.blocks.find((x) => x.id === event.id)
        // The grid's own dates are those of the browser's zone; the wall moves by as much as the event did.
        if (b) now.current.onMove?.(b.id, wallPlus(b.start, delta.days * 86_400 + delta.seconds), newResource ? Number(newResource.id) : b.staff)
      },
      eventResize: ({ event, endDelta, revert }) => {
        revert()
        const b = now.current.blocks.find((x) => x.id === event.id)
        if (b) now.current.onLength?.(b.id, Math.round((Date.parse(b.end) - Date.parse(b.start)) / 60_000) + endDelta.days * 1440 + Math.round(endDelta.seconds / 60))
      },
      selectable: onMark !== undefined,
      // A press without a move is onFree's.
      selectMinDistance: 8,
      selectLongPressDelay: 350,
      select: (marked) => {
        made.unselect()
        // A week has no resources, whatever the library's types say.
        const resource = (marked as { resource?: Calendar.Resource }).resource
        now.current.onMark?.(marked.startStr.slice(0, 16), marked.endStr.slice(0, 16), resource ? Number(resource.id) : undefined)
      },
      dateClick: ({ dateStr, resource }) => now.current.onFree?.(dateStr.slice(0, 19), resource ? Number(resource.id) : undefined),
    })
    calendar.current = made
    const tidy = new MutationObserver(() => plain(el))
    tidy.observe(el, { childList: true, subtree: true, attributes: true, attributeFilter: ["role", "aria-colindex", "aria-colspan"] })
    plain(el)
    return () => {
      tidy.disconnect()
      calendar.current = undefined
      void destroyCalendar(made)
    }
    // The calendar is made once; the effect below tells it what has changed.
  }, [])
  const text = JSON.stringify([view, date, people, from, to, blocks])
  const before = useRef(text)
  useEffect(() => {
    if (before.current === text) return
    before.current = text
    for (const [name, value] of Object.entries(options())) calendar.current?.setOption(name as keyof Calendar.Options, value as never)
  })
  return <div ref={host} className={`grid grid--${view}`} />
}

function content(b: Block | undefined): Calendar.Content {
  if (!b) return ""
  const nodes = b.lines.map((line, i) => {
    const span = document.createElement("span")
    span.className = i === 0 ? "block-name" : "block-line"
    span.textContent = line
    return span
  })
  if (b.sign && nodes[0]) {
    const sign = document.createElement("i")
    sign.className = "block-sign"
    sign.textContent = b.sign
    sign.setAttribute("aria-hidden", "true")
    nodes[0].prepend(sign)
  }
  if (!b.background) {
    const more = document.createElement("span")
    more.className = "sr"
    more.textContent = b.label
    nodes.push(more)
  }
  return { domNodes: nodes }
}

/** The library calls its parts a table without the rows and cells that a table needs; without these roles readers get the headings and appointments as they are. */
function plain(el: HTMLElement) {
  for (const part of el.querySelectorAll("[role=table], [role=row], [role=rowgroup], [role=columnheader], [role=cell]")) {
    for (const name of ["role", "aria-colindex", "aria-colspan"]) part.removeAttribute(name)
  }
  for (const part of el.querySelectorAll(".ec-col-head [aria-label], .ec-events time[aria-label]")) part.removeAttribute("aria-label")
  const main = el.querySelector(".ec-main")
  if (main && !main.hasAttribute("tabindex")) main.setAttribute("tabindex", "0") // it scrolls, so it has to be reached by keyboard
}
