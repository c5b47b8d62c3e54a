// The pattern of every list: filters in the address, pages by cursor, all states, j and k.
import { keepPreviousData, useInfiniteQuery, type InfiniteData, type QueryKey } from "@tanstack/react-query"
import { ArrowDown, ArrowUp, SlidersHorizontal, type LucideIcon } from "lucide-react"
import { memo, startTransition, useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react"
import { Button } from "./button"
import { Chooser, useUnwanted } from "./chooser"
import { fit, type Fit } from "./columns"
import { Blank, Failed, Skeleton } from "./states"
import { number, t } from "./text"
import { useKeys } from "./keys"

export type Page<T> = { items: T[] | null; next_cursor: string | null; total: number }

/**
 * Loads a list page by page. load gets the cursor of the page, undefined for the first. every says after how many milliseconds
 * items that change without a message load again.
 */
export function useList<T>(key: QueryKey, load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>, every?: (items: T[]) => number | false) {
  const query = useInfiniteQuery<Page<T>, Error, InfiniteData<Page<T>>, QueryKey, string | undefined>({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: every && ((q) => every(itemsOf(q.state.data))),
  })
  // What loads the list anew ends the loading of its next page.
  const more = async () => {
    const pages = query.data?.pages.length ?? 0
    let now
    do now = await query.fetchNextPage()
    while (!now.isError && now.hasNextPage && now.data?.pages.length === pages)
  }
  return { ...query, more, items: itemsOf(query.data), total: query.data?.pages[0]?.total ?? 0 }
}

/** The button for the next page of a list that has one, and what is said when it fails. */
export const NextPage = ({ list, small }: { list: ReturnType<typeof useList>; small?: boolean }) => (
  <>
    {list.hasNextPage && <Button small={small} busy={list.isFetchingNextPage} onClick={() => void list.more()}>{t("list.more")}</Button>}
    {list.isFetchNextPageError && <span className="bad" role="alert">{t("list.more_failed")}</span>}
  </>
)

const itemsOf = <T,>(data: InfiniteData<Page<T>> | undefined) => data?.pages.flatMap((p) => p.items ?? []) ?? []

/** sorts are the orders of the list by this column, as the API names them: its head asks for one after the other, and then for the usual one. */
export type Column<T> = Fit & { label: string; cell: (item: T) => ReactNode; end?: boolean; sorts?: readonly string[] }

/** The order of a list, and how to ask for another; undefined is the usual one. */
export type Sorting = { by: string; set: (by: string | undefined) => void }

/** The width of .cell-check, in pixels. */
const checkWidth = 52

type Selection<T> = { chosen: ReadonlySet<string>; all?: boolean; toggle: (id: string) => void; toggleAll?: (ids: string[]) => void; label: (item: T) => string }

/** The columns of a list as they fit now. */
type Shape<T> = { shown: Column<T>[]; under: Column<T>[] }

type RowOf<T> = { item: T; id: string; shape: Shape<T>; selection: Selection<T> | undefined; chosen: boolean }

/** A row is drawn anew only if its item, its columns or its choice changed: more pages leave the rows that are there alone. */
const Row = memo(
  ({ item, id, shape: { shown, under }, selection, chosen }: RowOf<any>) => (
    <tr>
      {selection && (
        <td className="cell-check">
          <label className="check-target"><input type="checkbox" checked={chosen} onChange={() => selection.toggle(id)} aria-label={selection.label(item)} /></label>
        </td>
      )}
      {shown.map((c, i) => (
        <td key={c.key} className={c.end ? "end" : undefined}>
          {c.cell(item)}
          {i === 0 && under.length > 0 && <div className="cell-under">{under.map((u) => <div key={u.key}>{u.label && <span className="sr">{u.label}: </span>}{u.cell(item)}</div>)}</div>}
        </td>
      ))}
    </tr>
  ),
  (a, b) => a.item === b.item && a.shape === b.shape && a.chosen === b.chosen && !a.selection === !b.selection,
)

/** The room for columns in rem, from the width of the element that gets ref: undefined before it is measured. */
function useRoom(taken: number) {
  const [width, setWidth] = useState<number>()
  const ref = (list: HTMLElement | null) => {
    if (!list) return undefined
    const measure = () => setWidth(list.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list)
    return () => observer.disconnect()
  }
  const stable = useRef(ref)
  return { ref: stable.current, room: width === undefined ? undefined : (width - taken) / parseFloat(getComputedStyle(document.documentElement).fontSize) }
}

/** The columns that fit: the same object as long as the same ones do, so that rows stay as they are while a window changes its width. */
function useShape<T>(columns: Column<T>[], room: number, unwanted: ReadonlySet<string>): Shape<T> {
  const shape = fit(columns, room, unwanted)
  const named = (of: Column<T>[]) => of.map((c) => c.key).join()
  return useMemo(() => shape, [columns, named(shape.shown), named(shape.under)])
}

/** The first rows that come to a screen are those that it has room for: the others follow once these are painted. */
function useRows<T>(list: { isPending: boolean; items: T[] }): T[] {
  const [all, setAll] = useState(!list.isPending)
  const some = list.items.length > 0
  useEffect(() => {
    if (some) startTransition(() => setAll(true))
  }, [some])
  return all ? list.items : list.items.slice(0, Math.ceil(innerHeight / 40))
}

/** The head of a column. */
function HeadCell({ column: { label, end, sorts = [], width = 9 }, first, sorting }: { column: Column<any>; first: boolean; sorting: Sorting | undefined }) {
  const at = sorting ? sorts.indexOf(sorting.by) : -1
  const down = sorting?.by.startsWith("-")
  const Arrow = down ? ArrowDown : ArrowUp
  return (
    <th scope="col" className={end ? "end" : undefined} title={label} style={first ? undefined : { width: `${width}rem` }} aria-sort={at < 0 ? undefined : down ? "descending" : "ascending"}>
      {sorting && sorts.length > 0 ? <button className="sort" onClick={() => sorting.set(sorts[at + 1])}>{label}{at >= 0 && <Arrow aria-hidden />}</button> : label}
    </th>
  )
}

export function List<T>({ list, waits, columns, keeps, choice, sorting, id, name, empty, filtered, onClear, selection }: {
  list: ReturnType<typeof useList<T>>
  /** Something else that the rows show is on its way. */
  waits?: boolean
  /** Rows are drawn anew when the array is another one: a list of many pages keeps it with useMemo. */
  columns: Column<T>[]
  /** The name under which the choice of columns is kept for the person. */
  keeps: string
  /** The columns that are not wanted, and how to change them, where a view of the list says so. */
  choice?: readonly [ReadonlySet<string>, (unwanted: ReadonlySet<string>) => void]
  /** For a list whose columns have sorts. */
  sorting?: Sorting
  id: (item: T) => string
  /** What the list holds, for screen readers. */
  name: string
  /** Shown when there is nothing at all. */
  empty: { icon: LucideIcon; title: string; text?: string; action?: ReactNode }
  /** Whether filters are set: then an empty list says so. */
  filtered?: boolean
  onClear?: () => void
  /** toggle and label depend on their argument alone: rows keep the first ones. */
  selection?: Selection<T>
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  useWalk(body)
  const { ref, room } = useRoom(selection ? checkWidth : 0)
  const usual = useUnwanted(keeps)
  const [unwanted, choose] = choice ?? usual
  const shape = useShape(columns, room ?? 0, unwanted)
  const rows = useRows(list)
  if (list.isPending || (waits && list.items.length > 0)) return <Skeleton lines={10} />
  if (list.isError && list.items.length === 0) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (list.items.length === 0) {
    return filtered ? (
      <Blank icon={empty.icon} title={t("list.nothing")} text={t("list.nothing_text")}>
        {onClear && <Button onClick={onClear}>{t("list.clear")}</Button>}
      </Blank>
    ) : (
      <Blank icon={empty.icon} title={empty.title} text={empty.text}>{empty.action}</Blank>
    )
  }
  return (
    <div ref={ref} className={list.isPlaceholderData ? "list list--old" : "list"}>
      <div className="table-frame" tabIndex={-1}>
        <table className="table table--list" aria-label={name} aria-busy={list.isFetching}>
          <thead>
            <tr>
              {selection && <th className="cell-check">{selection.toggleAll ? (
                <label className="check-target"><input type="checkbox" checked={selection.all || rows.every((x) => selection.chosen.has(id(x)))} onChange={() => selection.toggleAll!(rows.map(id))} aria-label={t("list.select_all")} /></label>
              ) : <span className="sr">{t("list.select")}</span>}</th>}
              {shape.shown.map((c, i) => <HeadCell key={c.key} column={c} first={i === 0} sorting={sorting} />)}
            </tr>
          </thead>
          <tbody ref={body}>
            {room !== undefined && rows.map((item) => (
              <Row key={id(item)} item={item} id={id(item)} shape={shape} selection={selection} chosen={selection ? (selection.all || selection.chosen.has(id(item))) : false} />
            ))}
          </tbody>
        </table>
      </div>
      {columns.length > 2 && <Chooser columns={columns} shape={shape} unwanted={unwanted} choose={choose} />}
      <div className="list-foot">
        <span className="soft" role="status">{t("list.shown", { n: rows.length, total: list.total })}</span>
        <NextPage list={list} />
      </div>
    </div>
  )
}

/** How many records a list has, beside its title. */
export const Total = ({ n }: { n: number | undefined }) => (n === undefined ? null : <span className="count">{number(n)}</span>)

const rowOf = (e: Element) => e.closest("tr, li")
const isFirstLink = (e: Element) => e.matches("a[href]") && rowOf(e)?.querySelector("a[href]") === e

/**
 * j and k walk over the first link of each row; Enter opens it as any link. They go on from what has the focus; from outside the list j
 * begins at the first row and k at the last. A key reads the list as far as the next link, however long the list is.
 */
export function useWalk(body: React.RefObject<HTMLElement | null>) {
  const step = (way: "nextNode" | "previousNode") => {
    const list = body.current
    if (!list) return
    const links = document.createTreeWalker(list, NodeFilter.SHOW_ELEMENT, (e) => (isFirstLink(e as Element) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP))
    const at = document.activeElement
    let next: Node | null
    if (at && at !== list && list.contains(at)) {
      links.currentNode = at
      next = links[way]() ?? at
    } else next = way === "nextNode" ? links.firstChild() : links.lastChild()
    if (!(next instanceof HTMLElement)) return
    next.focus()
    rowOf(next)?.scrollIntoView({ block: "nearest" })
  }
  useKeys({ j: () => step("nextNode"), k: () => step("previousNode") })
}

/** A search field that writes to the address after a short pause. "/" gives it the focus, Enter leaves it, so that j goes to the first row. */
export function SearchField({ value, onChange, label }: { value: string | undefined; onChange: (value: string | undefined) => void; label: string }) {
  const ref = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useKeys({ "/": () => ref.current?.focus() })
  useEffect(() => {
    // The address changed elsewhere, such as by the back button.
    if (ref.current && document.activeElement !== ref.current) ref.current.value = value ?? ""
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const send = () => {
    clearTimeout(timer.current)
    onChange(ref.current!.value.trim() || undefined)
  }
  return (
    <form className="search" role="search" onSubmit={(e) => (e.preventDefault(), send(), ref.current!.blur())}>
      <input ref={ref} type="search" className="input input--search" aria-label={label} placeholder={label} defaultValue={value} maxLength={100} autoComplete="off"
        onChange={() => {
          clearTimeout(timer.current)
          timer.current = setTimeout(send, 200)
        }} />
    </form>
  )
}

/** The row under the head: the search field, and filters that fold away on a phone. count is how many are set. */
export function Tools({ search, children, count = 0, onClear }: { search?: ReactNode; children?: ReactNode; count?: number; onClear?: () => void }) {
  const [open, setOpen] = useState(false)
  return (
    <div className={open ? "tools tools--open" : "tools"}>
      {search}
      {children && (
        <>
          <Button className="tools-fold" icon={<SlidersHorizontal aria-hidden />} aria-expanded={open} onClick={() => setOpen(!open)}>
            {count > 0 ? t("list.filters_set", { n: count }) : t("list.filters")}
          </Button>
          <div className="tools-filters">
            {children}
            {count > 0 && onClear && <Button kind="quiet" small onClick={onClear}>{t("list.clear")}</Button>}
          </div>
        </>
      )}
    </div>
  )
}

/** A filter by a day "2026-11-24". */
export const DayChoice = ({ label, value, onChange }: { label: string; value: string | undefined; onChange: (day: string | undefined) => void }) => (
  <label className="date-choice"><span>{label}</span><input type="date" className="input" value={value ?? ""} onChange={(e) => onChange(e.target.value || undefined)} /></label>
)

/** Filters that few people need, behind a button. count is how many of them are set. */
export function More({ count, children }: { count: number; children: ReactNode }) {
  const id = useId()
  return (
    <>
      <button className={count > 0 ? "button button--plain more-button more-button--set" : "button button--plain more-button"} popoverTarget={id}><span>{count > 0 ? t("list.filters_set", { n: count }) : t("views.more")}</span></button>
      <div id={id} popover="auto" className="popover more-filters" role="group" aria-label={t("views.more")}>{children}</div>
    </>
  )
}

/** The order of a list as a choice: a column by which it is sorted may have no room. */
export const SortChoice = ({ sorting, orders }: { sorting: Sorting; orders: { value: string; label: string }[] }) => (
  <label className="choice">
    <span className="sr">{t("views.sort")}</span>
    <select className="select" value={sorting.by} onChange={(e) => sorting.set(e.target.value)}>
      {orders.map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
    </select>
  </label>
)

/** A filter as a select whose first choice is "any". */
export function Choice<V extends string>({ label, value, options, onChange }: {
  label: string
  value: V | undefined
  options: { value: V; label: string }[]
  onChange: (value: V | undefined) => void
}) {
  return (
    <label className={value ? "choice choice--set" : "choice"}>
      <span className="sr">{label}</span>
      <select className="select" value={value ?? ""} onChange={(e) => onChange((e.target.value || undefined) as V | undefined)}>
        <option value="">{label}</option>
        {options.map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
      </select>
    </label>
  )
}

/** How many filters are set, apart from those that are named. */
export const countFilters = (search: Record<string, string | undefined>, ...except: string[]) => Object.entries(search).filter(([n, v]) => v && !except.includes(n)).length
