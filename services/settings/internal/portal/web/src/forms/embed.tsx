// How a form gets onto a page: of this site, or of any other.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Check, Copy, ExternalLink, FilePlus2 } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { embedInPage } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import type { FormRecord } from "./data"

export function Embed({ f }: { f: FormRecord }) {
  const [open, setOpen] = useState(false)
  const query = useQuery({ queryKey: ["forms", "embed", f.id], queryFn: () => take(api.GET("/forms/{id}/embed", { params: { path: { id: f.id } } })), staleTime: Infinity })
  if (!query.data) return null
  const may = can("svc_manage_forms") && can("svc_manage_crm")
  return (
    <Panel title={t("forms.embed")} beside={may && <Button small kind="quiet" icon={<FilePlus2 aria-hidden />} onClick={() => setOpen(true)}>{t("forms.embed_page")}</Button>}>
      <div className="panel-body stack">
        {f.status === "draft" && <p className="soft">{t("forms.embed_draft")}</p>}
        {f.used_on.length > 0 && (
          <ul className="used">{f.used_on.map((p) => <li key={p.id}><a href={p.url} target="_blank" rel="noreferrer" className="with-mark">{p.title}<ExternalLink aria-hidden /><span className="sr">{t("forms.new_tab")}</span></a></li>)}</ul>
        )}
        <Snippet label={t("forms.embed_block")} code={query.data.block} />
        <Snippet label={t("forms.embed_shortcode")} code={query.data.shortcode} />
        {f.status === "publish" && <Snippet label={t("forms.embed_link")} code={/href="([^"]+)"/.exec(query.data.block)?.[1] ?? ""} link />}
      </div>
      {open && <InPage f={f} onClose={() => setOpen(false)} />}
    </Panel>
  )
}

/** Text to copy. */
function Snippet({ label, code, link }: { label: string; code: string; link?: boolean }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(code)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <div className="snippet">
      <div className="snippet-head">
        <span className="label">{label}</span>
        <span className="row">
          {link && <a className="icon-button" href={code} target="_blank" rel="noreferrer" aria-label={t("forms.open_page")}><ExternalLink aria-hidden /></a>}
          <Button small kind="quiet" icon={copied ? <Check aria-hidden /> : <Copy aria-hidden />} aria-label={`${t(copied ? "forms.copied" : "forms.copy")}: ${label}`} onClick={() => void copy().catch(() => toast(t("forms.copy_failed"), { bad: true }))}>{t(copied ? "forms.copied" : "forms.copy")}</Button>
        </span>
      </div>
      <code className="snippet-code" tabIndex={0}>{code}</code>
      <span className="sr" role="status">{copied ? t("forms.copied") : ""}</span>
    </div>
  )
}

/** Adds the form to a page of this site, or to a new one. */
function InPage({ f, onClose }: { f: FormRecord; onClose: () => void }) {
  const queries = useQueryClient()
  const pages = useQuery({ queryKey: ["pages", "list", "choice"], queryFn: () => take(api.GET("/pages", { params: { query: { per_page: 100 } } })), select: (l) => l.items }).data ?? []
  const [page, setPage] = useState("")
  const form = useForm(async (values, key) => {
    const done = await take(api.POST("/forms/{id}/embed-in-page", { params: { path: { id: f.id }, header: { "Idempotency-Key": key } }, body: page ? { page_id: Number(page) } : { new_page_title: text(values, "new_page_title") } }))
    toast(t(done.created ? "forms.embedded_new" : "forms.embedded", { title: pages.find((p) => p.id === done.page_id)?.title ?? text(values, "new_page_title") }))
    for (const noun of ["forms", "pages"]) void queries.invalidateQueries({ queryKey: [noun] })
    onClose()
  })
  return (
    <Dialog title={t("forms.embed_page")} onClose={onClose} size="s">
      <Form limits={embedInPage} form={form}>
        <div className="dialog-body">
          <SelectField name="page_id" label={t("forms.page")} value={page} onChange={(e) => setPage(e.target.value)} options={[{ value: "", label: t("forms.page_new") }, ...pages.map((p) => ({ value: String(p.id), label: p.title }))]} help={t("forms.page_help")} />
          {!page && <TextField name="new_page_title" label={t("forms.page_title")} defaultValue={f.name} help={t("forms.page_draft")} />}
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("forms.embed_do")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
