// A stretch of time that somebody marks in the calendar: it becomes an appointment, or time off.
import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { CalendarPlus, TriangleAlert } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { addStaffException } from "@/api/limits"
import { Button } from "@/kit/button"
import { clockOf, dayWords, minutesOf, today } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { can, me } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { mayChange, timesChanged, useStaff } from "@/team/data"

/** from and until are on the wall. blocks leaves out what becomes an appointment. */
export function MarkDialog({ from, until, staff, service, blocks, onClose }: { from: string; until: string; staff?: number; service?: string; blocks?: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  const go = useNavigate()
  const team = useStaff().filter((m) => mayChange(m.user_id))
  const [day, setDay] = useState(from.slice(0, 10))
  const [begin, setBegin] = useState(from.slice(11, 16))
  // Midnight is the end of the day.
  const [end, setEnd] = useState(until.slice(0, 10) > from.slice(0, 10) ? "00:00" : until.slice(11, 16))
  const [who, setWho] = useState(String(team.find((m) => m.user_id === staff)?.user_id ?? team.find((m) => m.user_id === me.user_id)?.user_id ?? team[0]?.user_id ?? ""))
  const late = end === "00:00" ? 1440 : minutesOf(end || "00:00")
  const form = useForm(async (values, key) => {
    const user = Number(who)
    const made = await take(api.POST("/staff/{user}/exceptions", {
      params: { path: { user }, header: { "Idempotency-Key": key } },
      body: { date_from: day, date_to: day, start: begin, end: clockOf(late), type: "closed", label: text(values, "label") },
    }))
    timesChanged(queries)
    const undo = () => void api.DELETE("/exceptions/{id}", { params: { path: { id: made.id } } }).catch(toastFault).finally(() => timesChanged(queries))
    toast(made.appointments.length > 0 ? t("booking.blocked_touched", { n: made.appointments.length }) : t("booking.blocked", { name: team.find((m) => m.user_id === user)?.name ?? "" }), { undo })
    onClose()
  })
  const book = () => {
    onClose()
    void go({ to: "/appointments/new", search: { at: `${day}T${begin}`, until: `${day}T${clockOf(late)}`, staff: staff ? String(staff) : undefined, service } })
  }
  return (
    <Dialog title={blocks ? t("booking.block") : `${dayWords(day)}, ${begin} – ${clockOf(late)}`} onClose={onClose} size="s">
      <Form limits={addStaffException} form={form}>
        <div className="dialog-body">
          {!blocks && can("svc_manage_bookings") && <Button kind="main" icon={<CalendarPlus aria-hidden />} onClick={book}>{t("booking.mark_book")}</Button>}
          {team.length > 0 && (
            <fieldset className="fields mark-off">
              {!blocks && <legend className="label">{t("booking.mark_or_block")}</legend>}
              {team.length > 1 && <SelectField name="user" label={t("booking.staff")} wide value={who} onChange={(e) => setWho(e.target.value)} options={team.map((m) => ({ value: String(m.user_id), label: m.name }))} />}
              {blocks && (
                <>
                  <TextField name="date_from" label={t("booking.day")} type="date" wide value={day} min={today()} onChange={(e) => setDay(e.target.value)} />
                  <TextField name="start" label={t("booking.block_from")} type="time" value={begin} onChange={(e) => setBegin(e.target.value)} />
                  <TextField name="end" label={t("booking.block_to")} type="time" value={end} onChange={(e) => setEnd(e.target.value)} />
                </>
              )}
              <TextField name="label" label={t("booking.block_label")} help={t("booking.block_help")} wide />
            </fieldset>
          )}
          {late <= minutesOf(begin || "00:00") && <p className="problem" role="alert"><TriangleAlert aria-hidden />{t("booking.block_wrong")}</p>}
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button>{team.length > 0 && <Button kind={blocks ? "main" : undefined} type="submit" busy={form.busy} disabled={late <= minutesOf(begin || "00:00")}>{t("booking.block_do")}</Button>}</footer>
      </Form>
    </Dialog>
  )
}
