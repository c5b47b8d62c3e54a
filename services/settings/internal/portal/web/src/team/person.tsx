import "./team.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, Check, UserRoundX } from "lucide-react"
import { useState } from "react"
import { updateStaff } from "@/api/limits"
import { Online, TimeOff, Week } from "./hours"
import { sendMember, useMemberDraft } from "./member"
import { Button, ButtonAnchor } from "@/kit/button"
import { Inline } from "@/kit/detail"
import { Panel } from "@/kit/panel"
import { Head, initials } from "@/kit/head"
import { can, me, on } from "@/kit/start"
import { Failed, NotFound, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast } from "@/kit/toast"
import { Access } from "./access"
import { setRole, teamChanged, type Role, staffQuery, timesChanged, type Member } from "./data"
import { Remove } from "./remove"
import { servicesQuery } from "@/kit/records"

const route = getRouteApi("/people/$id")

export function Person() {
  const { id } = route.useParams()
  const query = useQuery(staffQuery)
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  const m = query.data.find((x) => String(x.user_id) === id)
  return m ? <Screen key={id} m={m} /> : <NotFound />
}

function Screen({ m }: { m: Member }) {
  const queries = useQueryClient()
  const [removing, setRemoving] = useState(false)
  const self = m.user_id === me.user_id
  // The next sign-in would undo what is chosen here.
  const ofClaim = me.roles_of_claim && m.signs_in_by.includes("organization")
  const draft = useMemberDraft(m, async (sending) => {
    const { name, role } = sending.change
    if (role === undefined) {
      const after = await sendMember(sending)
      if (name !== undefined) teamChanged(queries)
      return after
    }
    const after = await setRole(sending, role as Role)
    toast(t("team.role_set", { name: m.name }))
    return after
  })
  return (
    <>
      <Head title={m.name} back={<><Link to="/people" className="icon-button" aria-label={t("nav.people")}><ArrowLeft aria-hidden /></Link><span className="avatar avatar--l" aria-hidden>{initials(m.name)}</span></>} count={m.invited ? <span className="mark mark--warn">{t("team.invited")}</span> : undefined}>
        {self && <ButtonAnchor href="/account">{t("person.account")}</ButtonAnchor>}
        {m.can_remove && <Button icon={<UserRoundX aria-hidden />} onClick={() => setRemoving(true)}>{t("team.remove")}</Button>}
      </Head>
      <div className="content person-record">
        <div className="stack">
          <Panel title={t("team.about")}>
            <dl className="facts panel-body">
              <Inline label={t("team.name")} name="name" draft={draft} limits={updateStaff} readOnly={!m.can_rename} />
              <Inline label={t("team.role")} name="role" draft={draft} show={(v) => tOr("role." + v, v)} readOnly={m.roles_you_can_give.length === 0 || ofClaim} options={m.roles_you_can_give.map((value) => ({ value, label: tOr("role." + value, value) }))} />
              {ofClaim && <div className="fact"><dt /><dd className="soft small">{t("team.role_of_claim")}</dd></div>}
              {m.signs_in_by.length > 0 && <div className="fact"><dt>{t("team.signs_in")}</dt><dd>{m.signs_in_by.map((way) => t(`team.signs_in.${way}`)).join(", ")}</dd></div>}
              <div className="fact"><dt>{t("team.visibility")}</dt><dd>{t(`team.visibility.${m.sees}`)}</dd></div>
            </dl>
          </Panel>
          <Panel title={t("team.may")}>
            {m.access.length === 0 ? <p className="panel-body soft">{t("team.may_nothing")}</p> : <ul className="panel-body may">{m.access.map((c) => <li key={c}><Check aria-hidden />{tOr("team.cap." + c, c)}</li>)}</ul>}
          </Panel>
          {m.roles_you_can_give.length > 0 && !m.invited && <Access m={m} />}
        </div>
        {on("booking") && m.hours && (
          <div className="stack">
            <Week m={m} />
            <Services m={m} />
            <TimeOff user={m.user_id} name={m.name} />
            <Online m={m} />
          </div>
        )}
      </div>
      {removing && <Remove m={m} onClose={() => setRemoving(false)} />}
    </>
  )
}

/** The services that a person does; a manager chooses them. */
function Services({ m }: { m: Member }) {
  const queries = useQueryClient()
  const all = useQuery(servicesQuery(false)).data ?? []
  const fixed = !can("svc_manage_crm") || !can("svc_manage_bookings")
  const draft = useMemberDraft(m)
  const mine = draft.mine.services ?? []
  const set = async (services: string[]) => {
    await draft.change("services", services)
    void queries.invalidateQueries({ queryKey: ["services"] })
    timesChanged(queries)
  }
  return (
    <Panel title={t("nav.services")}>
      <div className="panel-body">
        {all.length === 0 && <p className="soft">{t("team.no_services")}</p>}
        <ul className="checks">
          {all.map((s) => (
            <li key={s.id}>
              <label className="check"><input type="checkbox" checked={mine.includes(s.id)} disabled={fixed} onChange={(e) => void set(e.target.checked ? [...mine, s.id] : mine.filter((x) => x !== s.id))} /><span>{s.name}</span></label>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}
