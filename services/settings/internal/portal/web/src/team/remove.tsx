import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { TriangleAlert } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { dayText, timeText, today } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Effects, useEffects } from "@/kit/effects"
import { Form, SelectField, useForm } from "@/kit/form"
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
      rehearse={(query, headers) => api.DELETE("/staff/{user}", { params: { path: { user: m.user_id }, query }, headers })}
      remove={async (query, headers) => {
        await take(api.DELETE("/staff/{user}", { params: { path: { user: m.user_id }, query }, headers }))
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

type Successor = { successor?: string }

type Leaving = {
  user: number
  title: string
  words: string
  /** What the button says. */
  action: string
  remove: (query: Successor, headers?: Record<string, string>) => Promise<void>
  /** Sends the removal with headers; left out where it cannot be rehearsed. */
  rehearse?: (query: Successor, headers: Record<string, string>) => Promise<{ data?: unknown }>
  onClose: () => void
}

/** Asks for a successor of somebody who goes: says what is handed over, and names the appointments that stand in the way. */
function Leave({ user, title, words, action, remove, rehearse, onClose }: Leaving) {
  const [successor, setSuccessor] = useState("")
  const query = successor ? { successor } : {}
  const { rehearsal, exactly, changed } = useEffects(["staff", "remove", user, successor], rehearse ? (headers) => rehearse(query, headers) : null)
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
  const form = useForm(async () => {
    setClashes(undefined)
    await remove(query, exactly)
  }, (f) => {
    if (changed(f)) {
      toast(t("problem.effects_changed"))
      return true
    }
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
          <div onChange={(e) => setSuccessor((e.target as unknown as HTMLSelectElement).value)}>
            <SelectField name="successor" label={t("team.successor")} help={t("team.successor_help")} options={[{ value: "", label: t("team.no_successor") }, ...others.map((x) => ({ value: String(x.user_id), label: x.name }))]} />
          </div>
          <Effects of={rehearsal} quiet />
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
