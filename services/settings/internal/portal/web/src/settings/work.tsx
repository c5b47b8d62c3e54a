// Sessions of work: the changes of people, keys and assistants hour by hour, and taking them back.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { CircleCheck, Undo2 } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { momentText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import { actionName } from "./data"

type Session = Schema<"WorkSession">
type Undone = Schema<"Undone">

const words = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]/g, " ")
const kindOf = (s: Session) => s.connection ?? t(`settings.work.${s.actor.kind}`)

const ask = (s: Session, dry_run: boolean) => take(api.POST("/undo", {
  body: { ...(s.actor.id ? { credential_id: s.actor.id } : { user_id: s.actor.user_id }), from: s.from, to: s.to, dry_run },
}))

/** The sessions of work, one of which is looked at and taken back. */
export function Work({ onClose }: { onClose: () => void }) {
  const [chosen, setChosen] = useState<Session>()
  const query = useQuery({ queryKey: ["work", "list"], queryFn: () => take(api.GET("/sessions-of-work")), enabled: !chosen })
  if (chosen) return <TakeBack of={chosen} onClose={() => setChosen(undefined)} />
  return (
    <Dialog title={t("settings.work.title")} onClose={onClose}>
      <div className="dialog-body stack">
        <p className="soft">{t("settings.work.text")}</p>
        {!query.data ? query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={4} /> : query.data.items.length === 0 ? <p className="soft">{t("settings.work.empty")}</p> : (
          <ul>
            {query.data.items.map((s) => (
              <li key={`${s.actor.user_id} ${s.actor.id} ${s.from}`} className="switch">
                <span className="switch-text">
                  <b>{s.actor.name}</b>
                  <small className="soft">{kindOf(s)} · {momentText(s.from)} · {t("settings.work.calls", { n: s.calls })}</small>
                </span>
                <Button small icon={<Undo2 aria-hidden />} aria-label={t("settings.work.take_one", { name: s.actor.name, when: momentText(s.from) })} onClick={() => setChosen(s)}>{t("settings.work.take")}</Button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <footer className="dialog-foot"><Button onClick={onClose}>{t("close")}</Button></footer>
    </Dialog>
  )
}

/** Rehearses taking a session back, takes it back, and shows the result. */
function TakeBack({ of, onClose }: { of: Session; onClose: () => void }) {
  const queries = useQueryClient()
  const dry = useQuery({ queryKey: ["rehearsal", "undo", of], queryFn: () => ask(of, true), staleTime: 0, gcTime: 0, retry: false })
  const run = useMutation({ mutationFn: () => ask(of, false), onSuccess: () => queries.invalidateQueries(), onError: toastFault })
  const shown = run.data ?? dry.data
  return (
    <Dialog title={t("settings.work.take_one", { name: of.actor.name, when: momentText(of.from) })} onClose={onClose}>
      <div className="dialog-body stack">
        {dry.isError && !shown ? <Failed error={dry.error} retry={() => void dry.refetch()} /> : !shown ? <Skeleton lines={4} /> : (
          <>
            <p role="status" className={run.data ? "with-icon" : undefined}>{run.data && <CircleCheck aria-hidden />}{t(run.data ? "settings.work.undone" : "settings.work.would", { n: shown.undone })}</p>
            <Left title={t("settings.work.kept")} all={shown.kept} />
            <Left title={t("settings.work.cannot")} all={shown.cannot} />
          </>
        )}
      </div>
      <footer className="dialog-foot">
        <Button onClick={onClose}>{t(run.data ? "close" : "cancel")}</Button>
        {!run.data && <Button kind="bad" busy={run.isPending} disabled={!shown?.undone} onClick={() => run.mutate()}>{t("settings.work.now")}</Button>}
      </footer>
    </Dialog>
  )
}

/** The changes that stay, and why. */
function Left({ title, all }: { title: string; all: Undone["kept"] }) {
  if (all.length === 0) return null
  return (
    <section className="stack-s">
      <h3>{title}</h3>
      <ul>
        {all.map((l, i) => (
          <li key={i}>{actionName(l.operation, words(l.operation))} <small className="soft">{tOr("settings.record." + l.record.type, words(l.record.type))} <span className="num">{l.record.id.slice(-8)}</span></small>: {l.by ? t("settings.work.by", { name: l.by }) : tOr("settings.work.why." + l.reason, t("settings.work.why.refused"))}</li>
        ))}
      </ul>
    </section>
  )
}
