// Moving an appointment: by dragging or by free times. It asks before the client is mailed; a time that is taken meanwhile
// brings the nearest free ones.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { ArrowRight, CircleAlert, Hourglass, Mail, TriangleAlert } from "lucide-react"
import { useState } from "react"
import { Keys } from "@/api/attempts"
import { api, take } from "@/api/client"
import { asFault, type Fault } from "@/api/fault"
import { Button } from "@/kit/button"
import { dayOf, dayLongText, dayText, durationText, timeRange, timeText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { saying } from "@/kit/problem"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { appointmentsChanged, serviceQuery, type Appointment, type Slot } from "./data"
import { Times, type Chosen } from "./times"
import { useStaff } from "@/team/data"

/** to is a time that was chosen before, such as by dragging, and minutes a length. */
export function MoveDialog({ a, to, minutes, onClose }: { a: Appointment; to?: Chosen; minutes?: number; onClose: () => void }) {
  const queries = useQueryClient()
  const staff = useStaff()
  const service = useQuery(serviceQuery(a.service.id)).data
  const [who, setWho] = useState<number>(to?.staff ?? a.staff.user_id)
  const [chosen, setChosen] = useState<Chosen | undefined>(to)
  const [picking, setPicking] = useState(!to)
  const [lengthening, setLengthening] = useState(minutes !== undefined)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const [keys] = useState(() => new Keys())
  const was = Math.round((Date.parse(a.ends_at) - Date.parse(a.starts_at)) / 60_000)
  const [typed, setTyped] = useState(String(minutes ?? was))
  const length = Number(typed)
  const possible = Number.isInteger(length) && length >= 1 && length <= 1440
  const end = (from: string) => new Date(Date.parse(from) + (possible ? length : was) * 60_000).toISOString()
  const name = (id: number | null) => staff.find((m) => m.user_id === id)?.name ?? a.staff.name
  const people = staff.filter((m) => m.user_id === a.staff.user_id || service?.staff.includes(m.user_id))
  const take_ = (c: Chosen) => {
    setChosen({ ...c, staff: c.staff ?? who })
    setFault(undefined)
    setPicking(false)
  }
  const back = async (after: Appointment) => {
    try {
      const body = { starts_at: a.starts_at, staff: a.staff.user_id, duration_min: was, outside_hours: true }
      appointmentsChanged(queries, await take(api.POST("/appointments/{id}/reschedule", { params: { path: { id: a.id } }, body })))
      toast(t("booking.moved", { name: a.contact.name, day: dayText(a.starts_at), time: timeText(a.starts_at) }))
    } catch (e) {
      appointmentsChanged(queries, after)
      toastFault(e)
    }
  }
  const move = async (c: Chosen) => {
    const body = { starts_at: c.starts_at, staff: c.staff ?? a.staff.user_id, outside_hours: c.outside, ...(length !== was && { duration_min: length }) }
    const words = JSON.stringify(body)
    setBusy(true)
    setFault(undefined)
    try {
      const after = await take(api.POST("/appointments/{id}/reschedule", { params: { path: { id: a.id }, header: { "Idempotency-Key": keys.of(words) } }, body }))
      appointmentsChanged(queries, after)
      toast(t("booking.moved", { name: a.contact.name, day: dayText(after.starts_at), time: timeText(after.starts_at) }), { undo: () => void back(after) })
      onClose()
    } catch (e) {
      const f = asFault(e)
      if (!f.passing) keys.settle(words)
      setFault(f)
      void queries.invalidateQueries({ queryKey: ["slots"] })
    } finally {
      setBusy(false)
    }
  }
  const taken = fault?.code === "svc_slot_taken"
  const nearest = taken ? ((fault.data.alternatives as Slot[] | undefined) ?? []) : []
  return (
    <Dialog title={t("booking.move_title", { name: a.contact.name })} onClose={onClose} size="m">
      <div className="dialog-body">
        <div className="move">
          <div className="move-end"><small>{t("booking.move_from")}</small><b>{dayText(a.starts_at)}</b><span className="num">{timeRange(a.starts_at, a.ends_at)}</span><span className="soft">{a.staff.name}</span></div>
          <ArrowRight aria-hidden />
          <div className={chosen ? "move-end move-end--to" : "move-end"}><small>{t("booking.move_to")}</small>{chosen ? <><b>{dayText(chosen.starts_at)}</b><span className="num">{timeRange(chosen.starts_at, end(chosen.starts_at))}</span><span className="soft">{name(chosen.staff)}</span></> : <span className="soft">{t("booking.choose_time")}</span>}</div>
        </div>
        {lengthening ? (
          <label className="field move-length"><span className="label">{t("booking.length")}</span>
            <input className="input" type="number" inputMode="numeric" min={1} max={1440} step={5} value={typed} aria-invalid={possible ? undefined : true} autoFocus={minutes === undefined}
              onKeyDown={(e) => e.key === "Enter" && possible && chosen && !taken && void move(chosen)}
              onChange={(e) => (setTyped(e.target.value), setFault(undefined), !chosen && (setChosen({ starts_at: a.starts_at, staff: who, outside: false }), setPicking(false)))} />
          </label>
        ) : <span><Button kind="quiet" small icon={<Hourglass aria-hidden />} onClick={() => setLengthening(true)}>{t("booking.length_change", { time: durationText(was) })}</Button></span>}
        {possible && service && length !== service.duration_min && length !== was && <p className="notice notice--warn" role="status"><TriangleAlert aria-hidden /><span>{t("booking.length_other", { name: service.name, time: durationText(service.duration_min), now: durationText(length) })}</span></p>}
        {picking && (
          <>
            {people.length > 1 && (
              <label className="field"><span className="label">{t("booking.staff")}</span>
                <select className="input" value={who} onChange={(e) => (setWho(Number(e.target.value)), setChosen(undefined))}>{people.map((m) => <option key={m.user_id} value={m.user_id}>{m.name}</option>)}</select>
              </label>
            )}
            <Times key={who} what={{ appointment: a.id }} staff={who} from={dayOf(a.starts_at) > dayOf(new Date().toISOString()) ? dayOf(a.starts_at) : undefined} value={chosen} onPick={take_} focus />
          </>
        )}
        {taken && (
          <div className="notice notice--warn" role="alert">
            <TriangleAlert aria-hidden />
            <div>
              <p><b>{t("booking.taken")}</b> {nearest.length > 0 ? t("booking.taken_text") : t("booking.taken_none")}</p>
              {nearest.length > 0 && <div className="times-grid times-grid--wide">{nearest.map((s) => <button key={s.starts_at} type="button" className="time" onClick={() => take_({ starts_at: s.starts_at, staff: s.staff.includes(who) ? who : s.staff[0] ?? who, outside: false })}>{dayText(s.starts_at)} <b className="num">{timeText(s.starts_at)}</b></button>)}</div>}
              {chosen && !chosen.outside && <Button small onClick={() => void move({ ...chosen, outside: true })}>{t("booking.outside_anyway", { time: timeText(chosen.starts_at) })}</Button>}
            </div>
          </div>
        )}
        {fault && !taken && <div className="notice notice--bad" role="alert"><CircleAlert aria-hidden /><div><p>{saying(fault)}</p></div></div>}
        {chosen?.outside && !taken && <p className="notice notice--warn"><TriangleAlert aria-hidden /><span>{t("booking.outside_text")}</span></p>}
        {chosen && !picking && !taken && <p className="with-icon soft"><Mail aria-hidden />{t("booking.move_mail", { name: a.contact.name, day: dayLongText(chosen.starts_at) })}</p>}
      </div>
      <footer className="dialog-foot">
        {!picking && <Button onClick={() => (setPicking(true), setFault(undefined))}>{t("booking.other_times")}</Button>}
        <Button onClick={onClose}>{t("cancel")}</Button>
        {!picking && !taken && <Button kind="main" busy={busy} autoFocus disabled={!possible} onClick={() => chosen && void move(chosen)}>{t("booking.move_and_mail")}</Button>}
      </footer>
    </Dialog>
  )
}
