// Rows of a list that are chosen, and what is done with all of them: in steps that can be stopped.
import { useRef, useState, type ReactNode } from "react"
import type { Schema } from "@/api/client"
import { Button } from "./button"
import type { Page } from "./list"
import { t } from "./text"
import { toast, toastFault } from "./toast"

type Done = Schema<"ContactsDone">
type Act = (ids: string[]) => Promise<Done>

/** So many records one call takes. */
const step = 1000

/** load gives the pages of all that was found, changed runs when something was done. */
export function useBulk(total: number, load: (cursor: string | undefined) => Promise<Page<{ id: string }>>, changed: () => void) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set<string>())
  const [all, setAll] = useState(false)
  const [progress, setProgress] = useState<{ done: number; total: number }>()
  const stopped = useRef(false)
  const isStopped = () => stopped.current
  const clear = () => (setChosen(new Set()), setAll(false))
  const toggle = (id: string) => {
    setAll(false)
    setChosen((old) => {
      const next = new Set(old)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }
  const toggleAll = (ids: string[]) => (setAll(false), setChosen((old) => new Set(ids.every((id) => old.has(id)) ? [] : ids)))

  async function* steps(): AsyncGenerator<string[]> {
    if (!all) {
      const ids = [...chosen]
      for (let i = 0; i < ids.length; i += step) yield ids.slice(i, i + step)
      return
    }
    let ids: string[] = []
    let cursor: string | undefined
    do {
      const page = await load(cursor)
      ids.push(...(page.items ?? []).map((x) => x.id))
      cursor = page.next_cursor ?? undefined
      if (ids.length >= step || !cursor) {
        yield ids
        ids = []
      }
    } while (cursor && !isStopped())
  }
  const through = async (batches: AsyncIterable<string[]> | string[][], act: Act, n: number) => {
    const sum = { changed: 0, skipped: 0, failed: 0 }
    const done: string[] = []
    stopped.current = false
    setProgress({ done: 0, total: n })
    try {
      for await (const ids of batches) {
        if (isStopped()) break
        if (ids.length === 0) continue
        const d = await act(ids)
        const refused = new Set(d.failed.map((f) => f.id))
        sum.changed += d.changed
        sum.skipped += d.skipped
        sum.failed += d.failed.length
        done.push(...ids.filter((id) => !refused.has(id)))
        setProgress((p) => p && { ...p, done: p.done + ids.length })
      }
      clear()
    } catch (e) {
      toastFault(e)
    } finally {
      setProgress(undefined)
      changed()
    }
    return { sum, done }
  }
  const said = ({ changed: n, skipped, failed }: { changed: number; skipped: number; failed: number }) =>
    [t("bulk.changed", { n }), skipped > 0 && t("bulk.skipped", { n: skipped }), failed > 0 && t("bulk.failed", { n: failed })].filter(Boolean).join(" ")
  /** Does something with all that is chosen, and says what became of it. undo takes it back. */
  const run = async (act: Act, undo?: Act) => {
    const { sum, done } = await through(steps(), act, all ? total : chosen.size)
    const back = async () => {
      const batches = Array.from({ length: Math.ceil(done.length / step) }, (_, i) => done.slice(i * step, (i + 1) * step))
      const after = await through(batches, undo!, done.length)
      toast(said(after.sum))
    }
    toast(said(sum), { bad: sum.failed > 0, undo: undo && sum.changed > 0 ? () => void back() : undefined })
  }
  return { chosen, all, toggle, toggleAll, clear, chooseAll: () => setAll(true), stop: () => (stopped.current = true), progress, run, n: all ? total : chosen.size, total }
}

export type Bulk = ReturnType<typeof useBulk>

/** Stands above a list while some of its rows are chosen: how many, all that was found, and what can be done. */
export function BulkBar({ bulk, children }: { bulk: Bulk; children: ReactNode }) {
  if (bulk.progress)
    return (
      <div className="bulk" role="group" aria-label={t("bulk.title")}>
        <progress className="bulk-progress" value={bulk.progress.done} max={bulk.progress.total} aria-label={t("bulk.title")} />
        <span className="num" role="status">{t("list.shown", { n: bulk.progress.done, total: bulk.progress.total })}</span>
        <Button small onClick={bulk.stop}>{t("bulk.stop")}</Button>
      </div>
    )
  if (bulk.n === 0) return null
  return (
    <div className="bulk" role="group" aria-label={t("bulk.title")}>
      <span className="num" role="status">{t("bulk.chosen", { n: bulk.n })}</span>
      {!bulk.all && bulk.total > bulk.chosen.size && <Button kind="quiet" small onClick={bulk.chooseAll}>{t("bulk.all", { n: bulk.total })}</Button>}
      {children}
      <Button kind="quiet" small onClick={bulk.clear}>{t("bulk.clear")}</Button>
    </div>
  )
}
