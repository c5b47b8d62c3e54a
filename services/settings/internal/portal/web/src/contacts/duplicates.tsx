import "./contacts.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ArrowLeft, CircleCheck } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { Total } from "@/kit/list"
import { Head } from "@/kit/head"
import { can } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Merge } from "./merge"

const key = ["organizations", "duplicates"]

/** Pairs of organizations that may be one: merge them, or say that they are not. */
export function Duplicates() {
  const query = useQuery({ queryKey: key, queryFn: () => take(api.GET("/organizations/possible-duplicates")) })
  const pairs = query.data?.items ?? []
  return (
    <>
      <Head title={t("contacts.duplicates")} back={<Link to="/organizations" className="icon-button" aria-label={t("nav.organizations")}><ArrowLeft aria-hidden /></Link>} count={<Total n={query.data?.total} />} />
      <div className="content">
        {query.isPending ? <Skeleton /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} />
          : pairs.length === 0 ? <Blank icon={CircleCheck} title={t("contacts.duplicates_none")} text={t("contacts.duplicates_none_text")} />
          : <ul className="stack">{pairs.map((p) => <Pair key={p.organizations!.map((o) => o.id).join()} pair={p} />)}</ul>}
      </div>
    </>
  )
}

function Pair({ pair }: { pair: Schema<"Pair"> }) {
  const queries = useQueryClient()
  const [winner, setWinner] = useState<number>()
  const both = pair.organizations
  const [a, b] = [both[0]!, both[1]!]
  const undismiss = async () => {
    try {
      await api.DELETE("/organizations/{id}/not-duplicate", { params: { path: { id: a.id }, query: { other_id: b.id } } })
    } catch (e) {
      toastFault(e)
    }
    void queries.invalidateQueries({ queryKey: key })
  }
  const dismiss = async () => {
    queries.setQueryData<Schema<"ListPair">>(key, (old) => old && { ...old, total: old.total - 1, items: old.items.filter((p) => p !== pair) })
    try {
      await api.POST("/organizations/{id}/not-duplicate", { params: { path: { id: a.id } }, body: { other_id: b.id } })
      toast(t("contacts.dismissed", { a: a.name, b: b.name }), { undo: () => void undismiss() })
    } catch (e) {
      toastFault(e)
    }
    void queries.invalidateQueries({ queryKey: key })
  }
  return (
    <li className="panel pair">
      <div className="cell-main">
        <span><Link to="/organizations/$id" params={{ id: a.id }} className="row-link">{a.name}</Link> <span className="soft">≈</span> <Link to="/organizations/$id" params={{ id: b.id }} className="row-link">{b.name}</Link></span>
        <small>{t("contacts.same", { what: pair.reasons.map((r) => tOr("contacts.reason." + r, r)).join(", ") })}</small>
      </div>
      <div className="row">
        {can("svc_edit_contacts") && <Button small onClick={() => void dismiss()}>{t("contacts.not_duplicate")}</Button>}
        {can("svc_delete_contacts") && both.map((o, i) => <Button key={o.id} small onClick={() => setWinner(i)}>{t("contacts.keep", { name: o.name })}</Button>)}
      </div>
      {winner !== undefined && <Merge kind="organizations" id={both[winner]!.id} name={both[winner]!.name} other={both[1 - winner]} onClose={() => setWinner(undefined)} />}
    </li>
  )
}
