import { useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { FileText, Plus } from "lucide-react"
import { useMemo, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { createPage } from "@/api/limits"
import { Button } from "@/kit/button"
import { dateText } from "@/kit/dates"
import { Dialog } from "@/kit/dialog"
import { Form, text, TextField, useForm } from "@/kit/form"
import { List, Total, useList, type Column } from "@/kit/list"
import { Head } from "@/kit/head"
import { can } from "@/kit/start"
import { t } from "@/kit/text"

type Page = Schema<"Page">

export const PageStatus = ({ status }: { status: Page["status"] }) => <span className={`mark mark--${status === "publish" ? "good" : "off"}`}>{t(`settings.page_status.${status}`)}</span>

/** The pages of the site's own. */
export function Pages() {
  const list = useList<Page>(["pages", "list"], (cursor, signal) => take(api.GET("/pages", { params: { query: { cursor, per_page: 50 } }, signal })))
  const [making, setMaking] = useState(false)
  const columns = useMemo((): Column<Page>[] => [
    { key: "title", label: t("settings.page_title"), cell: (p) => <Link to="/pages/$id" params={{ id: String(p.id) }} className="row-link cell-text">{p.title}</Link> },
    { key: "status", label: t("settings.page_status"), under: true, cell: (p) => <PageStatus status={p.status} /> },
    { key: "slug", label: t("settings.page_slug"), width: 14, hides: 1, cell: (p) => <span className="cell-text soft">/{p.slug}</span> },
    { key: "updated", label: t("settings.page_updated"), hides: 2, cell: (p) => <span className="soft">{dateText(p.updated_at)}</span> },
  ], [])
  return (
    <>
      <Head title={t("nav.pages")} count={<Total n={list.data && list.total} />}>{can("svc_manage_crm") && <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("settings.page_new")}</Button>}</Head>
      <List list={list} columns={columns} keeps="pages" id={(p) => String(p.id)} name={t("nav.pages")} empty={{ icon: FileText, title: t("settings.pages_none"), text: t("settings.pages_none_text") }} />
      {making && <NewPage onClose={() => setMaking(false)} />}
    </>
  )
}

function NewPage({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/pages", { params: { header: { "Idempotency-Key": key } }, body: { title: text(values, "title") } }))
    void queries.invalidateQueries({ queryKey: ["pages", "list"] })
    void navigate({ to: "/pages/$id", params: { id: String(made.id) } })
  })
  return (
    <Dialog title={t("settings.page_new")} onClose={onClose} size="s" guarded={form.dirty}>
      <Form limits={createPage} form={form}>
        <div className="dialog-body"><TextField name="title" label={t("settings.page_title")} help={t("settings.page_new_help")} required /></div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("settings.page_make")}</Button></footer>
      </Form>
    </Dialog>
  )
}
