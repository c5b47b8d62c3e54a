import { useEffect, useRef, useState } from "preact/hooks"
import { asFault, call } from "@web/api"
import type { Fault } from "@web/fault"
import { addDays, monthEnd, monthStart } from "@web/days"
import type { Around } from "./around"
import type { Slot, Slots } from "./data"

export const fetchSlots = ({ origin }: Around, service: string, staff: number, from: string, to: string) =>
  call<Slots>(`${origin}/v1/booking/slots?service=${service}&from=${from}&to=${to}${staff ? "&staff=" + staff : ""}`)

interface MonthState {
  month: string
  /** Free times by day, once they are known. */
  days?: Map<string, Slot[]>
  /** First free day after an empty month. */
  next?: string | undefined
  fault?: Fault
  token?: string
}

/** The free times of a month. The first month, which early holds if there is such, moves on by itself when nothing is free in it. */
export function useMonth(a: Around, service: string, staff: number, today: string, early: { current: Slots | undefined }) {
  const [month, setMonth] = useState(monthStart(today))
  const [round, setRound] = useState(0)
  const [state, setState] = useState<MonthState>({ month })
  const first = useRef(true)

  useEffect(() => {
    let stale = false
    const load = async () => {
      const to = monthEnd(month)
      const held = early.current
      early.current = undefined
      try {
        // The part of the month that is not over.
        const { items, token } = held ?? (await fetchSlots(a, service, staff, month < today ? today : month, to))
        const later = items.length ? undefined : (await fetchSlots(a, service, staff, addDays(to, 1), addDays(to, 60))).items[0]
        if (stale) return
        const next = later && a.dayOf(later.starts_at)
        const moves = next && first.current
        first.current = false
        if (moves) return setMonth(monthStart(next))
        const days = new Map<string, Slot[]>()
        for (const s of items) {
          const day = a.dayOf(s.starts_at)
          days.set(day, [...(days.get(day) ?? []), s])
        }
        setState({ month, days, next, token })
      } catch (e) {
        if (!stale) setState({ month, fault: asFault(e) })
      }
    }
    void load()
    return () => {
      stale = true
    }
  }, [month, round, today])

  return { month, state, loading: state.month !== month || (!state.days && !state.fault), setMonth, reload: () => setRound(round + 1) }
}
