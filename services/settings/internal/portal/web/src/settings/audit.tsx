import "./settings.css"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Download, History, ListFilter, ScrollText, X } from "lucide-react"
import { Suspense, useMemo, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { download } from "@/api/download"
import { Button, ButtonAnchor } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { Choice, type Column, countFilters, DayChoice, List, Tools, Total, useList } from "@/kit/list"
import { Head } from "@/kit/head"
import { late } from "@/kit/late"
import { can } from "@/kit/start"
import { t, tOr } from "@/kit/text"
import { addDays, startOfDay } from "@/kit/wall"
import { useTeam } from "@/team/data"
import { actionName } from "./data"

type Entry = Schema<"AuditEntry">

const Work = late(() => import("./work").then((m) => ({ default: m.Work })))

const route = getRouteApi("/audit")
const channels = ["app", "portal", "api", "ability", "form", "booking", "import", "email", "system"] as const
type Channel = (typeof channels)[number]
const outcomes = ["done", "refused"] as const

/** Where a record of a type can be looked at. */
const screens: Record<string, string> = { contact: "/contacts/$id", organization: "/organizations/$id", appointment: "/appointments/$id", service: "/services/$id", form: "/forms/$id", webhook: "/webhooks/$id", user: "/people/$id", staff: "/people/$id" }
/** The kinds of records that are chosen among, in the order of how often somebody looks for one. */
const kinds = ["contact", "organization", "appointment", "submission", "task", "service", "form", "webhook", "user", "role", "settings", "page", "view", "import"] as const
/** Actions on one's own account, which are no abilities. */
const ofAccounts = ["sign-in", "sign-out", "passkey-sign-in", "reset-password", "accept-invitation", "create-application-password", "delete-application-password", "confirm-two-factor", "end-two-factor", "reset-two-factor", "create-user", "link-organization-account", "unlink-organization-account", "connect-assistant", "delete-connection", "end-user-connection", "revoke-connection", "end-reused-connection"]

/** A name of the API as words. */
const words = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ")
const actionText = (action: string) => actionName(action, words(action))
const kindText = (kind: string) => tOr("settings.record." + kind, words(kind.replaceAll("_", "-")))

export function Audit() {
  const [working, setWorking] = useState(false)
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const channel = channels.find((c) => c === search.channel)
  const outcome = outcomes.find((o) => o === search.outcome)
  const query = {
    channel, outcome, action: search.action, user: search.user, record_type: search.record_type, record_id: search.record_id,
    created_since: search.since && startOfDay(search.since), created_until: search.until && startOfDay(addDays(search.until, 1)),
  }
  const list = useList<Entry>(["audit_entry", "list", search], (cursor, signal) => take(api.GET("/audit-log", { params: { query: { ...query, user: query.user ? Number(query.user) : undefined, cursor, per_page: 50 } }, signal })))
  const team = useTeam()
  const abilities = useQuery({ queryKey: ["abilities"], queryFn: () => take(api.GET("/integrations/ai")), staleTime: 5 * 60_000, select: (x) => x.abilities.filter((a) => !a.readonly).map((a) => a.name.replace(/^svc\//, "")) }).data ?? []
  const actions = [...new Set([...abilities, ...ofAccounts, ...(search.action ? [search.action] : [])])].sort((a, b) => actionText(a).localeCompare(actionText(b)))
  const columns = useMemo((): Column<Entry>[] => [
    { key: "who", label: t("settings.audit.who"), cell: (e) => (
      <span className="cell-main">
        <b className="cell-text">{e.actor_label || t("settings.audit.nobody")}</b>
        <small className="cell-text">{tOr("settings.channel." + e.channel, e.channel)}</small>
      </span>
    ) },
    { key: "when", label: t("settings.audit.when"), hides: 1, under: true, cell: (e) => <time className="nowrap soft" dateTime={e.created_at} title={momentText(e.created_at)}>{agoText(e.created_at)}</time> },
    { key: "what", label: t("settings.audit.what"), width: 18, under: true, cell: (e) => (
      <div className="audit-what">
        <button className="link audit-action" title={t("settings.audit.only")} onClick={() => set({ action: e.action })}>{actionText(e.action)}</button>
        {e.outcome === "refused" && <span className="mark mark--bad">{t("settings.audit.refused")}</span>}
        {e.changes && <Changes changes={e.changes} />}
      </div>
    ) },
    { key: "record", label: t("settings.audit.record"), width: 13, hides: 2, under: true, cell: (e) => <Subject e={e} only={() => set({ record_type: e.record_type, record_id: e.record_id })} /> },
    { key: "address", label: t("settings.audit.address"), width: 10, hides: 3, end: true, cell: (e) => <span className="soft num nowrap">{e.address}</span> },
  ], [])
  return (
    <>
      <Head title={t("nav.audit")} count={<Total n={list.data && list.total} />}>
        {can("svc_manage_integrations", "all") && <Button icon={<History aria-hidden />} onClick={() => setWorking(true)}>{t("settings.work.title")}</Button>}
        <ButtonAnchor icon={<Download aria-hidden />} href={download("/exports/audit-log.csv", query)} download>{t("settings.audit.export")}</ButtonAnchor>
      </Head>
      {working && <Suspense><Work onClose={() => setWorking(false)} /></Suspense>}
      <Tools count={countFilters(search)} onClear={() => void navigate({ search: {}, replace: true })}>
        <Choice label={t("settings.audit.who")} value={search.user} options={team.map((m) => ({ value: String(m.user_id), label: m.name }))} onChange={(v) => set({ user: v })} />
        <DayChoice label={t("settings.audit.since")} value={search.since} onChange={(since) => set({ since })} />
        <DayChoice label={t("settings.audit.until")} value={search.until} onChange={(until) => set({ until })} />
        {search.record_id
          ? <span className="tag tag--filter"><span>{kindText(search.record_type ?? "")} <span className="num">{search.record_id.slice(-8)}</span></span><button aria-label={t("settings.audit.any_record")} onClick={() => set({ record_type: undefined, record_id: undefined })}><X aria-hidden /></button></span>
          : <Choice label={t("settings.audit.record")} value={search.record_type} options={kinds.map((value) => ({ value, label: kindText(value) }))} onChange={(v) => set({ record_type: v })} />}
        <Choice label={t("settings.audit.outcome")} value={outcome} options={outcomes.map((value) => ({ value, label: t(`settings.audit.${value}`) }))} onChange={(v) => set({ outcome: v })} />
        <Choice<Channel> label={t("settings.audit.channel")} value={channel} options={channels.map((value) => ({ value, label: t(`settings.channel.${value}`) }))} onChange={(v) => set({ channel: v })} />
        <Choice label={t("settings.audit.action")} value={search.action} options={actions.map((value) => ({ value, label: actionText(value) }))} onChange={(v) => set({ action: v })} />
      </Tools>
      <List list={list} columns={columns} keeps="audit" id={(e) => e.id} name={t("nav.audit")} filtered={countFilters(search) > 0} onClear={() => void navigate({ search: {} })}
        empty={{ icon: ScrollText, title: t("settings.audit.empty"), text: t("settings.audit.empty_text") }} />
    </>
  )
}

/** So many changed fields stand in the list; the others open. */
const most = 3

/** What changed, before and after. Fields have the API's names, which are English. */
function Changes({ changes }: { changes: NonNullable<Entry["changes"]> }) {
  const all = (Object.entries(changes) as [string, { old: unknown; new: unknown }][]).sort(([a], [b]) => a.localeCompare(b))
  const row = ([name, c]: (typeof all)[number]) => (
    <li key={name}><span className="soft" lang="en">{words(name.replace(/[._]/g, " "))}</span> <del>{valueText(c.old)}</del> <span aria-hidden>→</span> <ins>{valueText(c.new)}</ins></li>
  )
  return (
    <>
      <ul className="changes">{all.slice(0, most).map(row)}</ul>
      {all.length > most && (
        <details className="changes">
          <summary>{t("settings.audit.more", { n: all.length - most })}</summary>
          <ul className="changes">{all.slice(most).map(row)}</ul>
        </details>
      )}
    </>
  )
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

const valueText = (v: unknown): string => {
  if (v === null || v === undefined || v === "") return t("none")
  if (typeof v === "boolean") return t(v ? "yes" : "no")
  // A list in a list is a range, as of working hours.
  if (Array.isArray(v)) return v.length === 0 ? t("none") : v.map((one) => (Array.isArray(one) ? one.join("–") : valueText(one))).join(", ")
  if (typeof v === "string" && moment.test(v)) return momentText(v)
  return typeof v === "object" ? JSON.stringify(v) : String(v)
}

/** The record, which leads to its screen, and a button that shows what else was done to it. */
function Subject({ e, only }: { e: Entry; only: () => void }) {
  if (!e.record_type) return null
  const type = kindText(e.record_type)
  const to = screens[e.record_type]
  if (e.record_ids.length > 0) return <span className="cell-main"><span>{type}</span><small className="cell-text num" title={e.record_ids.join(" ")}>{t("settings.audit.records", { n: e.record_ids.length })}</small></span>
  return (
    <span className="audit-record">
      <span className="cell-main">
        {to && e.record_id ? <Link to={to as "/contacts/$id"} params={{ id: e.record_id }}>{type}</Link> : <span>{type}</span>}
        <small className="cell-text num">{e.record_id.length === 36 ? e.record_id.slice(-8) : e.record_id}</small>
      </span>
      {e.record_id && <button className="icon-button" aria-label={t("settings.audit.only_record")} title={t("settings.audit.only_record")} onClick={only}><ListFilter aria-hidden /></button>}
    </span>
  )
}
