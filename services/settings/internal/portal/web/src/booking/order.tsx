// The order of services: by mouse, by finger, or by keys.
import { useQueryClient } from "@tanstack/react-query"
import { ArrowDown, ArrowUp, GripVertical } from "lucide-react"
import { useMemo, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { api, ifMatch, take } from "@/api/client"
import { noteVersion, versionOf } from "@/api/version"
import { drag } from "@/kit/drag"
import { servicesOf, servicesQuery } from "@/kit/records"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import type { Service } from "./data"

const idsOf = (services: Service[], version: string | undefined) => noteVersion({ services: services.filter((s) => !s.archived).map((s) => s.id) }, version)

/** Saves each move at once. version is that of the order, which another move that came first has changed. */
export default function Order({ services, version }: { services: Service[]; version: string | undefined }) {
  const queries = useQueryClient()
  const current = servicesQuery(false)
  const load = async () => {
    const all = await queries.query({ ...current, staleTime: 0 })
    return idsOf(all, versionOf(all))
  }
  const draft = useDraft(useMemo(() => idsOf(services, version), [services, version]), { load, keep: () => {} }, async (sending) => {
    const all = servicesOf(await take(api.PUT("/services/order", { params: { header: ifMatch(sending.version) }, body: sending.whole })))
    queries.setQueryData(current.queryKey, all)
    for (const key of [["services"], ["slots"]]) void queries.invalidateQueries({ queryKey: key })
    return idsOf(all, versionOf(all))
  })
  const order = draft.mine.services.flatMap((id) => services.find((s) => s.id === id) ?? [])
  const list = useRef<HTMLOListElement>(null)
  const [said, setSaid] = useState("")
  const save = async (next: Service[], before: Service[]) => {
    if (await draft.change("services", next.map((s) => s.id))) toast(t("booking.ordered"), { undo: () => void draft.change("services", before.map((s) => s.id)) })
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
