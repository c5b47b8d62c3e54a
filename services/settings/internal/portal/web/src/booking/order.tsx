// The order of services: by mouse, by finger, or by keys.
import { useQueryClient } from "@tanstack/react-query"
import { ArrowDown, ArrowUp, GripVertical } from "lucide-react"
import { useRef, useState } from "react"
import { flushSync } from "react-dom"
import { api, take } from "@/api/client"
import { drag } from "@/kit/drag"
import { servicesQuery } from "@/kit/records"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import type { Service } from "./data"

/** Saves each move at once. */
export default function Order({ services }: { services: Service[] }) {
  const queries = useQueryClient()
  const [order, setOrder] = useState(services)
  const list = useRef<HTMLOListElement>(null)
  const [said, setSaid] = useState("")
  const save = async (next: Service[], before: Service[], undone = false) => {
    setOrder(next)
    try {
      const after = await take(api.PUT("/services/order", { body: { services: next.map((s) => s.id) } }))
      queries.setQueryData(servicesQuery(false).queryKey, after.items)
      for (const key of [["services"], ["slots"]]) void queries.invalidateQueries({ queryKey: key })
      if (!undone) toast(t("booking.ordered"), { undo: () => void save(before, next, true) })
    } catch (e) {
      setOrder(before)
      toastFault(e)
    }
  }
  const place = (from: number, to: number) => {
    if (to < 0 || to >= order.length || to === from) return
    const next = order.toSpliced(from, 1).toSpliced(to, 0, order[from]!)
    setSaid(t("booking.order_at", { name: order[from]!.name, n: String(to + 1) }))
    flushSync(() => void save(next, order))
    // The focus stays on the button of what moved.
    const moved = list.current?.children[to]
    const button = moved?.querySelector<HTMLElement>(`[data-move="${to < from ? -1 : 1}"]:not(:disabled)`) ?? moved?.querySelector<HTMLElement>("button:not(:disabled)")
    button?.focus()
  }
  return (
    <>
      <p className="content soft">{t("booking.order_text")}</p>
      <ol ref={list} className="content order">
        {order.map((s, i) => (
          <li key={s.id} className="order-row" onKeyDown={(e) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[e.key]
            if (!e.altKey || !by) return
            e.preventDefault()
            place(i, i + by)
          }}>
            <span className="order-grip" title={t("booking.order_drag")} onPointerDown={(e) => drag(e, (to) => place(i, to))}><GripVertical aria-hidden /></span>
            <span className="cell-main"><b>{s.name}</b></span>
            <button type="button" className="icon-button" data-move="-1" disabled={i === 0} aria-label={t("booking.order_up", { name: s.name })} onClick={() => place(i, i - 1)}><ArrowUp aria-hidden /></button>
            <button type="button" className="icon-button" data-move="1" disabled={i === order.length - 1} aria-label={t("booking.order_down", { name: s.name })} onClick={() => place(i, i + 1)}><ArrowDown aria-hidden /></button>
          </li>
        ))}
      </ol>
      <span className="sr" role="status">{said}</span>
    </>
  )
}
