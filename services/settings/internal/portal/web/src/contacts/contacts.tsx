import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Download, Pencil, Plus, RotateCcw, Trash2, Upload, UserRoundPlus, Users } from "lucide-react"
import { Suspense, useMemo, useState } from "react"
import { api, take } from "@/api/client"
import { download } from "@/api/download"
import type { operations } from "@/api/schema"
import { useAsked } from "@/kit/ask"
import { BulkBar, useBulk } from "@/kit/bulk"
import { Button, ButtonAnchor, ButtonLink } from "@/kit/button"
import { agoText, dateText, dayOf } from "@/kit/dates"
import { late } from "@/kit/late"
import { Choice, type Column, countFilters, DayChoice, List, More, SearchField, SortChoice, Tools, Total, useList } from "@/kit/list"
import { RecordFilter } from "@/kit/record-filter"
import { Head, initials } from "@/kit/head"
import { Restore } from "@/kit/restore"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import { addressOf, useViews, ViewTabs } from "@/kit/views"
import { momentOf, startOfDay } from "@/kit/wall"
import { callMany } from "./call-many"
import { orders, organizationQuery, statuses, subscriptions, useFields, useFieldsPending, useSources, valueText, type Contact } from "./data"
import { Status } from "./marks"
import { findOrganizations, useTags, nameOf } from "@/kit/records"
import { useTeam } from "@/team/data"

const route = getRouteApi("/contacts")
const ChangeMany = late(() => import("./change-many").then((m) => ({ default: m.ChangeMany })))
const NewContact = late(() => import("./new-contact").then((m) => ({ default: m.NewContact })))

/** What the API narrows contacts down by, except for a list of changes. */
type Narrows = Exclude<keyof NonNullable<operations["find-contacts"]["parameters"]["query"]>, "cursor" | "per_page" | "updated_since">
/** Names of the address that are these and no others: else it does not compile. */
type Same<A, B extends A> = [A] extends [B] ? B : never

