// A draft of a record that is on the screen: see kit/draft.
import { useQueryClient, type QueryKey } from "@tanstack/react-query"
import { useBlocker } from "@tanstack/react-router"
import { CircleAlert } from "lucide-react"
import { useLayoutEffect, useMemo, useState, useSyncExternalStore } from "react"
import { Keys } from "@/api/attempts"
import { noteVersion, tagOf } from "@/api/version"
import { Button } from "./button"
import { confirm } from "./dialog"
import { at, Draft, isLater, type Sending, type Source } from "./draft"
import { t } from "./text"
import { toastFault } from "./toast"

/** Asks before the person leaves a screen on which something is not saved. left waits for what is being saved. */
export function useUnsavedGuard(dirty: boolean, left: () => Promise<boolean> = () => Promise.resolve(true)) {
  useBlocker({
    shouldBlockFn: async () => dirty && (await left()) && !(await confirm({ title: t("unsaved.title"), text: t("unsaved.text"), action: t("unsaved.leave"), bad: true })),
    enableBeforeUnload: () => dirty,
    disabled: !dirty,
  })
}

/** What fields and notices need of a draft, whatever its record is. */
export type Drafting = {
  at: (path: string) => unknown
  /** The value that somebody else gave a path, where that clashes with mine. */
  theirs: (path: string) => { value: unknown } | undefined
  set: (path: string, value: unknown) => void
  keep: (paths: string[]) => void
  drop: (paths?: string[]) => void
  save: (paths?: string[]) => Promise<void>
  /** Saves a value that is chosen and not typed, such as a tick, at once, and answers whether it is. A refusal brings back what was there, and is said. */
  change: (path: string, value: unknown) => Promise<boolean>
  dirty: boolean
  clashes: string[]
}

/**
 * A draft of the record that the query of key holds. send gets what differs, the version for If-Match, and the whole record as it becomes;
 * it answers the record if the API does. Attempts at the same change have the same key, for Idempotency-Key. Changes by others show where nothing is typed, and clash where they changed the same. Leaving the
 * screen asks. In place of a key, load and keep say how a record is read and kept that is part of a list.
 */
export function useDraft<T extends object>(record: T, from: QueryKey | Omit<Source<T>, "send">, send: (s: Sending<T> & { key: string }) => Promise<T | undefined>): Drafting & { base: T; mine: T; sending: boolean } {
  const queries = useQueryClient()
  const [draft] = useState(() => new Draft(record))
  const state = useSyncExternalStore(draft.follow, () => draft.state)
  useLayoutEffect(() => draft.see(record), [draft, record])
  const dirty = draft.dirty.length > 0
  useUnsavedGuard(dirty, () => draft.left())
  const [keys] = useState(() => new Keys())
  const source: Source<T> = {
    ...("load" in from ? from : cached<T>(queries, from)),
    send: async (s) => {
      const words = JSON.stringify(s.change)
      const after = await send({ ...s, key: keys.of(words) })
      keys.settle(words)
      return after
    },
  }
  const change = async (path: string, value: unknown) => {
    try {
      await draft.change(source, path, value)
      return true
    } catch (e) {
      toastFault(e)
      return false
    }
  }
  return {
    ...state,
    dirty,
    at: (path) => at(draft.state.mine, path),
    theirs: (path) => (state.clashes.includes(path) ? { value: at(state.base, path) } : undefined),
    set: (path, value) => draft.set(path, value),
    keep: (paths) => draft.keep(paths),
    drop: (paths) => draft.drop(paths),
    save: (paths) => draft.save(source, paths),
    change,
  }
}

/**
 * A part of a record of a list, of under the list's key, with the version that it has there; without of the part of a new one. It stands in place of
 * useDraft's record and key. find looks the record up in what the query of key holds.
 */
export function useListed<Data, Item extends { version: number }, T extends object>(queryKey: QueryKey, of: Item | undefined, find: (data: Data, of: Item) => Item | undefined, part: (of?: Item) => T) {
  const queries = useQueryClient()
  const tagged = (x?: Item) => (x ? noteVersion(part(x), tagOf(x.version)) : part())
  const load = async () => {
    await queries.refetchQueries({ queryKey, exact: true }, { throwOnError: true })
    const data = queries.getQueryData<Data>(queryKey)
    return tagged((data && of && find(data, of)) ?? of)
  }
  return [useMemo(() => tagged(of), [of]), { load, keep: () => {}, creates: !of }] as const
}

/** How the record of a query is read and kept. */
function cached<T extends object>(queries: ReturnType<typeof useQueryClient>, queryKey: QueryKey): Pick<Source<T>, "load" | "keep"> {
  return {
    load: async () => {
      await queries.refetchQueries({ queryKey, exact: true }, { throwOnError: true })
      return queries.getQueryData<T>(queryKey)!
    },
    keep: (after) => {
      const known = queries.getQueryData<T>(queryKey)
      if (known && isLater(known, after)) return
      // A read that began before the change would bring back what was there before it, and may know of other changes since.
      const reading = queries.isFetching({ queryKey, exact: true }) > 0
      void queries.cancelQueries({ queryKey, exact: true }).then(() => {
        queries.setQueryData<T>(queryKey, after)
        if (reading) void queries.invalidateQueries({ queryKey, exact: true })
      })
    },
  }
}

/**
 * Says that somebody else changed the same values, and asks which to have. It stands in the form that saves the draft: to decide for mine is
 * a press of its own, so that a press on Save, in the moment in which somebody else saves, replaces nothing that the person has not seen.
 */
export function Clash({ draft, paths }: { draft: Drafting; paths?: string[] }) {
  const clashes = paths ? draft.clashes.filter((path) => paths.includes(path)) : draft.clashes
  if (clashes.length === 0) return null
  return (
    <div className="notice notice--warn" role="alert" tabIndex={-1}>
      <CircleAlert aria-hidden />
      <div>
        <p>{t("draft.clash")}</p>
        <div className="row">
          <Button small onClick={() => draft.drop(clashes)}>{t("draft.theirs")}</Button>
          <Button small onClick={(e) => (draft.keep(clashes), e.currentTarget.form!.requestSubmit())}>{t("draft.mine")}</Button>
        </div>
      </div>
    </div>
  )
}
