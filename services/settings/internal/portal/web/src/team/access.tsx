// How somebody else gets in: sessions, keys, assistants and the second factor, which administrators look at and end.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Bot, Building2, KeyRound, Monitor, ShieldCheck, ShieldOff, type LucideIcon } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { agoText } from "@/kit/dates"
import { confirm } from "@/kit/dialog"
import { Panel } from "@/kit/panel"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { needsPassword, PasswordDialog } from "./password"
import type { Member } from "./data"

type Way = { id: string; icon: LucideIcon; name: string; detail: string; end: () => Promise<unknown> }

export function Access({ m }: { m: Member }) {
  const queries = useQueryClient()
  const key = ["staff", "access", m.user_id]
  const path = { user: m.user_id }
  const query = useQuery({ queryKey: key, queryFn: () => take(api.GET("/staff/{user}/access", { params: { path } })) })
  // What is done once the password was typed.
  const [asking, setAsking] = useState<() => Promise<void>>()
  const reset = async () => {
    try {
      await api.DELETE("/staff/{user}/two-factor", { params: { path } })
      toast(t("team.factor_gone", { name: m.name }))
    } catch (e) {
      if (needsPassword(e)) setAsking(() => reset)
      else toastFault(e)
    }
    void queries.invalidateQueries({ queryKey: key })
  }
  const end = async (w: Way) => {
    if (!(await confirm({ title: t("team.end_title", { what: w.name }), text: t("team.end_text", { name: m.name }), action: t("team.end"), bad: true }))) return
    try {
      await w.end()
      toast(t("team.ended", { what: w.name }))
    } catch (e) {
      toastFault(e)
    }
    void queries.invalidateQueries({ queryKey: key })
  }
  const unlink = async () => {
    try {
      await api.DELETE("/staff/{user}/organization-account", { params: { path } })
      toast(t("team.unlinked", { name: m.name }))
      void queries.invalidateQueries({ queryKey: ["staff"] })
    } catch (e) {
      if (needsPassword(e)) setAsking(() => unlink)
      else toastFault(e)
    }
  }
  const used = (at: string | null, address: string) => [at ? t("team.used", { ago: agoText(at) }) : t("team.unused"), address].filter(Boolean).join(" · ")
  const a = query.data
  const ways: Way[] = a ? [
    ...a.sessions.map((s) => ({ id: s.id, icon: Monitor, name: s.browser || t("team.browser"), detail: used(s.seen_at, s.address), end: () => api.DELETE("/staff/{user}/sessions/{id}", { params: { path: { ...path, id: s.id } } }) })),
    ...a.application_passwords.map((k) => ({ id: k.id, icon: KeyRound, name: k.name, detail: used(k.last_used_at, k.last_address), end: () => api.DELETE("/staff/{user}/application-passwords/{id}", { params: { path: { ...path, id: k.id } } }) })),
    ...a.connections.map((c) => ({ id: c.id, icon: Bot, name: c.name, detail: used(c.last_used_at, c.last_address), end: () => api.DELETE("/staff/{user}/connections/{id}", { params: { path: { ...path, id: c.id } } }) })),
  ] : []
  return (
    <Panel title={t("team.access")}>
      {!a ? query.isPending ? <Skeleton lines={3} /> : <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <>
          <ul className="rows">
            <li className="rows-row">
              <span className="way">{a.two_factor ? <ShieldCheck aria-hidden /> : <ShieldOff aria-hidden />}<span className="cell-main"><b>{t("team.factor")}</b><small>{t(a.two_factor ? "team.factor_on" : "team.factor_off")}</small></span></span>
              {a.two_factor && <Button small onClick={async () => (await confirm({ title: t("team.factor_title", { name: m.name }), text: t("team.factor_text"), action: t("team.factor_reset"), bad: true })) && void reset()}>{t("team.factor_reset")}</Button>}
            </li>
            {m.signs_in_by.includes("organization") && (
              <li className="rows-row">
                <span className="way"><Building2 aria-hidden /><span className="cell-main"><b>{t("team.organization")}</b><small>{t("team.signs_in.organization")}</small></span></span>
                <Button small onClick={async () => (await confirm({ title: t("team.unlink_title", { name: m.name }), text: t("team.unlink_text"), action: t("team.unlink"), bad: true })) && void unlink()}>{t("team.unlink")}</Button>
              </li>
            )}
            {ways.map((w) => (
              <li key={w.id} className="rows-row">
                <span className="way"><w.icon aria-hidden /><span className="cell-main"><b className="cell-text">{w.name}</b><small>{w.detail}</small></span></span>
                <Button small onClick={() => void end(w)}>{t("team.end")}<span className="sr"> {w.name}</span></Button>
              </li>
            ))}
          </ul>
          {ways.length === 0 && <p className="panel-body soft">{t("team.no_access")}</p>}
        </>
      )}
      {asking && <PasswordDialog onClose={() => setAsking(undefined)} onDone={() => void asking()} />}
    </Panel>
  )
}
