// What a page would show, while it is written.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { CalendarDays, FileText, TriangleAlert } from "lucide-react"
import { useEffect, useState } from "react"
import { api, take } from "@/api/client"
import { Panel } from "@/kit/panel"
import { servicesQuery, useForms } from "@/kit/records"
import { on } from "@/kit/start"
import { Failed } from "@/kit/states"
import { t } from "@/kit/text"
import { useTeam } from "@/team/data"

/** Milliseconds without a key before the preview follows. */
const pause = 400

export function PagePreview({ title, content }: { title: string; content: string }) {
  const [asked, setAsked] = useState(content)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(content), pause)
    return () => clearTimeout(timer)
  }, [content])
  const query = useQuery({ queryKey: ["pages", "preview", asked], queryFn: async ({ signal }) => (await take(api.POST("/pages/preview", { body: { content: asked }, signal }))).items, placeholderData: keepPreviousData, staleTime: Infinity })
  const forms = useForms()
  const services = useQuery({ ...servicesQuery(true), enabled: on("booking") }).data ?? []
  const team = useTeam()
  const shown = query.data ?? []
  return (
    <Panel title={t("settings.preview")}>
      <article className="panel-body page-preview" aria-live="off">
        <h3>{title}</h3>
        {query.isError && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
        {shown.length === 0 && !query.isError && <p className="soft">{t("settings.page_empty")}</p>}
        {shown.map((b, i) => {
          if (b.text) return <p key={i} className="pre">{b.text}</p>
          const form = forms.find((f) => f.id === b.form)
          const service = services.find((s) => s.id === b.service)
          const person = team.find((m) => m.user_id === b.staff)
          const lost = b.app === "" || (b.form !== null && !form) || (b.service !== null && !service)
          return (
            <p key={i} className="page-widget">
              {lost ? <TriangleAlert aria-hidden /> : b.app === "forms" ? <FileText aria-hidden /> : <CalendarDays aria-hidden />}
              <span>{lost ? t("settings.page_widget_lost") : b.app === "forms" ? t("settings.page_widget_form", { name: form?.name ?? "" }) : [t("settings.page_widget_booking"), service?.name, person?.name].filter(Boolean).join(" · ")}</span>
            </p>
          )
        })}
      </article>
    </Panel>
  )
}

/** Puts a widget where the cursor stands in the text. */
export function InsertWidget({ insert }: { insert: (shortcode: string) => void }) {
  const forms = useForms()
  const services = useQuery({ ...servicesQuery(false), enabled: on("booking") }).data ?? []
  const options = [
    ...(on("forms") ? forms.map((f) => ({ value: `[svc-form id="${f.id}"]`, label: t("settings.page_widget_form", { name: f.name }) })) : []),
    ...(on("booking") ? [{ value: "[svc-booking]", label: t("settings.page_widget_booking") }, ...services.map((s) => ({ value: `[svc-booking service="${s.id}"]`, label: `${t("settings.page_widget_booking")} · ${s.name}` }))] : []),
  ]
  if (options.length === 0) return null
  return (
    <label className="field"><span className="label">{t("settings.page_insert")}</span>
      <select className="input" value="" onChange={(e) => e.target.value && insert(e.target.value)}>
        <option value="">{t("settings.page_insert_none")}</option>
        {options.map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
      </select>
    </label>
  )
}
