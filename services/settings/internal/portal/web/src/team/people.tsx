import "./team.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { MailPlus, RotateCw, Trash2, UserRoundPlus } from "lucide-react"
import { useRef, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { inviteStaff } from "@/api/limits"
import { weekText } from "./hours"
import { Button } from "@/kit/button"
import { dateText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { Total, useWalk } from "@/kit/list"
import { Panel } from "@/kit/panel"
import { Head, initials } from "@/kit/head"
import { can, me, on } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { teamChanged, type Role, staffQuery, type Member } from "./data"
import { Revoke } from "./remove"

export function People() {
  const query = useQuery(staffQuery)
  const [inviting, setInviting] = useState(false)
  const body = useRef<HTMLUListElement>(null)
  useWalk(body)
  return (
    <>
      <Head title={t("nav.people")} count={<Total n={query.data?.length} />}>
        {can("svc_manage_crm") && <Button kind="main" icon={<UserRoundPlus aria-hidden />} onClick={() => setInviting(true)}>{t("team.invite")}</Button>}
      </Head>
      {query.isPending ? <Skeleton lines={8} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <div className="content stack">
          <ul ref={body} className="people">{query.data.map((m) => <Row key={m.user_id} m={m} />)}</ul>
          {can("svc_manage_crm") && <Invitations />}
        </div>
      )}
      {inviting && <Invite onClose={() => setInviting(false)} />}
    </>
  )
}

function Row({ m }: { m: Member }) {
  return (
    <li className="member">
      <span className="avatar member-face" aria-hidden>{initials(m.name)}</span>
      <span className="member-main">
        <span className="member-name"><Link to="/people/$id" params={{ id: String(m.user_id) }} className="row-link">{m.name}</Link>{m.user_id === me.user_id && <span className="tag">{t("team.you")}</span>}{m.invited && <span className="mark mark--warn">{t("team.invited")}</span>}</span>
        <span className="soft small">{tOr("role." + m.role, m.role)} · {t(`team.visibility.${m.sees}`)}{m.signs_in_by.includes("organization") && <> · {t("team.signs_in.by_organization")}</>}</span>
      </span>
      {on("booking") && m.hours && <span className="member-work soft small"><span>{weekText(m.hours)}</span><span>{t("team.services", { n: m.services?.length ?? 0 })}</span></span>}
    </li>
  )
}

/** Makes an account and mails a link, or gives somebody who has one a role. */
function Invite({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm(async (values, key) => {
    const email = text(values, "email")
    const made = await take(api.POST("/staff", { params: { header: { "Idempotency-Key": key } }, body: { name: text(values, "name"), email, role: text(values, "role") as Role } }))
    teamChanged(queries)
    onClose()
    toast(t(made.created ? "team.invited_now" : "team.role_given", { email }))
  })
  return (
    <Dialog title={t("team.invite")} onClose={onClose} guarded={form.dirty}>
      <Form limits={inviteStaff} form={form}>
        <div className="dialog-body">
          <div className="fields">
            <TextField name="email" label={t("team.email")} type="email" required autoFocus wide />
            <TextField name="name" label={t("team.name")} help={t("team.name_help")} />
            <SelectField name="role" label={t("team.role")} defaultValue={me.roles_you_can_give.at(-1)} options={me.roles_you_can_give.map((value) => ({ value, label: tOr("role." + value, value) }))} />
          </div>
          <p className="soft small">{t("team.invite_text")}</p>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" icon={<MailPlus aria-hidden />} busy={form.busy}>{t("team.invite_do")}</Button></footer>
      </Form>
    </Dialog>
  )
}

/** Invitations that wait. Their links stand in the mails alone, so a new one is mailed. */
function Invitations() {
  const queries = useQueryClient()
  const query = useQuery({ queryKey: ["invitations", "list"], queryFn: async () => (await take(api.GET("/staff/invitations"))).items })
  const [busy, setBusy] = useState("")
  const [revoking, setRevoking] = useState<Schema<"Invitation">>()
  const run = async (i: Schema<"Invitation">, f: () => Promise<unknown>, said: string) => {
    setBusy(i.id)
    try {
      await f()
      toast(said)
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy("")
      teamChanged(queries)
    }
  }
  const again = (i: Schema<"Invitation">) => run(i, () => take(api.POST("/staff", { body: { email: i.email, role: i.role as Role } })), t("team.invited_now", { email: i.email }))
  if (!query.data || query.data.length === 0) return query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : null
  return (
    <Panel title={t("team.waiting")}>
      <ul className="rows">
        {query.data.map((i) => (
          <li key={i.id} className="rows-row">
            <span className="cell-main"><b className="cell-text">{i.name}</b><small className="cell-text">{i.name === i.email ? "" : `${i.email} · `}{tOr("role." + i.role, i.role)} · {t("team.until", { date: dateText(i.expires_at) })}</small></span>
            {me.roles_you_can_give.includes(i.role) && <span className="row">
              <Button small busy={busy === i.id} icon={<RotateCw aria-hidden />} onClick={() => void again(i)}>{t("team.again")}<span className="sr"> {i.name}</span></Button>
              <Button small icon={<Trash2 aria-hidden />} onClick={() => setRevoking(i)}>{t("team.revoke")}<span className="sr"> {i.name}</span></Button>
            </span>}
          </li>
        ))}
      </ul>
      {revoking && <Revoke i={revoking} onClose={() => setRevoking(undefined)} />}
    </Panel>
  )
}
