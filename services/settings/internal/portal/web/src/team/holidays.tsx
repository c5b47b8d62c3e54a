// Public holidays of a year as closures, by one press.
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { today } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, useForm } from "@/kit/form"
import { kept, start } from "@/kit/start"
import { locale, t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { timesChanged } from "./data"
import { countries, parts } from "./regions"

export default function Holidays({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [year, setYear] = useState(today().slice(0, 4))
  const last = kept.get("holidays") || start.country
  const [country, setCountry] = useState(countries.find((c) => c === last.slice(0, 2)) ?? "BE")
  const [part, setPart] = useState(last)
  const names = new Intl.DisplayNames(locale, { type: "region" })
  const inside = parts[country] ?? {}
  const region = part in inside ? part : country
  const form = useForm(async (_, key) => {
    const made = await take(api.POST("/closures/holidays", { params: { header: { "Idempotency-Key": key } }, body: { year: Number(year), region: region as "BE", language: start.language as "en" } }))
    kept.set("holidays", region)
    timesChanged(queries)
    const undo = async () => {
      try {
        for (const { id } of made.items) await api.DELETE("/exceptions/{id}", { params: { path: { id } } })
      } catch (e) {
        toastFault(e)
      } finally {
        timesChanged(queries)
      }
    }
    const touched = made.items.reduce((n, e) => n + e.appointments.length, 0)
    toast(made.items.length === 0 ? t("team.holidays_there", { year }) : touched > 0 ? t("team.off_made_touched", { n: touched }) : t("team.holidays_made", { n: made.items.length }), { undo: made.items.length > 0 ? () => void undo() : undefined })
    onClose()
  })
  const now = Number(today().slice(0, 4))
  return (
    <Dialog title={t("team.holidays")} onClose={onClose} size="s">
      <Form limits={{}} form={form}>
        <div className="dialog-body">
          <div className="fields">
            <SelectField name="year" label={t("team.holidays_year")} value={year} onChange={(e) => setYear(e.target.value)} options={[now, now + 1, now + 2].map((y) => ({ value: String(y), label: String(y) }))} />
            <SelectField name="country" label={t("team.holidays_country")} value={country} onChange={(e) => setCountry(e.target.value as "BE")} options={countries.map((value) => ({ value, label: names.of(value) ?? value }))} />
            {Object.keys(inside).length > 0 && <SelectField name="region" label={t("team.holidays_region")} help={t("team.holidays_region_help")} wide value={region} onChange={(e) => setPart(e.target.value)} options={[{ value: country, label: t("team.holidays_all") }, ...Object.entries(inside).map(([value, label]) => ({ value, label }))]} />}
          </div>
          <p className="soft">{t("team.holidays_text")}</p>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("team.holidays_do")}</Button></footer>
      </Form>
    </Dialog>
  )
}
