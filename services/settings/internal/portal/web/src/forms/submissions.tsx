import "./forms.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Download, Inbox, ShieldAlert, ShieldCheck, Trash2 } from "lucide-react"
import { useMemo } from "react"
import { api, take } from "@/api/client"
import { download } from "@/api/download"
import { BulkBar, useBulk } from "@/kit/bulk"
import { Button, ButtonAnchor } from "@/kit/button"
import { agoText, dayOf, momentText } from "@/kit/dates"
import { addDays, startOfDay } from "@/kit/wall"
import { Choice, type Column, countFilters, DayChoice, List, Tools, Total, useList } from "@/kit/list"
import { RecordFilter } from "@/kit/record-filter"
import { Head } from "@/kit/head"
import { can, on } from "@/kit/start"
import { t } from "@/kit/text"
import type { Query } from "@/kit/view"
import { addressOf as plainAddress, useViews, ViewTabs } from "@/kit/views"
import { type Submission } from "./data"
import { SubmissionStatus } from "./marks"
import { contactQuery, findContacts, nameOf, useForms } from "@/kit/records"

const route = getRouteApi("/submissions")

/** The sender, and the most telling answers. */
function summary(s: Submission): { who: string; words: string } {
  const values = Object.entries(s.values).filter(([, v]) => typeof v === "string" && v !== "") as [string, string][]
  const email = values.find(([, v]) => /^\S+@\S+\.\S+$/.test(v))?.[1]
  const who = s.contact?.name || email || values[0]?.[1] || t("forms.somebody")
  const words = values.map(([, v]) => v).filter((v) => v !== email && !who.includes(v)).sort((a, b) => b.length - a.length)[0] ?? ""
  return { who, words: words.slice(0, 160) }
}

/** What stands in the address for a view. Days are days there: the last one is over where created_until begins. */
const addressOf = ({ created_since, created_until, ...rest }: Query) => ({
  ...plainAddress(rest),
  since: created_since ? dayOf(String(created_since)) : undefined, until: created_until ? addDays(dayOf(String(created_until)), -1) : undefined,
})

export function Submissions() {
  const { tab, ...address } = route.useSearch()
  // Without the app contacts a person in the address counts for nothing.
  const search = on("contacts") ? address : { ...address, contact: undefined }
  const navigate = route.useNavigate()
  const set = (change: Partial<typeof address>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const forms = useForms()
  const query = {
    form: search.form, status: search.status, contact: search.contact,
    created_since: search.since && startOfDay(search.since), created_until: search.until && startOfDay(addDays(search.until, 1)),
  }
  const list = useList(["submissions", "list", search], (cursor, signal) => take(api.GET("/submissions", { params: { query: { ...query, per_page: 50, cursor } }, signal })))
  const contact = useQuery({ ...contactQuery(search.contact ?? ""), enabled: !!search.contact }).data
  const clear = () => void navigate({ search: { tab }, replace: true })
  const queries = useQueryClient()
  const bulk = useBulk(list.total, (cursor) => take(api.GET("/submissions", { params: { query: { ...query, per_page: 100, cursor } } })), () => {
    for (const queryKey of [["submissions"], ["forms"], ["overview"]]) void queries.invalidateQueries({ queryKey })
  })
  const many = (body: { spam?: boolean; delete?: boolean }) => (ids: string[]) => take(api.POST("/submissions/bulk", { body: { ids, ...body } }))
  const remove = async () => {
    const { confirm } = await import("@/kit/dialog")
    if (await confirm({ title: t("forms.delete_many", { n: bulk.n }), text: t("forms.submission_delete_text"), action: t("forms.delete_many_do", { n: bulk.n }), bad: true })) await bulk.run(many({ delete: true }))
  }
  const columns = useMemo((): Column<Submission>[] => [
    { key: "who", label: t("forms.from"), cell: (s) => {
      const { who, words } = summary(s)
      return <span className="cell-main"><Link to="/submissions/$id" params={{ id: s.id }} className="row-link cell-text">{who}</Link>{words && <small className="cell-text">{words}</small>}</span>
    } },
    { key: "form", label: t("forms.form"), width: 12, hides: 2, cell: (s) => <span className="cell-text">{s.form.name}</span> },
    { key: "status", label: t("forms.status"), under: true, cell: (s) => <SubmissionStatus s={s} /> },
    { key: "organization", label: t("forms.organization"), width: 12, hides: 3, cell: (s) => <span className="cell-text">{s.organization?.name}</span> },
    { key: "created", label: t("forms.sent"), end: true, hides: 1, cell: (s) => <time className="soft nowrap" dateTime={s.created_at} title={momentText(s.created_at)}>{agoText(s.created_at)}</time> },
  ], [])
  const views = useViews("submissions", { tab, query: Object.fromEntries(Object.entries(query).filter(([, v]) => v)), columns, address: addressOf })
  return (
    <>
      <Head title={t("nav.submissions")} count={<Total n={list.data && list.total} />}>
        {can("svc_manage_forms") && <ButtonAnchor icon={<Download aria-hidden />} href={download("/exports/submissions.csv", query)} download>{t("forms.export")}</ButtonAnchor>}
      </Head>
      <ViewTabs of={views} />
      <Tools count={countFilters(search)} onClear={clear}>
        <Choice label={t("forms.form")} value={search.form} options={forms.map((f) => ({ value: String(f.id), label: f.name }))} onChange={(v) => set({ form: v })} />
        <Choice label={t("forms.status")} value={search.status} options={(["received", "spam"] as const).map((value) => ({ value, label: t(`forms.submission.${value}`) }))} onChange={(v) => set({ status: v })} />
        {on("contacts") && <RecordFilter name="contact" label={t("forms.contact")} clear={t("forms.anybody")} source="contacts" find={findContacts} value={search.contact} shown={contact ? nameOf(contact) : t("forms.one_person")} onChange={(id) => set({ contact: id })} />}
        <DayChoice label={t("forms.since")} value={search.since} onChange={(since) => set({ since })} />
        <DayChoice label={t("forms.until")} value={search.until} onChange={(until) => set({ until })} />
      </Tools>
      <BulkBar bulk={bulk}>
        {search.status !== "spam" && <Button small icon={<ShieldAlert aria-hidden />} onClick={() => void bulk.run(many({ spam: true }), many({ spam: false }))}>{t("forms.is_spam")}</Button>}
        {search.status !== "received" && <Button small icon={<ShieldCheck aria-hidden />} onClick={() => void bulk.run(many({ spam: false }))}>{t("forms.not_spam")}</Button>}
        <Button small icon={<Trash2 aria-hidden />} onClick={() => void remove()}>{t("delete")}</Button>
      </BulkBar>
      <List list={list} columns={columns} keeps="submissions" choice={views.choice} id={(s) => s.id} name={t("nav.submissions")} selection={can("svc_manage_forms") ? { ...bulk, label: (s) => t("forms.choose", { name: summary(s).who }) } : undefined} filtered={countFilters(search) > 0} onClear={clear}
        empty={{ icon: Inbox, title: t("forms.none_sent"), text: t("forms.none_sent_text") }} />
    </>
  )
}
