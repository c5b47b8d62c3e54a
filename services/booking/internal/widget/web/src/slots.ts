import { useEffect, useRef, useState } from "preact/hooks"
import { asFault, call } from "@web/api"
import type { Fault } from "@web/fault"
import { dayOf } from "@web/dates"
import { addDays, monthEnd, monthStart } from "@web/days"
import type { Slot, Slots } from "./data"

export function fetchSlots(origin: string, service: string, staff: number, from: string, to: string): Promise<Slots> {
  const query = new URLSearchParams({ service, from, to })
  if (staff) query.set("staff", String(staff))
  return call<Slots>(`${origin}/v1/booking/slots?${query}`)
}

/** The part of a month that is not over. */
function range(month: string, today: string): [string, string] {
  const first = monthStart(month)
  return [first < today ? today : first, monthEnd(month)]
}

export interface MonthState {
  month: string
  /** Free times by day, once they are known. */
  days?: Map<string, Slot[]>
  /** First free day after an empty month. */
  nextFree?: string | undefined
  fault?: Fault
  token?: string
}

interface Options {
  origin: string
  service: string
  staff: number
  zone: string
  today: string
  early: Promise<Slots> | undefined
}

/** The free times of a month. The first month moves on by itself when nothing is free in it. */
export function useMonth({ origin, service, staff, zone, today, early }: Options) {
  const [month, setMonth] = useState(monthStart(today))
  const [round, setRound] = useState(0)
  const [state, setState] = useState<MonthState>({ month })
  const first = useRef(true)
  const start = useRef(early)

  useEffect(() => {
    let stale = false
    const load = async () => {
      const [from, to] = range(month, today)
      const held = start.current
      start.current = undefined
      try {
        const found = await (held ?? fetchSlots(origin, service, staff, from, to))
        let next: string | undefined
        if (found.items.length === 0) {
          const later = await fetchSlots(origin, service, staff, addDays(to, 1), addDays(to, 60))
          next = later.items[0] && dayOf(later.items[0].starts_at, zone)
        }
        if (stale) return
        if (next && first.current) {
          first.current = false
          setMonth(monthStart(next))
          return
        }
        first.current = false
        const days = new Map<string, Slot[]>()
        for (const s of found.items) {
          const day = dayOf(s.starts_at, zone)
          days.set(day, [...(days.get(day) ?? []), s])
        }
        setState({ month, days, nextFree: next, token: found.token })
      } catch (e) {
        if (!stale) setState({ month, fault: asFault(e) })
      }
    }
    void load()
    return () => {
      stale = true
    }
  }, [origin, service, staff, month, round, today, zone])

  return { month, state, loading: state.month !== month || (!state.days && !state.fault), setMonth, reload: () => setRound((n) => n + 1) }
}