export function Contacts() {
  const { tab, ...asked } = route.useSearch()
  const search: { [N in Same<keyof typeof asked, Narrows>]?: string } = asked
  const navigate = route.useNavigate()
  const [making, setMaking] = useState(false)
  useAsked("contact", () => setMaking(true))
  const [changing, setChanging] = useState(false)
  const queries = useQueryClient()
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const list = useList(["contacts", "list", search], (cursor, signal) =>
    take(api.GET("/contacts", { params: { query: { ...search, per_page: 50, cursor } }, signal })))
  const bulk = useBulk(list.total, (cursor) => take(api.GET("/contacts", { params: { query: { ...search, per_page: 100, cursor } } })), () => void queries.invalidateQueries({ queryKey: ["contacts"] }))
  const team = useTeam()
  const fields = useFields("contact")
  const pending = useFieldsPending("contact")
  const sorting = { by: search.sort ?? "-created_at", set: (by: string | undefined) => set({ sort: by === "-created_at" ? undefined : by }) }
  const organization = useQuery({ ...organizationQuery(search.organization ?? ""), enabled: !!search.organization }).data
  const owner = (id: number | null) => team.find((m) => m.user_id === id)?.name ?? ""

  const columns = useMemo((): Column<Contact>[] => [
    { key: "name", label: t("contacts.name"), sorts: ["name"], cell: (c) => (
      <div className="cell-line">
        <span className="avatar" aria-hidden>{initials(nameOf(c))}</span>
        <span className="cell-main">
          <Link to="/contacts/$id" params={{ id: c.id }} className="row-link cell-text">{nameOf(c)}</Link>
          {c.organization && <small className="cell-text">{c.organization.name}</small>}
        </span>
        {c.deleted_at && !search.deleted && <span className="mark mark--bad">{t("trash.title")}</span>}
      </div>
    ) },
    { key: "email", label: t("contacts.email"), width: 17, hides: 2, cell: (c) => <span className="cell-text">{c.email}</span> },
    { key: "phone", label: t("contacts.phone"), width: 10, hides: 3, cell: (c) => <span className="cell-text num">{c.phone}</span> },
    { key: "status", label: t("contacts.status"), width: 8, under: true, cell: (c) => <Status status={c.status} /> },
    { key: "tags", label: t("contacts.tags"), width: 12, hides: 5, cell: (c) => <span className="row row--tight">{c.tags.slice(0, 3).map((x) => <span key={x} className="tag"><span>{x}</span></span>)}{c.tags.length > 3 && <span className="soft small">+{c.tags.length - 3}</span>}</span> },
    ...fields.filter((f) => f.show_in_list && !f.archived).map((f): Column<Contact> => ({ key: "field." + f.key, label: f.label, hides: 6, cell: (c) => <span className="cell-text">{valueText(c.fields[f.key])}</span> })),
    { key: "owner", label: t("contacts.owner"), width: 10, hides: 4, cell: (c) => <span className="cell-text">{owner(c.owner_user_id)}</span> },
    { key: "created", label: t("views.created"), width: 8, hides: 7, sorts: ["-created_at", "created_at"], cell: (c) => <span className="soft nowrap">{dateText(c.created_at)}</span> },
    search.deleted
      ? { key: "restore", label: t("trash.at"), width: 15, under: true, end: true, cell: (c) => c.deleted_at && <Restore noun="contacts" name={nameOf(c)} at={c.deleted_at} permission="svc_delete_contacts" send={() => api.POST("/contacts/{id}/restore", { params: { path: { id: c.id } } })} /> }
      : { key: "activity", label: t("contacts.last_activity"), hides: 1, sorts: ["-last_activity"], end: true, cell: (c) => <span className="soft nowrap">{c.last_activity && agoText(c.last_activity)}</span> },
  ], [team, fields, search.deleted])
  const views = useViews("contacts", { tab, query: search, columns, address: addressOf })
  const { include_deleted: _, deleted, ...exported } = search
  const day = (name: "appointment_from" | "no_appointment_since" | "created_since", label: string) =>
    <DayChoice label={label} value={search[name] && dayOf(search[name])} onChange={(d) => set({ [name]: d && startOfDay(d) })} />
  return (
    <>
      <Head title={t("nav.contacts")} count={<Total n={list.data && list.total} />}>
        {can("svc_export_contacts") && !deleted && (
          <ButtonAnchor icon={<Download aria-hidden />} href={download("/exports/contacts.csv", bulk.chosen.size > 0 && !bulk.all ? { ids: [...bulk.chosen] } : exported)} download>
            {bulk.chosen.size > 0 && !bulk.all ? t("contacts.export_chosen", { n: bulk.chosen.size }) : t("contacts.export")}
          </ButtonAnchor>
        )}
        {can("svc_import_contacts") && <ButtonLink to="/import" icon={<Upload aria-hidden />}>{t("contacts.import")}</ButtonLink>}
        {can("svc_edit_contacts") && <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("contacts.new")}</Button>}
      </Head>
      <ViewTabs of={views} />
      <Tools count={countFilters(search, "search", "sort")} onClear={() => void navigate({ search: { tab, search: search.search, sort: search.sort }, replace: true })}
        search={<SearchField value={search.search} onChange={(v) => set({ search: v })} label={t("contacts.search")} />}>
        <Choice label={t("contacts.status")} value={search.status} options={statuses()} onChange={(v) => set({ status: v })} />
        <Choice label={t("contacts.marketing")} value={search.marketing} options={subscriptions()} onChange={(v) => set({ marketing: v })} />
        <Choice label={t("contacts.tag")} value={search.tag} options={useTags().map((x) => ({ value: x.name, label: x.name }))} onChange={(v) => set({ tag: v })} />
        <Choice label={t("contacts.owner")} value={search.owner} options={team.map((m) => ({ value: String(m.user_id), label: m.name }))} onChange={(v) => set({ owner: v })} />
        <Choice label={t("contacts.source")} value={search.source} options={useSources().map((x) => ({ value: x, label: x }))} onChange={(v) => set({ source: v })} />
        <RecordFilter name="organization" label={t("contacts.organization")} clear={t("contacts.any_organization")} source="organizations" find={findOrganizations} value={search.organization} shown={organization?.name ?? t("contacts.organization")} onChange={(id) => set({ organization: id })} />
        <Choice label={t("trash.title")} value={search.deleted ? "deleted" : search.include_deleted && "include_deleted"} options={[{ value: "include_deleted", label: t("contacts.with_trash") }, { value: "deleted", label: t("trash.only") }]}
          onChange={(v) => set({ include_deleted: undefined, deleted: undefined, ...(v && { [v]: "true" }) })} />
        <More count={countFilters({ a: search.appointment_from, b: search.appointment_to, c: search.no_appointment_since, d: search.created_since })}>
          {day("appointment_from", t("contacts.appointment_from"))}
          <DayChoice label={t("contacts.appointment_to")} value={search.appointment_to && dayOf(search.appointment_to)} onChange={(d) => set({ appointment_to: d && momentOf(`${d}T23:59:59`) })} />
          {day("no_appointment_since", t("contacts.no_appointment_since"))}
          {day("created_since", t("contacts.created_since"))}
        </More>
        <SortChoice sorting={sorting} orders={orders()} />
      </Tools>
      <BulkBar bulk={bulk}>
        {can("svc_edit_contacts") && !search.deleted && <Button small icon={<Pencil aria-hidden />} onClick={() => setChanging(true)}>{t("bulk.edit")}</Button>}
        {can("svc_delete_contacts") && (search.deleted
          ? <Button small icon={<RotateCcw aria-hidden />} onClick={() => void bulk.run(callMany("contacts", { restore: true }), callMany("contacts", { trash: true }))}>{t("trash.restore")}</Button>
          : <Button small icon={<Trash2 aria-hidden />} onClick={() => void bulk.run(callMany("contacts", { trash: true }), callMany("contacts", { restore: true }))}>{t("trash.move")}</Button>)}
      </BulkBar>
      <List list={list} waits={pending} columns={columns} keeps="contacts" choice={views.choice} sorting={sorting} id={(c) => c.id} name={t("nav.contacts")} filtered={countFilters(search, "sort") > 0} onClear={() => void navigate({ search: {} })}
        selection={can("svc_export_contacts") || can("svc_edit_contacts") ? { ...bulk, label: (c) => t("contacts.choose", { name: nameOf(c) }) } : undefined}
        empty={{ icon: Users, title: t("contacts.empty"), text: t("contacts.empty_text"), action: can("svc_edit_contacts") && <Button kind="main" icon={<UserRoundPlus aria-hidden />} onClick={() => setMaking(true)}>{t("contacts.new")}</Button> }} />
      <Suspense>{making && <NewContact onClose={() => setMaking(false)} />}{changing && <ChangeMany kind="contacts" bulk={bulk} onClose={() => setChanging(false)} />}</Suspense>
    </>
  )
}
