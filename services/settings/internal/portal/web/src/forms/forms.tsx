import "./forms.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { Copy, FilePlus2, FileText, Inbox, Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { createForm } from "@/api/limits"
import { Button } from "@/kit/button"
import { agoText } from "@/kit/dates"
import { confirm, Dialog } from "@/kit/dialog"
import { Form, text, TextField, useForm } from "@/kit/form"
import { Choice, countFilters, List, Tools, Total, useList, type Column } from "@/kit/list"
import { Actions } from "@/kit/menu"
import { Head } from "@/kit/head"
import { Restore, useRestore } from "@/kit/restore"
import { can } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { number, t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { formChanged, type FormRecord } from "./data"
import { FormStatus } from "./marks"

const route = getRouteApi("/forms")
const restoreForm = (f: FormRecord) => take(api.POST("/forms/{id}/restore", { params: { path: { id: f.id } } }))

export function Forms() {
  const search = route.useSearch()
  const change = route.useNavigate()
  const [making, setMaking] = useState(false)
  const actions = useFormActions()
  const list = useList(["forms", "list", search], (_, signal) => take(api.GET("/forms", { params: { query: search }, signal })))
  const add = can("svc_manage_forms") && <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>{t("forms.new")}</Button>
  const columns: Column<FormRecord>[] = [
    { key: "name", label: t("forms.name"), cell: (f) => (
      <span className="cell-main">
        <Link to="/forms/$id" params={{ id: String(f.id) }} className="row-link cell-text">{f.name}</Link>
        <small className="cell-text">{f.used_on.length > 0 ? f.used_on.map((p) => p.title).join(", ") : t("forms.used_nowhere")}</small>
      </span>
    ) },
    { key: "status", label: t("forms.status"), under: true, hides: 1, cell: (f) => <FormStatus status={f.status} /> },
    { key: "booking", label: t("forms.booking"), width: 10, hides: 4, cell: (f) => (f.booking ? <span className="soft">{t("forms.booking_can")}</span> : null) },
    { key: "received", label: t("forms.received_30d"), end: true, hides: 2, cell: (f) => (f.submissions_30d > 0 ? <Link to="/submissions" search={{ form: String(f.id) }} className="count-link" aria-label={t("forms.received_of", { n: f.submissions_30d, name: f.name })}>{number(f.submissions_30d)}</Link> : <span className="soft">0</span>) },
    { key: "spam", label: t("forms.spam_30d"), end: true, hides: 3, cell: (f) => (f.spam_30d > 0 ? <Link to="/submissions" search={{ form: String(f.id), status: "spam" }} className="count-link" aria-label={t("forms.spam_of", { n: f.spam_30d, name: f.name })}>{number(f.spam_30d)}</Link> : <span className="soft">0</span>) },
    ...(search.deleted ? [{ key: "restore", label: t("trash.at"), width: 15, under: true, end: true, cell: (f: FormRecord) => f.deleted_at && <Restore noun="forms" name={f.name} at={f.deleted_at} permission="svc_manage_forms" send={() => restoreForm(f)} /> }]
      : [{ key: "updated", label: t("forms.updated"), end: true, hides: 5 as const, cell: (f: FormRecord) => <span className="soft nowrap">{agoText(f.updated_at)}</span> }]),
    ...(can("svc_manage_forms") && !search.deleted ? [{ key: "actions", label: "", width: 4.5, under: true, end: true, cell: (f: FormRecord) => <Actions label={t("forms.actions_of", { name: f.name })} actions={actions(f)} /> }] : []),
  ]
  return (
    <>
      <Head title={t("nav.forms")} count={<Total n={list.data && list.total} />}>{add}</Head>
      <Tools count={countFilters(search)} onClear={() => void change({ search: {}, replace: true })}>
        <Choice label={t("trash.title")} value={search.deleted && "true"} options={[{ value: "true", label: t("trash.only") }]} onChange={(deleted) => void change({ search: { deleted }, replace: true })} />
      </Tools>
      <List list={list} columns={columns} keeps="forms" id={(f) => String(f.id)} name={t("nav.forms")} filtered={countFilters(search) > 0} onClear={() => void change({ search: {} })} empty={{ icon: FileText, title: t("forms.empty"), text: t("forms.empty_text"), action: add }} />
      {making && <NewForm onClose={() => setMaking(false)} />}
    </>
  )
}

/** Takes a form out of the trash. */
export function useRestoreForm() {
  const restore = useRestore("forms")
  return (f: FormRecord) => restore(f.name, () => restoreForm(f))
}

/** The actions on a form as a whole. gone is called once it is in the trash. */
export function useFormActions(gone?: () => void) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const restore = useRestoreForm()
  const duplicate = async (f: FormRecord) => {
    try {
      const copy = await take(api.POST("/forms/{id}/duplicate", { params: { path: { id: f.id } } }))
      formChanged(queries, copy)
      toast(t("forms.duplicated", { name: f.name }))
      void navigate({ to: "/forms/$id", params: { id: String(copy.id) } })
    } catch (e) {
      toastFault(e)
    }
  }
  const remove = async (f: FormRecord) => {
    if (!(await confirm({ title: t("forms.trash_title", { name: f.name }), text: t("forms.trash_text"), action: t("trash.move"), bad: true }))) return
    try {
      await api.DELETE("/forms/{id}", { params: { path: { id: f.id } } })
      toast(t("trash.now", { name: f.name }), { undo: () => void restore(f) })
      gone?.()
      formChanged(queries)
    } catch (e) {
      toastFault(e)
    }
  }
  return (f: FormRecord) => [
    { id: "submissions", label: t("nav.submissions"), icon: Inbox, run: () => void navigate({ to: "/submissions", search: { form: String(f.id) } }) },
    ...(can("svc_manage_forms") && !f.deleted_at ? [
      { id: "duplicate", label: t("forms.duplicate"), icon: Copy, run: () => void duplicate(f) },
      { id: "trash", label: t("trash.move"), icon: Trash2, bad: true, run: () => void remove(f) },
    ] : []),
  ]
}

