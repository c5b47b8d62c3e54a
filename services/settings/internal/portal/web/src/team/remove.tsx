import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { TriangleAlert } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { dayText, timeText, today } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, useForm } from "@/kit/form"
import { on } from "@/kit/start"
import { number, t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { teamChanged, staffQuery, type Member } from "./data"

type Clash = { id: string; starts_at: string }

/** Removes somebody from the team. */
export function Remove({ m, onClose }: { m: Member; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return (
    <Leave user={m.user_id} title={t("team.remove_title", { name: m.name })} words={t("team.remove_text", { name: m.name })} action={t("team.remove_do", { name: m.name })} onClose={onClose}
      remove={async (query) => {
        await take(api.DELETE("/staff/{user}", { params: { path: { user: m.user_id }, query } }))
        onClose()
        toast(t("team.removed", { name: m.name }))
        await navigate({ to: "/people" })
        teamChanged(queries)
      }} />
  )
}

/** Revokes an invitation, and removes the person who was made for it. */
export function Revoke({ i, onClose }: { i: Schema<"Invitation">; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <Leave user={i.user_id} title={t("team.revoke_title", { name: i.name })} words={t("team.revoke_text")} action={t("team.revoke_do", { name: i.name })} onClose={onClose}
      remove={async (query) => {
        try {
          await take(api.DELETE("/staff/invitations/{id}", { params: { path: { id: i.id }, query } }))
        } finally {
          teamChanged(queries)
        }
        onClose()
        toast(t("team.revoked", { name: i.name }))
      }} />
  )
}

type Leaving = {
  user: number
  title: string
  words: string
  /** What the button says. */
  action: string
  remove: (query: { successor?: string }) => Promise<void>
  onClose: () => void
}

/** Asks for a successor of somebody who goes: says what is handed over, and names the appointments that stand in the way. */
function Leave({ user, title, words, action, remove, onClose }: Leaving) {
  const others = (useQuery(staffQuery).data ?? []).filter((x) => x.user_id !== user && !x.invited)
  const [clashes, setClashes] = useState<{ why: "clashes" | "unlinked"; all: Clash[] }>()
  const counts = useQuery({
    queryKey: ["staff", "handed-over", user],
    queryFn: async () => {
      const [contacts, organizations, appointments] = await Promise.all([
        take(api.GET("/contacts", { params: { query: { owner: user, per_page: 1 } } })),
        take(api.GET("/organizations", { params: { query: { owner: user, per_page: 1 } } })),
        on("booking") ? take(api.GET("/appointments", { params: { query: { staff: user, status: ["pending", "confirmed"], from: today(), per_page: 1 } } })) : { total: 0 },
      ])
      return { contacts: contacts.total, organizations: organizations.total, appointments: appointments.total }
    },
    staleTime: 0,
  }).data
  const form = useForm(async (values) => {
    setClashes(undefined)
    const successor = text(values, "successor")
    await remove(successor ? { successor } : {})
  }, (f) => {
    const all = f.data.appointments as Clash[] | undefined
    setClashes(all && { why: f.data.reason === "no_meeting_link" ? "unlinked" : "clashes", all })
    return false
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form}>
        <div className="dialog-body">
          <p>{words}</p>
          <dl className="handed" aria-label={t("team.handed")}>
            <div><dt>{t("nav.contacts")}</dt><dd>{counts ? number(counts.contacts) : "…"}</dd></div>
            <div><dt>{t("nav.organizations")}</dt><dd>{counts ? number(counts.organizations) : "…"}</dd></div>
            {on("booking") && <div><dt>{t("team.coming")}</dt><dd>{counts ? number(counts.appointments) : "…"}</dd></div>}
          </dl>
          <SelectField name="successor" label={t("team.successor")} help={t("team.successor_help")} options={[{ value: "", label: t("team.no_successor") }, ...others.map((x) => ({ value: String(x.user_id), label: x.name }))]} />
          {clashes && (
            <div className="notice notice--warn">
              <TriangleAlert aria-hidden />
              <div>
                <p>{t(`team.${clashes.why}`, { n: clashes.all.length })}</p>
                <p className="row row--tags">{clashes.all.map((a) => <Link key={a.id} to="/appointments/$id" params={{ id: a.id }} onClick={onClose} className="tag num">{dayText(a.starts_at)}, {timeText(a.starts_at)}</Link>)}</p>
              </div>
            </div>
          )}
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="bad" type="submit" busy={form.busy}>{action}</Button></footer>
      </Form>
    </Dialog>
  )
}
