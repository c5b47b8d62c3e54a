import "./booking.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Archive, ArchiveRestore, ArrowLeft } from "lucide-react"
import { useMemo } from "react"
import { api, ifMatch, take } from "@/api/client"
import { updateService } from "@/api/limits"
import { Button } from "@/kit/button"
import { CheckField, Form, SaveBar, SelectField, TextArea, TextField, useDraftForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { can, on, start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { placeKinds, serviceKey, serviceQuery, settingsQuery, type PlaceKind, type Service as Record } from "./data"
import { Embed } from "./embed"
import { staffQuery } from "@/team/data"
import { durationText } from "@/kit/dates"

const route = getRouteApi("/services/$id")

export function Service() {
  const { id } = route.useParams()
  const query = useQuery({ ...serviceQuery(id), enabled: id !== "new" })
  // The form's values are those it begins with, so what they stand beside has to be there.
  const team = useQuery(staffQuery)
  if ((id !== "new" && query.isPending) || team.isPending) return <Skeleton lines={10} />
  if (id !== "new" && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Edit key={id} s={query.data} />
}

type Values = Pick<Record, "name" | "description" | "mail_text" | "duration_min" | "price" | "location_type" | "location_details" | "staff" | "bookable_online" | "confirmation" | "buffer_before" | "buffer_after" | "sort_order" | "min_notice_min" | "max_advance_days" | "form_id">
/** What a new service begins with. */
const none: Omit<Values, "confirmation" | "staff"> = {
  name: "", description: "", mail_text: "", duration_min: 60, price: null, location_type: "in_person", location_details: "", bookable_online: true,
  buffer_before: 0, buffer_after: 0, sort_order: 0, min_notice_min: null, max_advance_days: null, form_id: null,
}

function Edit({ s }: { s?: Record }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const team = (useQuery(staffQuery).data ?? []).filter((m) => m.hours !== undefined)
  const settings = useQuery(settingsQuery).data
  const forms = useQuery({ queryKey: ["forms", "list", "booking"], queryFn: async () => (await take(api.GET("/forms"))).items, enabled: on("forms"), staleTime: 60_000 }).data ?? []
  const fixed = !can("svc_manage_crm")
  const only = team.length === 1 ? team[0]!.user_id : undefined
  const confirmation = settings?.default_confirmation ?? "auto"
  const blank = useMemo(() => ({ ...none, confirmation, staff: only === undefined ? [] : [only] }), [confirmation, only])
  const draft = useDraft<Values | Record>(s ?? blank, s ? serviceKey(s.id) : { creates: true, load: () => Promise.resolve(blank), keep: () => {} }, async ({ change, whole, version, key }) => {
    const priced = <V extends { price?: string | null }>(values: V) => ("price" in values ? { ...values, price: values.price?.replace(",", ".") || null } : values) as never
    const after = s ? await take(api.PATCH("/services/{id}", { params: { path: { id: s.id }, header: ifMatch(version) }, body: priced(change) }))
      : await take(api.POST("/services", { params: { header: { "Idempotency-Key": key } }, body: priced(whole) }))
    for (const key of [["services", "list"], ["slots"], ["staff"]]) void queries.invalidateQueries({ queryKey: key })
    if (!s) {
      queries.setQueryData(serviceKey(after.id), after)
      void navigate({ to: "/services/$id", params: { id: after.id }, ignoreBlocker: true })
    }
    return after
  })
  const form = useDraftForm(draft, () => toast(t("booking.service_saved", { name: draft.at("name") as string })))
  const archive = async (archived: boolean) => {
    if (await draft.change("archived", archived)) toast(t(archived ? "booking.service_archived" : "booking.service_restored", { name: s!.name }), archived ? { undo: () => void archive(false) } : {})
  }
  const d = draft.mine
  const kind = d.location_type as PlaceKind
  const form_id = d.form_id
  const chosen = forms.find((f) => f.id === (form_id ?? settings?.form_id))
  return (
    <>
      <Head title={s?.name ?? t("booking.service_new")} back={<Link to="/services" className="icon-button" aria-label={t("nav.services")}><ArrowLeft aria-hidden /></Link>} count={s?.archived && <span className="mark mark--off">{t("booking.archived")}</span>}>
        {s && !fixed && (s.archived ? <Button busy={draft.sending} icon={<ArchiveRestore aria-hidden />} onClick={() => void archive(false)}>{t("booking.restore")}</Button> : <Button busy={draft.sending} icon={<Archive aria-hidden />} onClick={() => void archive(true)}>{t("booking.archive")}</Button>)}
      </Head>
      <div className="content">
        {s?.archived && <p className="notice notice--warn">{t("booking.archived_text")}</p>}
        <Form limits={updateService} form={form} draft={draft} className="service-form">
          <fieldset disabled={fixed} className="stack">
            <Panel title={t("booking.what")}>
              <div className="panel-body fields">
                <TextField name="name" label={t("booking.name")} wide autoFocus={!s} required />
                <TextArea name="description" label={t("booking.description")} help={t("booking.description_help")} rows={3} />
                <TextArea name="mail_text" label={t("booking.mail_text")} help={t("booking.mail_text_help")} rows={3} />
                <TextField name="duration_min" label={t("booking.duration")} help={t("booking.minutes")} number required />
                <TextField name="price" label={t("booking.price", { currency: start.currency })} help={t("booking.price_help")} inputMode="decimal" />
              </div>
            </Panel>
            <Panel title={t("booking.where_who")}>
              <div className="panel-body fields">
                <SelectField name="location_type" label={t("booking.place")} options={placeKinds.map((value) => ({ value, label: t(`booking.place.${value}`) }))} />
                <TextField name="location_details" label={t("booking.location")} help={t(`booking.place_help.${kind}`)} />
                <fieldset className="field field--wide">
                  <legend className="label">{t("booking.who_does")}</legend>
                  <div className="checks">{team.map((m) => <label key={m.user_id} className="check"><input type="checkbox" name="staff" value={m.user_id} checked={d.staff.includes(m.user_id)} onChange={(e) => draft.set("staff", e.target.checked ? [...d.staff, m.user_id] : d.staff.filter((x) => x !== m.user_id))} /><span>{m.name}</span></label>)}</div>
                  {team.length === 0 && <p className="help">{t("booking.nobody_text")}</p>}
                </fieldset>
              </div>
            </Panel>
            <Panel title={t("booking.online_title")}>
              <div className="panel-body fields">
                <CheckField name="bookable_online" label={t("booking.bookable_online")} help={t("booking.bookable_online_help")} />
                <SelectField name="confirmation" label={t("booking.confirmation")} options={(["auto", "review"] as const).map((value) => ({ value, label: t(`booking.confirmation.${value}`) }))} />
                {on("forms") && <SelectField name="form_id" label={t("booking.form")} help={chosen && !form_id ? t("booking.default_now", { value: chosen.name }) : undefined} number options={[{ value: "", label: t("booking.default") }, ...forms.map((f) => ({ value: String(f.id), label: f.name }))]} />}
                <TextField name="min_notice_min" label={t("booking.notice")} help={<Default own={d.min_notice_min} value={settings && durationText(settings.min_notice_min)} unit={t("booking.minutes")} />} number placeholder={settings && String(settings.min_notice_min)} />
                <TextField name="max_advance_days" label={t("booking.advance")} help={<Default own={d.max_advance_days} value={settings && t("duration.days", { n: settings.max_advance_days })} unit={t("booking.in_days")} />} number placeholder={settings && String(settings.max_advance_days)} />
              </div>
            </Panel>
            <Panel title={t("booking.buffers")}>
              <div className="panel-body fields">
                <TextField name="buffer_before" label={t("booking.buffer_before")} help={t("booking.minutes")} number required />
                <TextField name="buffer_after" label={t("booking.buffer_after")} help={t("booking.minutes")} number required />
                <TextField name="sort_order" label={t("booking.sort")} help={t("booking.sort_help")} number required />
              </div>
            </Panel>
          </fieldset>
          {!fixed && <SaveBar draft={draft} busy={form.busy} save={s ? t("save") : t("booking.service_make")} />}
        </Form>
        {s && !s.archived && <div className="service-form service-embed"><Embed s={s} /></div>}
      </div>
    </>
  )
}

/** The site's own value, where a service leaves it to the site. */
const Default = ({ own, value, unit }: { own: number | null | undefined; value: string | undefined; unit: string }) => <>{unit}{own === null || own === undefined ? value && <> {t("booking.default_now", { value })}</> : <> {t("booking.default_empty")}</>}</>