const blank = { elements: [{ id: "email", type: "field", target: "contact.email", required: true }, { id: "message", type: "field", target: "submission.fields.message" }] }

/** A new form, empty or from a template. */
function NewForm({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const templates = useQuery({ queryKey: ["forms", "templates"], queryFn: () => take(api.GET("/forms/templates")), staleTime: Infinity, select: (l) => l.items })
  const [chosen, setChosen] = useState("")
  const [name, setName] = useState<string>()
  const called = (key: string, fallback: string) => tOr("forms.template." + key, fallback)
  const suggested = templates.data?.find((x) => x.key === chosen)
  const shown = name ?? (suggested ? called(suggested.key, suggested.name) : "")
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/forms", { params: { header: { "Idempotency-Key": key } }, body: { name: text(values, "name"), ...(chosen ? { template: chosen } : { definition: blank }) } }))
    formChanged(queries, made)
    void navigate({ to: "/forms/$id", params: { id: String(made.id) } })
  })
  return (
    <Dialog title={t("forms.new")} onClose={onClose} guarded={name !== undefined && name !== ""}>
      {templates.isPending ? <Skeleton lines={5} /> : !templates.data ? <Failed error={templates.error} retry={() => void templates.refetch()} /> : (
        <Form limits={createForm} form={form}>
          <div className="dialog-body">
            <fieldset className="templates">
              <legend className="label">{t("forms.start_with")}</legend>
              {[{ key: "", name: t("forms.template_blank"), description: t("forms.template_blank_text") }, ...templates.data].map((x) => (
                <label key={x.key} className="template">
                  <input type="radio" name="template" value={x.key} className="sr" checked={chosen === x.key} onChange={() => setChosen(x.key)} />
                  {x.key ? <FileText aria-hidden /> : <FilePlus2 aria-hidden />}
                  <span className="cell-main"><b>{x.key ? called(x.key, x.name) : x.name}</b><small>{x.key ? called(x.key + "_text", x.description) : x.description}</small></span>
                </label>
              ))}
            </fieldset>
            <TextField name="name" label={t("forms.name")} value={shown} onChange={(e) => setName(e.target.value)} />
          </div>
          <footer className="dialog-foot">
            <Button onClick={onClose}>{t("cancel")}</Button>
            <Button kind="main" type="submit" busy={form.busy}>{t("forms.make")}</Button>
          </footer>
        </Form>
      )}
    </Dialog>
  )
}
