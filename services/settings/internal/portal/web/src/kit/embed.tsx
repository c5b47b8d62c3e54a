// How a widget gets onto a page: code to copy, and a page of this site to which it is added.
import "./css/embed.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Check, Copy, ExternalLink } from "lucide-react"
import { useRef, useState } from "react"
import { api, take } from "@/api/client"
import { embedInPage } from "@/api/limits"
import { Button } from "./button"
import { Dialog } from "./dialog"
import { Form, SelectField, text, TextField, useForm } from "./form"
import { t } from "./text"
import { toast } from "./toast"

/** Text to copy; where the browser does not allow that, it is selected. open is what a link to it is called. */
export function Snippet({ label, code, open }: { label: string; code: string; open?: string }) {
  const [copied, setCopied] = useState(false)
  const shown = useRef<HTMLElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(code)
      setCopied(true)
      setTimeout(() => setCopied(false), 2000)
    } catch {
      getSelection()?.selectAllChildren(shown.current!)
    }
  }
  return (
    <div className="snippet">
      <div className="snippet-head">
        <span className="label">{label}</span>
        <span className="row">
          {open && <a className="icon-button" href={code} target="_blank" rel="noreferrer" aria-label={open}><ExternalLink aria-hidden /></a>}
          <Button small kind="quiet" icon={copied ? <Check aria-hidden /> : <Copy aria-hidden />} aria-label={`${t(copied ? "copied" : "copy")}: ${label}`} onClick={() => void copy()}>{t(copied ? "copied" : "copy")}</Button>
        </span>
      </div>
      <code ref={shown} className="snippet-code" tabIndex={0}>{code}</code>
      <span className="sr" role="status">{copied ? t("copied") : ""}</span>
    </div>
  )
}

/** Published pages that show a widget. tab says that a link opens another one. */
export function UsedOn({ pages, tab }: { pages: { id: number; title: string; url: string }[]; tab: string }) {
  if (pages.length === 0) return null
  return <ul className="used">{pages.map((p) => <li key={p.id}><a href={p.url} target="_blank" rel="noreferrer" className="with-icon">{p.title}<ExternalLink aria-hidden /><span className="sr">{tab}</span></a></li>)}</ul>
}

type Words = { title: string; page: string; new: string; help: string; new_title: string; draft: string; action: string }

/** Adds a widget to a page of this site, or to a new one. done says what became of it. */
export function InPage({ words, name, send, done, onClose }: {
  words: Words
  /** What a new page is called first. */
  name: string
  send: (to: { page_id: number } | { new_page_title: string }, key: string) => Promise<{ page_id: number; created: boolean }>
  done: (title: string, created: boolean) => string
  onClose: () => void
}) {
  const queries = useQueryClient()
  const pages = useQuery({ queryKey: ["pages", "list", "choice"], queryFn: () => take(api.GET("/pages", { params: { query: { per_page: 100 } } })), select: (l) => l.items }).data ?? []
  const [page, setPage] = useState("")
  const form = useForm(async (values, key) => {
    const title = text(values, "new_page_title")
    const made = await send(page ? { page_id: Number(page) } : { new_page_title: title }, key)
    toast(done(pages.find((p) => p.id === made.page_id)?.title ?? title, made.created))
    for (const noun of ["forms", "pages", "services"]) void queries.invalidateQueries({ queryKey: [noun] })
    onClose()
  })
  return (
    <Dialog title={words.title} onClose={onClose} size="s">
      <Form limits={embedInPage} form={form}>
        <div className="dialog-body">
          <SelectField name="page_id" label={words.page} value={page} onChange={(e) => setPage(e.target.value)} options={[{ value: "", label: words.new }, ...pages.map((p) => ({ value: String(p.id), label: p.title }))]} help={words.help} />
          {!page && <TextField name="new_page_title" label={words.new_title} defaultValue={name} help={words.draft} />}
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{words.action}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
