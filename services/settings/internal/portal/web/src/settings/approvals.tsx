import "./settings.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Check, ShieldQuestion, X } from "lucide-react"
import { useMemo, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { otherEffects, Shown } from "@/kit/effects"
import { Head } from "@/kit/head"
import { Choice, List, Tools, Total, useList, type Column } from "@/kit/list"
import { saying } from "@/kit/problem"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useTeam } from "@/team/data"
import { actionName } from "./data"

type Approval = Schema<"Approval">

const route = getRouteApi("/approvals")
const looks = { waiting: "warn", approved: "good", refused: "off", expired: "off", failed: "bad" } as const
const states = Object.keys(looks) as Approval["state"][]
const words = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ")
const nameOf = (a: Approval) => actionName(a.operation, words(a.operation))

function Mark({ of }: { of: Approval }) {
  return <span className={`mark mark--${looks[of.state]}`}>{t(`settings.approvals.${of.state}`)}</span>
}

/** Calls of keys and assistants that wait until a person approves them, and what became of them. */
export function Approvals() {
  const { state: chosen, approval: open } = route.useSearch()
  const navigate = route.useNavigate()
  const state = states.find((s) => s === chosen)
  const list = useList<Approval>(["approvals", "list", { state }], (cursor, signal) => take(api.GET("/approvals", { params: { query: { state, per_page: 50, cursor } }, signal })))
  const columns = useMemo((): Column<Approval>[] => [
    { key: "what", label: t("settings.approvals.what"), cell: (a) => (
      <span className="cell-main"><Link to="/approvals" search={(old) => ({ ...old, approval: a.id })} replace className="row-link cell-text">{nameOf(a)}</Link><small className="cell-text">{a.asked_by.name}</small></span>
    ) },
    { key: "state", label: t("settings.approvals.state"), width: 10, under: true, cell: (a) => <span><Mark of={a} /></span> },
    { key: "asked", label: t("settings.approvals.asked"), hides: 1, end: true, cell: (a) => <time className="soft nowrap" dateTime={a.asked_at} title={momentText(a.asked_at)}>{agoText(a.asked_at)}</time> },
  ], [])
  return (
    <>
      <Head title={t("nav.approvals")} count={<Total n={list.data && list.total} />} />
      <Tools count={state ? 1 : 0} onClear={() => void navigate({ search: {}, replace: true })}>
        <Choice label={t("settings.approvals.state")} value={state} options={states.map((value) => ({ value, label: t(`settings.approvals.${value}`) }))} onChange={(v) => void navigate({ search: v ? { state: v } : {}, replace: true })} />
      </Tools>
      <List list={list} columns={columns} keeps="approvals" id={(a) => a.id} name={t("nav.approvals")} filtered={state !== undefined} onClear={() => void navigate({ search: {} })}
        empty={{ icon: ShieldQuestion, title: t("settings.approvals.none"), text: t("settings.approvals.none_text") }} />
      {open && <Read key={open} id={open} onClose={() => void navigate({ search: (old) => ({ ...old, approval: undefined }), replace: true })} />}
    </>
  )
}

/** What a call would do, and the decision on it. */
function Read({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState("")
  const [reason, setReason] = useState("")
  const query = useQuery({ queryKey: ["approvals", "one", id], queryFn: () => take(api.GET("/approvals/{id}", { params: { path: { id } } })) })
  const team = useTeam()
  const a = query.data
  const decide = async (send: () => Promise<Approval>) => {
    setBusy(true)
    setSaid("")
    try {
      const after = await send()
      toast(t("settings.approvals.now", { what: nameOf(after), state: t(`settings.approvals.${after.state}`) }))
      queries.setQueryData(["approvals", "one", id], after)
      if (after.state !== "failed") onClose()
    } catch (e) {
      setSaid(otherEffects(e) ? t("settings.approvals.changed") : saying(asFault(e)))
      await query.refetch()
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey: ["approvals", "list"] })
    }
  }
  const path = { params: { path: { id } } }
  return (
    <Dialog title={a ? nameOf(a) : t("nav.approvals")} onClose={onClose} size="l">
      <div className="dialog-body stack">
        {query.isPending ? <Skeleton lines={6} /> : !a ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
          <>
            <p className="row"><Mark of={a} /><span>{t(`settings.approvals.by_${a.asked_by.kind}`, { name: a.asked_by.name, person: team.find((m) => m.user_id === a.asked_by.user_id)?.name ?? t("none") })}</span><time className="soft" dateTime={a.asked_at}>{momentText(a.asked_at)}</time></p>
            {a.decided_by && <p className="soft">{t("settings.approvals.decided", { name: a.decided_by.name })}{a.reason && ` – ${a.reason}`}</p>}
            {a.state === "failed" && <p className="notice notice--warn">{(a.answer as { message?: string } | null)?.message ?? t("settings.approvals.unknown")}</p>}
            {a.effects ? <Shown of={{ effects: a.effects, hash: a.hash, answer: null, status: 200 }} label={(field) => words(field.replace(/[._]/g, " "))} /> : <p className="soft">{t("settings.approvals.unseen")}</p>}
            <details className="more payload" open={!a.effects?.changes.length}>
              <summary>{t("settings.approvals.input")}</summary>
              <pre tabIndex={0} role="region" aria-label={t("settings.approvals.input")}>{JSON.stringify(a.input, null, 2)}</pre>
            </details>
            {a.state === "waiting" && <label className="field"><span className="label">{t("settings.approvals.reason")}</span><input className="input" value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} /></label>}
            <div role="status">{said && <p className="notice notice--warn">{said}</p>}</div>
          </>
        )}
      </div>
      <footer className="dialog-foot">
        {a?.state === "waiting" ? (
          <>
            <Button icon={<X aria-hidden />} busy={busy} onClick={() => void decide(() => take(api.POST("/approvals/{id}/refuse", { ...path, body: { reason } })))}>{t("settings.approvals.refuse")}</Button>
            <Button kind="main" icon={<Check aria-hidden />} busy={busy} onClick={() => void decide(() => take(api.POST("/approvals/{id}/approve", { ...path, body: a.hash ? { hash: a.hash } : {} })))}>{t("settings.approvals.approve")}</Button>
          </>
        ) : <Button onClick={onClose}>{t("close")}</Button>}
      </footer>
    </Dialog>
  )
}
