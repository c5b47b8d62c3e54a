import { useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Building2, CopyCheck, Download, Pencil, Plus, RotateCcw, Trash2 } from "lucide-react"
import { Suspense, useMemo, useState } from "react"
import { api, take } from "@/api/client"
import { download } from "@/api/download"
import { useAsked } from "@/kit/ask"
import { BulkBar, useBulk } from "@/kit/bulk"
import { Button, ButtonAnchor, ButtonLink } from "@/kit/button"
import { agoText, dateText } from "@/kit/dates"
import { late } from "@/kit/late"
import { Choice, type Column, countFilters, List, SearchField, SortChoice, Tools, Total, useList } from "@/kit/list"
import { Head, initials } from "@/kit/head"
import { Restore } from "@/kit/restore"
import { can } from "@/kit/start"
import { number, t } from "@/kit/text"
import { addressOf, useViews, ViewTabs } from "@/kit/views"
import { callMany } from "./call-many"
import { orders, type Organization } from "./data"
import { useTeam } from "@/team/data"

const route = getRouteApi("/organizations")
const ChangeMany = late(() => import("./change-many").then((m) => ({ default: m.ChangeMany })))
const NewOrganization = late(() => import("./new-organization").then((m) => ({ default: m.NewOrganization })))

export function Organizations() {
  const { tab, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const [making, setMaking] = useState(false)
  useAsked("organization", () => setMaking(true))
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const list = useList(["organizations", "list", search], (cursor, signal) =>
    take(api.GET("/organizations", { params: { query: { ...search, per_page: 50, cursor } }, signal })))
  const queries = useQueryClient()
  const [changing, setChanging] = useState(false)
  const bulk = useBulk(list.total, (cursor) => take(api.GET("/organizations", { params: { query: { ...search, per_page: 100, cursor } } })), () => void queries.invalidateQueries({ queryKey: ["organizations"] }))
  const sorting = { by: search.sort ?? "-created_at", set: (by: string | undefined) => set({ sort: by === "-created_at" ? undefined : by }) }
  const columns = useMemo((): Column<Organization>[] => [
    { key: "name", label: t("contacts.organization"), sorts: ["name"], cell: (o) => (
      <div className="cell-line">
        <span className="avatar avatar--square" aria-hidden>{initials(o.name)}</span>
        <Link to="/organizations/$id" params={{ id: o.id }} className="row-link cell-text">{o.name}</Link>
      </div>
    ) },
    { key: "city", label: t("contacts.city"), width: 10, hides: 2, cell: (o) => <span className="cell-text">{o.city}</span> },
    { key: "vat", label: t("contacts.vat_number"), width: 11, hides: 4, cell: (o) => <span className="cell-text num">{o.vat_number}</span> },
    { key: "email", label: t("contacts.email"), width: 17, hides: 3, cell: (o) => <span className="cell-text">{o.email}</span> },
    { key: "people", label: t("contacts.people"), width: 6, end: true, cell: (o) => number(o.contacts_count) },
    { key: "created", label: t("views.created"), width: 8, hides: 5, sorts: ["-created_at", "created_at"], cell: (o) => <span className="soft nowrap">{dateText(o.created_at)}</span> },
    search.deleted
      ? { key: "restore", label: t("trash.at"), width: 15, under: true, end: true, cell: (o) => o.deleted_at && <Restore noun="organizations" name={o.name} at={o.deleted_at} permission="svc_delete_contacts" send={() => api.POST("/organizations/{id}/restore", { params: { path: { id: o.id } } })} /> }
      : { key: "activity", label: t("contacts.last_activity"), hides: 1, sorts: ["-last_activity"], end: true, cell: (o) => <span className="soft nowrap">{o.last_activity && agoText(o.last_activity)}</span> },
  ], [search.deleted])
  const views = useViews("organizations", { tab, query: search, columns, address: addressOf })
  return (
    <>
      <Head title={t("nav.organizations")} count={<Total n={list.data && list.total} />}>
        <ButtonLink to="/organizations/duplicates" icon={<CopyCheck aria-hidden />}>{t("contacts.duplicates")}</ButtonLink>
        {can("svc_export_contacts") && !search.deleted && <ButtonAnchor icon={<Download aria-hidden />} href={download("/exports/organizations.csv", search)} download>{t("contacts.export")}</ButtonAnchor>}
        {can("svc_edit_contacts") && <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("contacts.new_organization")}</Button>}
      </Head>
      <ViewTabs of={views} />
      <Tools count={countFilters(search, "search", "sort")} onClear={() => void navigate({ search: { tab, search: search.search, sort: search.sort }, replace: true })}
        search={<SearchField value={search.search} onChange={(v) => set({ search: v })} label={t("contacts.search_organizations")} />}>
        <Choice label={t("contacts.owner")} value={search.owner} options={useTeam().map((m) => ({ value: String(m.user_id), label: m.name }))} onChange={(v) => set({ owner: v })} />
        <Choice label={t("trash.title")} value={search.deleted && "true"} options={[{ value: "true", label: t("trash.only") }]} onChange={(v) => set({ deleted: v })} />
        <SortChoice sorting={sorting} orders={orders()} />
      </Tools>
      <BulkBar bulk={bulk}>
        {!search.deleted && <Button small icon={<Pencil aria-hidden />} onClick={() => setChanging(true)}>{t("bulk.edit")}</Button>}
        {can("svc_delete_contacts") && (search.deleted
          ? <Button small icon={<RotateCcw aria-hidden />} onClick={() => void bulk.run(callMany("organizations", { restore: true }), callMany("organizations", { trash: true }))}>{t("trash.restore")}</Button>
          : <Button small icon={<Trash2 aria-hidden />} onClick={() => void bulk.run(callMany("organizations", { trash: true }), callMany("organizations", { restore: true }))}>{t("trash.move")}</Button>)}
      </BulkBar>
      <List list={list} columns={columns} keeps="organizations" choice={views.choice} sorting={sorting} id={(o) => o.id} name={t("nav.organizations")} selection={can("svc_edit_contacts") ? { ...bulk, label: (o) => t("contacts.choose", { name: o.name }) } : undefined} filtered={countFilters(search, "sort") > 0} onClear={() => void navigate({ search: {} })}
        empty={{ icon: Building2, title: t("contacts.no_organizations"), text: t("contacts.no_organizations_text"), action: can("svc_edit_contacts") && <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("contacts.new_organization")}</Button> }} />
      <Suspense>{making && <NewOrganization onClose={() => setMaking(false)} />}{changing && <ChangeMany kind="organizations" bulk={bulk} onClose={() => setChanging(false)} />}</Suspense>
    </>
  )
}
