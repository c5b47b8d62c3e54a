import "./booking.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Archive, ArchiveRestore, ArrowLeft } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { CheckField, Form, SelectField, text, TextArea, TextField, useForm, useUnsavedGuard } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/shell"
import { can, on, start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { durationText, placeKinds, serviceKey, serviceQuery, settingsQuery, staffQuery, type PlaceKind, type Service as Record } from "./data"

const route = getRouteApi("/services/$id")

export function Service() {
  const { id } = route.useParams()
  const query = useQuery({ ...serviceQuery(id), enabled: id !== "new" })
  // The form's values are those it begins with, so what they stand beside has to be there.
  const team = useQuery(staffQuery)
  if ((id !== "new" && query.isPending) || team.isPending) return <Skeleton lines={10} />
  if (id !== "new" && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Edit key={id + (query.data?.updated_at ?? "")} s={query.data} />
}

function Edit({ s }: { s?: Record }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const team = (useQuery(staffQuery).data ?? []).filter((m) => m.hours !== undefined)
  const settings = useQuery(settingsQuery).data
  const forms = useQuery({ queryKey: ["forms", "list", "booking"], queryFn: async () => (await take(api.GET("/forms"))).items, enabled: on("forms"), staleTime: 60_000 }).data ?? []
  const [kind, setKind] = useState((s?.location_type ?? "in_person") as PlaceKind)
  const [busy, setBusy] = useState(false)
  const fixed = !can("svc_manage_crm")
  const keep = (after: Record) => {
    queries.setQueryData(serviceKey(after.id), after)
    for (const key of [["services", "list"], ["slots"], ["staff"]]) void queries.invalidateQueries({ queryKey: key })
  }
  const form = useForm(async (values, key) => {
    const number = (name: string) => (text(values, name) === "" ? null : Number(text(values, name)))
    const body = {
      name: text(values, "name"), description: text(values, "description"), duration_min: number("duration_min") ?? 0, price: text(values, "price").replace(",", ".") || null,
      location_type: kind, location_details: text(values, "location_details"), staff: values.getAll("staff").map(Number), bookable_online: values.has("bookable_online"),
      confirmation: text(values, "confirmation") as "auto", buffer_before: number("buffer_before") ?? 0, buffer_after: number("buffer_after") ?? 0, sort_order: number("sort_order") ?? 0,
      min_notice_min: number("min_notice_min"), max_advance_days: number("max_advance_days"), form_id: number("form_id"),
    }
    const after = s ? await take(api.PATCH("/services/{id}", { params: { path: { id: s.id } }, body })) : await take(api.POST("/services", { params: { header: { "Idempotency-Key": key } }, body }))
    keep(after)
    toast(t("booking.service_saved", { name: after.name }))
    if (!s) setTimeout(() => void navigate({ to: "/services/$id", params: { id: after.id }, ignoreBlocker: true }))
  })
  useUnsavedGuard(form.dirty)
  const archive = async (archived: boolean) => {
    setBusy(true)
    try {
      keep(await take(api.PATCH("/services/{id}", { params: { path: { id: s!.id } }, body: { archived } })))
      toast(t(archived ? "booking.service_archived" : "booking.service_restored", { name: s!.name }), archived ? { undo: () => void archive(false) } : {})
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  const chosen = forms.find((f) => f.id === (s?.form_id ?? settings?.form_id))
  return (
    <>
      <Head title={s?.name ?? t("booking.service_new")} back={<Link to="/services" className="icon-button" aria-label={t("nav.services")}><ArrowLeft aria-hidden /></Link>} count={s?.archived && <span className="mark mark--off">{t("booking.archived")}</span>}>
        {s && !fixed && (s.archived ? <Button busy={busy} icon={<ArchiveRestore aria-hidden />} onClick={() => void archive(false)}>{t("booking.restore")}</Button> : <Button busy={busy} icon={<Archive aria-hidden />} onClick={() => void archive(true)}>{t("booking.archive")}</Button>)}
      </Head>
      <div className="content">
        {s?.archived && <p className="notice notice--warn">{t("booking.archived_text")}</p>}
        <Form form={form} className="service-form">
          <fieldset disabled={fixed} className="stack">
            <Panel title={t("booking.what")}>
              <div className="panel-body fields">
                <TextField name="name" label={t("booking.name")} defaultValue={s?.name} maxLength={190} wide autoFocus={!s} required />
                <TextArea name="description" label={t("booking.description")} help={t("booking.description_help")} defaultValue={s?.description} rows={3} maxLength={2000} />
                <TextField name="duration_min" label={t("booking.duration")} help={t("booking.minutes")} type="number" min={5} max={1440} step={5} inputMode="numeric" defaultValue={s?.duration_min ?? 60} />
                <TextField name="price" label={t("booking.price", { currency: start.currency })} help={t("booking.price_help")} inputMode="decimal" defaultValue={s?.price ?? ""} maxLength={20} />
              </div>
            </Panel>
            <Panel title={t("booking.where_who")}>
              <div className="panel-body fields">
                <SelectField name="location_type" label={t("booking.place")} value={kind} onChange={(e) => setKind(e.target.value as PlaceKind)} options={placeKinds.map((value) => ({ value, label: t(`booking.place.${value}`) }))} />
                <TextField name="location_details" label={t("booking.location")} help={t(`booking.place_help.${kind}`)} defaultValue={s?.location_details} maxLength={255} />
                <fieldset className="field field--wide">
                  <legend className="label">{t("booking.who_does")}</legend>
                  <div className="checks">{team.map((m) => <label key={m.user_id} className="check"><input type="checkbox" name="staff" value={m.user_id} defaultChecked={s ? s.staff.includes(m.user_id) : team.length === 1} /><span>{m.name}</span></label>)}</div>
                  {team.length === 0 && <p className="help">{t("booking.nobody_text")}</p>}
                </fieldset>
              </div>
            </Panel>
            <Panel title={t("booking.online_title")}>
              <div className="panel-body fields">
                <CheckField name="bookable_online" label={t("booking.bookable_online")} help={t("booking.bookable_online_help")} defaultChecked={s?.bookable_online ?? true} />
                <SelectField name="confirmation" label={t("booking.confirmation")} defaultValue={s?.confirmation ?? settings?.default_confirmation ?? "auto"} key={`c${settings?.default_confirmation}`} options={(["auto", "review"] as const).map((value) => ({ value, label: t(`booking.confirmation.${value}`) }))} />
                {on("forms") && <SelectField name="form_id" label={t("booking.form")} help={chosen && !s?.form_id ? t("booking.default_now", { value: chosen.name }) : undefined} key={`f${forms.length}`} defaultValue={s?.form_id ? String(s.form_id) : ""} options={[{ value: "", label: t("booking.default") }, ...forms.map((f) => ({ value: String(f.id), label: f.name }))]} />}
                <TextField name="min_notice_min" label={t("booking.notice")} help={<Default own={s?.min_notice_min} value={settings && durationText(settings.min_notice_min)} unit={t("booking.minutes")} />} type="number" min={0} inputMode="numeric" defaultValue={s?.min_notice_min ?? ""} placeholder={settings && String(settings.min_notice_min)} />
                <TextField name="max_advance_days" label={t("booking.advance")} help={<Default own={s?.max_advance_days} value={settings && t("booking.days", { n: settings.max_advance_days })} unit={t("booking.in_days")} />} type="number" min={1} inputMode="numeric" defaultValue={s?.max_advance_days ?? ""} placeholder={settings && String(settings.max_advance_days)} />
              </div>
            </Panel>
            <Panel title={t("booking.buffers")}>
              <div className="panel-body fields">
                <TextField name="buffer_before" label={t("booking.buffer_before")} help={t("booking.minutes")} type="number" min={0} max={1440} inputMode="numeric" defaultValue={s?.buffer_before ?? 0} />
                <TextField name="buffer_after" label={t("booking.buffer_after")} help={t("booking.minutes")} type="number" min={0} max={1440} inputMode="numeric" defaultValue={s?.buffer_after ?? 0} />
                <TextField name="sort_order" label={t("booking.sort")} help={t("booking.sort_help")} type="number" inputMode="numeric" defaultValue={s?.sort_order ?? 0} />
              </div>
            </Panel>
          </fieldset>
          {!fixed && <div className="save-bar"><span className="soft">{form.dirty ? t("booking.unsaved") : ""}</span><Button kind="main" type="submit" busy={form.busy}>{s ? t("save") : t("booking.service_make")}</Button></div>}
        </Form>
      </div>
    </>
  )
}

/** The site's own value, where a service leaves it to the site. */
const Default = ({ own, value, unit }: { own: number | null | undefined; value: string | undefined; unit: string }) => <>{unit}{own === null || own === undefined ? value && <> {t("booking.default_now", { value })}</> : <> {t("booking.default_empty")}</>}</>
