import "./booking.css"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { lazy, Suspense, useRef, useState } from "react"
import { ArrowDownUp, BriefcaseBusiness, Plus } from "lucide-react"
import { versionOf } from "@/api/version"
import { Button, ButtonLink } from "@/kit/button"
import { Total, useWalk } from "@/kit/list"
import { Head, initials } from "@/kit/head"
import { can } from "@/kit/start"
import { Blank, Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { priceText, type Service } from "./data"
import { Place } from "./marks"
import { servicesQuery } from "@/kit/records"
import { staffQuery } from "@/team/data"
import { durationText } from "@/kit/dates"

const Order = lazy(() => import("./order"))
const route = getRouteApi("/services")

export function Services() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const archived = search.archived === "true"
  const query = useQuery(servicesQuery(archived))
  const [ordering, setOrdering] = useState(false)
  const active = query.data?.filter((s) => !s.archived) ?? []
  const many = can("svc_manage_crm") && active.length > 1
  const body = useRef<HTMLUListElement>(null)
  useWalk(body)
  const add = can("svc_manage_crm") && <ButtonLink kind="main" to="/services/$id" params={{ id: "new" }} icon={<Plus aria-hidden />}>{t("booking.service_new")}</ButtonLink>
  return (
    <>
      <Head title={t("nav.services")} count={<Total n={query.data?.length} />}>{many && <Button icon={<ArrowDownUp aria-hidden />} aria-pressed={ordering} onClick={() => setOrdering(!ordering)}>{t(ordering ? "booking.order_done" : "booking.order")}</Button>}{!ordering && add}</Head>
      <div className="tools">
        <label className="check"><input type="checkbox" checked={archived} onChange={(e) => void navigate({ search: e.target.checked ? { archived: "true" } : {}, replace: true })} /><span>{t("booking.with_archived")}</span></label>
      </div>
      {query.isPending ? <Skeleton lines={8} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} />
        : query.data.length === 0 ? <Blank icon={BriefcaseBusiness} title={t("booking.no_services")} text={t("booking.no_services_text")}>{add}</Blank>
        : ordering && many ? <Suspense fallback={<Skeleton lines={8} />}><Order services={active} version={versionOf(query.data)} /></Suspense>
        : <ul ref={body} className="content cards">{query.data.map((s) => <Card key={s.id} s={s} />)}</ul>}
    </>
  )
}

function Card({ s }: { s: Service }) {
  const people = useQuery(staffQuery).data?.filter((m) => s.staff.includes(m.user_id))
  return (
    <li className={s.archived ? "card card--off" : "card"}>
      <div className="card-head">
        <Link to="/services/$id" params={{ id: s.id }} className="row-link card-link">{s.name}</Link>
        {s.archived ? <span className="mark mark--off">{t("booking.archived")}</span> : s.bookable_online ? <span className="mark mark--good">{t("booking.online")}</span> : <span className="mark mark--off">{t("booking.team_only")}</span>}
      </div>
      {s.description && <p className="soft card-text">{s.description}</p>}
      <p className="card-facts"><b className="num">{durationText(s.duration_min)}</b>{s.price && <b className="num">{priceText(s.price)}</b>}<Place kind={s.location_type} />{s.confirmation === "review" && <span className="soft">{t("booking.reviewed")}</span>}</p>
      <p className="card-people">
        {people?.slice(0, 6).map((m) => <span key={m.user_id} className="avatar" title={m.name} aria-hidden>{initials(m.name)}</span>)}
        {people && <span className={people.length === 0 ? "with-icon bad small" : "soft small"}>{people.length === 0 ? t("booking.nobody_does") : people.length === 1 ? people[0]!.name : t("booking.people", { n: people.length })}</span>}
      </p>
    </li>
  )
}
