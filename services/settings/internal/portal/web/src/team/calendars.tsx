// A person's calendars of other programs: what they take of the time, and into which of them appointments are written.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CalendarPlus, CalendarSync, CalendarX, Pencil, RefreshCw, Trash2 } from "lucide-react"
import { useRef, useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { addExternalCalendar } from "@/api/limits"
import { tagOf } from "@/api/version"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { confirm, Dialog } from "@/kit/dialog"
import { CheckField, Form, SelectField, TextField, useDraftForm } from "@/kit/form"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft, useListed } from "@/kit/use-draft"
import { timesChanged, type Member } from "./data"

type Connected = Schema<"ExternalCalendar">

const keyOf = (user: number) => ["external_calendars", "list", user]
const looks = { new: "warn", ok: "good", failing: "bad", off: "bad" } as const

/** A calendar of a server of which nobody has chosen one of its calendars yet. */
const unchosen = (c: Connected) => c.kind === "caldav" && c.calendar === ""

export function Calendars({ m }: { m: Member }) {
  const queries = useQueryClient()
  const user = m.user_id
  const query = useQuery({
    queryKey: keyOf(user),
    queryFn: async () => (await take(api.GET("/staff/{user}/calendars", { params: { path: { user } } }))).items,
    refetchInterval: (q) => (q.state.data?.some((c) => c.state === "new" && !unchosen(c)) ? 3000 : false),
  })
  const [open, setOpen] = useState<{ step: "address"; of?: Connected } | { step: "choice"; of: Connected }>()
  const [reading, setReading] = useState("")
  const changed = () => {
    void queries.invalidateQueries({ queryKey: keyOf(user) })
    timesChanged(queries)
  }
  const read = async (c: Connected) => {
    setReading(c.id)
    try {
      const { state } = await take(api.POST("/staff/{user}/calendars/{id}/sync", { params: { path: { user, id: c.id } } }))
      toast(t(state === "ok" ? "team.calendar_read" : "team.calendar_reading"))
    } catch (e) {
      toastFault(e)
    } finally {
      setReading("")
      changed()
    }
  }
  const remove = async (c: Connected) => {
    if (!(await confirm({ title: t("team.calendar_remove_title", { name: c.name }), text: t(c.writes ? "team.calendar_remove_written" : "team.calendar_remove_text"), action: t("team.calendar_remove"), bad: true }))) return
    try {
      await api.DELETE("/staff/{user}/calendars/{id}", { params: { path: { user, id: c.id }, header: ifMatch(tagOf(c.version)) } })
      toast(t("team.calendar_removed"))
    } catch (e) {
      toastFault(e)
    }
    changed()
  }
  const close = () => {
    setOpen(undefined)
    changed()
  }
  return (
    <Panel title={user === me.user_id ? t("team.calendars") : t("team.calendars_of", { name: m.name })} beside={<Button small icon={<CalendarPlus aria-hidden />} onClick={() => setOpen({ step: "address" })}>{t("team.calendar_connect")}</Button>}>
      <p className="panel-body soft">{t("team.calendars_text")}</p>
      {query.isPending ? <Skeleton lines={2} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <ul className="rows">
          {query.data.map((c) => (
            <li key={c.id} className="rows-row">
              <span className="way">
                {c.state === "failing" || c.state === "off" ? <CalendarX aria-hidden /> : <CalendarSync aria-hidden />}
                <span className="cell-main">
                  <span className="row"><b className="cell-text">{c.name}</b><span className={`mark mark--${looks[c.state]}`}>{t(`team.calendar_state.${c.state}`)}</span></span>
                  <small>{[c.last_synced_at ? t("team.calendar_synced", { ago: agoText(c.last_synced_at), n: c.events }) : "", c.blocks ? "" : t("team.calendar_free"), c.writes ? t("team.calendar_written") : ""].filter(Boolean).join(" · ")}</small>
                  <Wrong c={c} />
                  {c.deleted_appointments.length > 0 && (
                    <small className="problem">
                      {t("team.calendar_deleted")} {c.deleted_appointments.map((a, i) => <span key={a.id}>{i > 0 && ", "}<Link to="/appointments/$id" params={{ id: a.id }}>{momentText(a.starts_at)}</Link></span>)}
                    </small>
                  )}
                </span>
              </span>
              <span className="row">
                {unchosen(c) && <Button small kind="main" onClick={() => setOpen({ step: "choice", of: c })}>{t("team.calendar_choose")}</Button>}
                <Actions label={t("team.calendar_more", { name: c.name })} actions={[
                  { id: "read", label: t(reading === c.id ? "team.calendar_reading" : "team.calendar_read_now"), icon: RefreshCw, run: () => void read(c) },
                  { id: "change", label: t("team.calendar_change"), icon: Pencil, run: () => setOpen({ step: "address", of: c }) },
                  ...(c.kind === "caldav" && !unchosen(c) ? [{ id: "choose", label: t("team.calendar_choose_other"), icon: CalendarSync, run: () => setOpen({ step: "choice", of: c }) }] : []),
                  { id: "remove", label: t("team.calendar_remove"), icon: Trash2, bad: true, run: () => void remove(c) },
                ]} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {open?.step === "address" && <Address user={user} of={query.data?.find((c) => c.id === open.of?.id) ?? open.of} onClose={close} onChoose={(of) => (changed(), setOpen({ step: "choice", of }))} />}
      {open?.step === "choice" && <Choice user={user} of={query.data?.find((c) => c.id === open.of.id) ?? open.of} onClose={close} />}
    </Panel>
  )
}

/** What is wrong with a calendar, and in English what its server or an event says. */
function Wrong({ c }: { c: Connected }) {
  if (c.last_error_code === "") return c.last_error && <small className="problem" lang="en">{c.last_error}</small>
  return (
    <>
      <small className="problem">{t(`team.calendar_error.${c.last_error_code}`)}</small>
      <details className="small"><summary>{t("team.calendar_error_more")}</summary><span lang="en">{c.last_error}</span></details>
    </>
  )
}

/** A part of a calendar of the list, or of a new one, for a draft. */
const useTyped = <T extends object>(user: number, of: Connected | undefined, part: (c?: Connected) => T) =>
  useListed(keyOf(user), of, (all: Connected[], { id }) => all.find((c) => c.id === id), part)

/** Address and password stay as they are where nothing is typed: the API shows the one in part, and the other never. */
const typed = (c?: Connected) => ({ kind: c?.kind ?? ("ics" as const), name: c?.name ?? "", url: "", username: c?.username ?? "", password: "", blocks: c?.blocks ?? true, writes: c?.writes ?? false })
const chosen = (c?: Connected) => ({ calendar: c?.calendar ?? "" })

/** Where a calendar is, and how to sign in there. A new one on a server goes on with the choice of one of its calendars. */
function Address({ user, of, onClose, onChoose }: { user: number; of?: Connected; onClose: () => void; onChoose: (c: Connected) => void }) {
  const end = useRef(onClose)
  const draft = useDraft(...useTyped(user, of, typed), async ({ change, whole, version, key }) => {
    if (of) {
      const { kind: _, ...body } = change
      toast(t("team.calendar_changed", { name: (await take(api.PATCH("/staff/{user}/calendars/{id}", { params: { path: { user, id: of.id }, header: ifMatch(version) }, body }))).name }))
      return undefined
    }
    const made = await take(api.POST("/staff/{user}/calendars", { params: { path: { user }, header: { "Idempotency-Key": key } }, body: { ...whole, writes: whole.kind === "caldav" && whole.writes } }))
    if (unchosen(made)) end.current = () => onChoose(made)
    else toast(t("team.calendar_connected", { name: made.name }))
    return undefined
  })
  const form = useDraftForm(draft, () => end.current())
  const { kind } = draft.mine
  return (
    <Dialog title={of ? t("team.calendar_change_title", { name: of.name }) : t("team.calendar_connect")} onClose={onClose} guarded={draft.dirty}>
      <Form form={form} draft={draft} limits={addExternalCalendar}>
        <div className="dialog-body">
          {!of && <SelectField name="kind" label={t("team.calendar_kind")} options={(["ics", "caldav"] as const).map((value) => ({ value, label: t(`team.calendar_kind.${value}`) }))} />}
          <TextField name="name" label={t("team.calendar_name")} />
          <TextField name="url" label={t("team.calendar_url")} type="url" help={of ? t("team.calendar_url_stays", { url: of.url }) : t(`team.calendar_url.${kind}`)} />
          {kind === "caldav" ? (
            <>
              <TextField name="username" label={t("team.calendar_username")} autoCapitalize="none" />
              <TextField name="password" label={t("team.calendar_password")} type="password" autoComplete="new-password" help={t(of ? "team.calendar_password_stays" : "team.calendar_password_help")} />
            </>
          ) : !of && (
            <div className="field field--wide">
              {(["google", "outlook", "apple"] as const).map((program) => <details key={program} className="how"><summary>{t(`team.feed_${program}`)}</summary><p className="soft">{t(`team.calendar_${program}_text`)}</p></details>)}
            </div>
          )}
          <CheckField name="blocks" label={t("team.calendar_blocks")} help={t("team.calendar_blocks_help")} />
          {kind === "caldav" && <CheckField name="writes" label={t("team.calendar_writes")} help={t("team.calendar_writes_help")} />}
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t(of ? "save" : kind === "caldav" ? "team.calendar_go_on" : "team.calendar_connect")}</Button></footer>
      </Form>
    </Dialog>
  )
}

/** Which of the calendars on a server. */
function Choice({ user, of, onClose }: { user: number; of: Connected; onClose: () => void }) {
  const path = { user, id: of.id }
  const query = useQuery({ queryKey: ["external_calendars", "choices", of.id], queryFn: async () => (await take(api.GET("/staff/{user}/calendars/{id}/choices", { params: { path } }))).items, gcTime: 0, retry: false })
  const draft = useDraft(...useTyped(user, of, chosen), async ({ change, version }) => {
    toast(t("team.calendar_connected", { name: (await take(api.PATCH("/staff/{user}/calendars/{id}", { params: { path, header: ifMatch(version) }, body: change }))).name }))
    return undefined
  })
  const form = useDraftForm(draft, onClose)
  const { calendar } = draft.mine
  const writable = (query.data ?? []).find((c) => c.href === calendar)?.writable !== false
  return (
    <Dialog title={t("team.calendar_choose_title", { name: of.name })} onClose={onClose} size="s">
      {query.isPending ? <Skeleton lines={3} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <Form form={form} draft={draft}>
          <div className="dialog-body">
            {query.data.length === 0 && <p className="field field--wide soft">{t("team.calendar_no_choices")}</p>}
            <div className="checks field field--wide" role="radiogroup" aria-label={t("team.calendar_which")}>
              {query.data.map((c) => <label key={c.href} className="check"><input type="radio" name="calendar" value={c.href} checked={c.href === calendar} onChange={() => draft.set("calendar", c.href)} /><span>{c.name || c.href}</span></label>)}
            </div>
            {of.writes && !writable && <p className="field field--wide problem">{t("team.calendar_not_writable")}</p>}
          </div>
          <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy} disabled={!calendar}>{t("team.calendar_connect")}</Button></footer>
        </Form>
      )}
    </Dialog>
  )
}
