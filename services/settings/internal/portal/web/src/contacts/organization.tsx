import "./contacts.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, GitMerge, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { updateOrganization } from "@/api/limits"
import { api, ifMatch, take } from "@/api/client"
import { Button } from "@/kit/button"
import { dateText, momentText } from "@/kit/dates"
import { Inline } from "@/kit/detail"
import { typedNumber } from "@/kit/draft"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Head, initials } from "@/kit/head"
import { can } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { membersOrNone, organizationKey, organizationQuery, useFieldsPending, type Organization as Record } from "./data"
import { CustomFields } from "./fields"
import { Links } from "./links"
import { Merge } from "./merge"
import { Reach } from "./reach"
import { Tasks } from "./task"
import { History } from "./history"
import { timelineKey } from "./timeline"
import { useTeam } from "@/team/data"

const route = getRouteApi("/organizations/$id")

export function Organization() {
  const { id } = route.useParams()
  const query = useQuery(organizationQuery(id))
  const pending = useFieldsPending("organization")
  if (query.isPending || (query.data && pending)) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Company key={id} o={query.data} />
}

const texts = ["name", "vat_number", "email", "phone", "website", "address_line", "postal_code", "city", "country"] as const
type Change = { [N in (typeof texts)[number]]?: string } & { owner_user_id?: number | null; fields?: { [key: string]: unknown } }
const types = { email: "email", phone: "tel", website: "url" } as const

function Company({ o }: { o: Record }) {
  const queries = useQueryClient()
  const team = useTeam()
  const fixed = !can("svc_edit_contacts") || o.deleted_at !== null
  const draft = useDraft(o, organizationKey(o.id), async ({ change, version }) => {
    const after = await take(api.PATCH("/organizations/{id}", { params: { path: { id: o.id }, header: ifMatch(version) }, body: { mode: "overwrite", ...(change as Change) } }))
    void queries.invalidateQueries({ queryKey: timelineKey("organizations", o.id) })
    void queries.invalidateQueries({ queryKey: ["organizations", "list"] })
    return after
  })
  return (
    <>
      <Head title={o.name} back={<><Link to="/organizations" className="icon-button" aria-label={t("nav.organizations")}><ArrowLeft aria-hidden /></Link><span className="avatar avatar--l avatar--square" aria-hidden>{initials(o.name)}</span></>}>
        <Commands o={o} />
      </Head>
      {o.deleted_at && <div className="content"><p className="notice notice--warn">{t("trash.since", { date: momentText(o.deleted_at) })}</p></div>}
      <div className="content record">
        <div className="stack">
          <Panel title={t("contacts.about")}>
            <Reach email={o.email} phone={o.phone} />
            <dl className="facts panel-body">
              {texts.map((n) => <Inline key={n} name={n} label={t(`contacts.${n}`)} draft={draft} limits={updateOrganization} type={types[n as "email"]} readOnly={fixed} />)}
              <Inline label={t("contacts.owner")} name="owner_user_id" draft={draft} readOnly={fixed} parse={(v) => typedNumber(v)} options={membersOrNone(team)} />
              <div className="fact"><dt>{t("contacts.made_at")}</dt><dd>{dateText(o.created_at)}</dd></div>
            </dl>
          </Panel>
          <CustomFields entity="organization" draft={draft} readOnly={fixed} />
        </div>
        <div className="stack">
          <Links side="organizations" id={o.id} readOnly={fixed} />
          <Tasks about={{ organization: o.id }} readOnly={fixed} owner={o.owner_user_id} />
          <Panel title={t("contacts.timeline")}>
            <History kind="organizations" id={o.id} readOnly={fixed} />
          </Panel>
        </div>
      </div>
    </>
  )
}

function Commands({ o }: { o: Record }) {
  const queries = useQueryClient()
  const [merging, setMerging] = useState(false)
  if (!can("svc_delete_contacts")) return null
  const run = async (f: () => Promise<unknown>) => {
    try {
      await f()
      for (const key of [organizationKey(o.id), timelineKey("organizations", o.id), ["organizations", "list"]]) void queries.invalidateQueries({ queryKey: key })
    } catch (e) {
      toastFault(e)
    }
  }
  const restore = () => run(() => take(api.POST("/organizations/{id}/restore", { params: { path: { id: o.id } } })))
  const trash = () => run(async () => {
    await api.DELETE("/organizations/{id}", { params: { path: { id: o.id } } })
    toast(t("trash.now", { name: o.name }), { undo: () => void restore() })
  })
  if (o.deleted_at) return <Button icon={<RotateCcw aria-hidden />} onClick={() => void restore()}>{t("trash.restore")}</Button>
  return (
    <>
      <Actions actions={[
        { id: "merge", label: t("contacts.merge"), icon: GitMerge, run: () => setMerging(true) },
        { id: "trash", label: t("trash.move"), icon: Trash2, run: () => void trash() },
      ]} />
      {merging && <Merge kind="organizations" id={o.id} name={o.name} onClose={() => setMerging(false)} />}
    </>
  )
}
