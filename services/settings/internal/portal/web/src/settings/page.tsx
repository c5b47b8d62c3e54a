import "./settings.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, ExternalLink, EyeOff, Globe, Trash2 } from "lucide-react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updatePage } from "@/api/limits"
import { Button } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { Form, SaveBar, TextArea, TextField, useDraftForm } from "@/kit/form"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { can } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { InsertWidget, PagePreview } from "./page-preview"
import { PageStatus } from "./pages"

type Record = Schema<"Page">

const route = getRouteApi("/pages/$id")

export function Page() {
  const { id } = route.useParams()
  const query = useQuery({ queryKey: ["pages", "one", id], queryFn: () => take(api.GET("/pages/{id}", { params: { path: { id: Number(id) } } })) })
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Edit key={id} p={query.data} />
}

function Edit({ p }: { p: Record }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const fixed = !can("svc_manage_crm")
  const draft = useDraft(p, ["pages", "one", String(p.id)], async ({ change: { title, slug, content, status }, version }) => {
    const after = await take(api.PATCH("/pages/{id}", { params: { path: { id: p.id }, header: ifMatch(version) }, body: { title, slug, content, status } }))
    void queries.invalidateQueries({ queryKey: ["pages", "list"] })
    return after
  })
  const form = useDraftForm(draft, () => toast(t("settings.saved", { name: String(draft.at("title")) })))
  const turn = async (status: Record["status"]) => {
    if (await draft.change("status", status)) toast(t(status === "publish" ? "settings.page_published" : "settings.page_hidden", { name: p.title }))
  }
  const remove = async () => {
    if (!(await confirm({ title: t("settings.page_delete_title", { name: p.title }), text: t("settings.page_delete_text"), action: t("settings.page_delete_do", { name: p.title }), bad: true }))) return
    try {
      await api.DELETE("/pages/{id}", { params: { path: { id: p.id } } })
      toast(t("settings.page_deleted", { name: p.title }))
      void queries.invalidateQueries({ queryKey: ["pages", "list"] })
      await navigate({ to: "/pages", ignoreBlocker: true })
    } catch (e) {
      toastFault(e)
    }
  }
  const insert = (shortcode: string) => {
    const field = document.querySelector<HTMLTextAreaElement>("textarea[name=content]")
    const text = draft.mine.content
    const at = field?.selectionStart ?? text.length
    const [before, behind] = [text.slice(0, at).trimEnd(), text.slice(at).trimStart()]
    draft.set("content", [before, shortcode, behind].filter(Boolean).join("\n\n"))
    field?.focus()
  }
  const shown = p.status === "publish"
  return (
    <>
      <Head title={p.title} back={<Link to="/pages" className="icon-button" aria-label={t("nav.pages")}><ArrowLeft aria-hidden /></Link>} count={<PageStatus status={p.status} />}>
        {!fixed && <Actions actions={[{ id: "delete", label: t("delete"), icon: Trash2, bad: true, run: () => void remove() }]} />}
        {!fixed && (shown ? <Button icon={<EyeOff aria-hidden />} busy={draft.sending} onClick={() => void turn("draft")}>{t("settings.page_hide")}</Button>
          : <Button kind="main" icon={<Globe aria-hidden />} busy={draft.sending} onClick={() => void turn("publish")}>{t("settings.page_publish")}</Button>)}
      </Head>
      <div className="content">
        <Form limits={updatePage} form={form} draft={draft} className="settings-form">
          <fieldset disabled={fixed} className="stack">
            <Panel title={t("settings.page")} beside={shown && <a href={p.url} target="_blank" rel="noopener" className="with-icon">{p.url}<ExternalLink aria-hidden /></a>}>
              <div className="panel-body fields">
                <TextField name="title" label={t("settings.page_title")} required wide />
                <TextField name="slug" label={t("settings.page_slug")} help={t("settings.page_slug_help")} required autoCapitalize="none" spellCheck={false} wide />
                <TextArea name="content" label={t("settings.page_content")} help={t("settings.page_content_help")} rows={16} />
                {!fixed && <InsertWidget insert={insert} />}
              </div>
            </Panel>
          </fieldset>
          {!fixed && <SaveBar draft={draft} busy={form.busy} />}
        </Form>
        <div className="settings-form page-shown"><PagePreview title={draft.mine.title} content={draft.mine.content} /></div>
      </div>
    </>
  )
}
