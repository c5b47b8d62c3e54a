// Views that people and the team keep of a list: a tab for each over it, with its filters, its order and its columns.
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { BookmarkPlus, Save, Settings2, Users } from "lucide-react"
import { Suspense, useEffect, useRef, useState } from "react"
import { Button } from "./button"
import { useUnwanted } from "./chooser"
import { late } from "./late"
import { can, me } from "./start"
import { t } from "./text"
import { viewsQuery, type Entity, type Query, type Search, type View } from "./view"

const NewView = late(() => import("./view-dialog").then((m) => ({ default: m.NewView })))
const EditView = late(() => import("./view-dialog").then((m) => ({ default: m.EditView })))

/** The address of a list whose parameters are those of the API. */
export const addressOf = (q: Query): Search => Object.fromEntries(Object.entries(q).map(([name, value]) => [name, String(value)]))

/** Whether the person may change a view: their own, and what is shared if they manage. */
const mayChange = (v: View) => v.user_id === me.user_id || (v.shared && can("svc_manage_crm"))

/** What a list is asked for, in one form whoever wrote it. */
const plainQuery = (q: Query) => JSON.stringify(Object.entries(q).map(([n, v]) => [n, String(v)]).filter(([, v]) => v).toSorted())

const none: View[] = []

/**
 * The views of a list. tab is the id of the chosen one in the address, query what the list is asked for now. address gives what stands in the address
 * for a view, or without one.
 */
export function useViews(entity: Entity, { tab, query, columns = [], address }: { tab: string | undefined; query: Query; columns?: { key: string; label: string }[]; address: (q: Query) => Search }) {
  const views = useQuery(viewsQuery(entity)).data ?? none
  const [usual, chooseUsual] = useUnwanted(entity)
  const [own, chooseOwn] = useState<{ tab: string; unwanted: ReadonlySet<string> }>()
  const current = views.find((v) => v.id === tab)
  // The first column stays in any case.
  const all = columns.slice(1).filter((c) => c.label).map((c) => c.key)
  const kept = new Set(current && current.columns.length > 0 ? all.filter((c) => !current.columns.includes(c)) : [])
  const unwanted = !current ? usual : own?.tab === current.id ? own.unwanted : kept
  const choose = (next: ReadonlySet<string>) => (current ? chooseOwn({ tab: current.id, unwanted: next }) : chooseUsual(next))
  const wanted = all.filter((c) => !unwanted.has(c))
  const shown = wanted.length === all.length ? [] : wanted
  const changed = current ? plainQuery(query) !== plainQuery(current.query) || (all.length > 0 && all.some((c) => kept.has(c) !== unwanted.has(c))) : plainQuery(query) !== "[]"
  return { entity, views, current, changed, query, columns: all.length > 0 ? shown : (current?.columns ?? []), choice: [unwanted, choose] as const, address, settle: () => chooseOwn(undefined) }
}

type Views = ReturnType<typeof useViews>

/** Stands between the head of a list and its filters. */
export function ViewTabs({ of }: { of: Views }) {
  const [open, setOpen] = useState<"new" | "edit">()
  const { current } = of
  const tabs = useRef<HTMLElement>(null)
  const shown = current?.id
  useEffect(() => {
    if (shown) tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [shown])
  const close = () => setOpen(undefined)
  return (
    <div className="views">
      <nav ref={tabs} className="tabs views-tabs" aria-label={t("views.title")}>
        <Link to="." search={of.address({})} className={current ? "tab" : "tab active"} activeOptions={{ exact: true }} aria-current={current ? undefined : "page"}>{t("views.all")}</Link>
        {of.views.map((v) => (
          <Link key={v.id} to="." search={{ ...of.address(v.query), tab: v.id }} className={v === current ? "tab active" : "tab"} aria-current={v === current ? "page" : undefined}>
            {v.shared && <Users aria-label={t("views.shared")} />}
            <span>{v.name}</span>
          </Link>
        ))}
      </nav>
      <div className="row row--tight views-do">
        {of.changed && current && mayChange(current) && <Button kind="quiet" small icon={<Save aria-hidden />} onClick={() => void import("./view-dialog").then((m) => m.saveView(of, current))}>{t("views.save")}</Button>}
        {of.changed && <Button kind="quiet" small icon={<BookmarkPlus aria-hidden />} onClick={() => setOpen("new")}>{t("views.new")}</Button>}
        {current && mayChange(current) && <button className="icon-button" aria-label={t("views.edit", { name: current.name })} title={t("views.edit", { name: current.name })} onClick={() => setOpen("edit")}><Settings2 aria-hidden /></button>}
      </div>
      <Suspense>
        {open === "new" && <NewView of={of} onClose={close} />}
        {open === "edit" && current && <EditView key={current.id} of={of} view={current} onClose={close} />}
      </Suspense>
    </div>
  )
}
