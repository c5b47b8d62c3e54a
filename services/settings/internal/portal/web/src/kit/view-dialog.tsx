// The dialogs in which a view of a list is kept, changed and deleted.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { createView, updateView } from "@/api/limits"
import { versionOf } from "@/api/version"
import { Button } from "./button"
import { confirm, Dialog } from "./dialog"
import { CheckField, Form, text, TextField, useDraftForm, useForm } from "./form"
import { queries } from "./queries"
import { can, me } from "./start"
import { Failed, Skeleton } from "./states"
import { t } from "./text"
import { toast, toastFault } from "./toast"
import { useDraft } from "./use-draft"
import { viewsQuery, type Listed, type View } from "./view"

const viewKey = (id: string) => ["views", "one", id]
const viewQuery = (id: string) => ({ queryKey: viewKey(id), queryFn: () => take(api.GET("/views/{id}", { params: { path: { id } } })) })
const changed = (entity: View["entity"]) => queries.invalidateQueries({ queryKey: viewsQuery(entity).queryKey })

/** Keeps what the list is asked for now in the view that it began with. */
export async function saveView(of: Listed, view: View) {
  try {
    const now = await queries.fetchQuery({ ...viewQuery(view.id), staleTime: 0 })
    if (now.updated_at !== view.updated_at) {
      await changed(of.entity)
      return toast(t("views.theirs", { name: now.name }), { bad: true })
    }
    await take(api.PATCH("/views/{id}", { params: { path: { id: view.id }, header: ifMatch(versionOf(now)) }, body: { query: of.query, columns: of.columns } }))
    await changed(of.entity)
    of.settle()
    toast(t("views.saved", { name: view.name }))
  } catch (e) {
    toastFault(e)
  }
}

/** Keeps what the list is asked for now under a name. */
export function NewView({ of, onClose }: { of: Listed; onClose: () => void }) {
  const go = useNavigate()
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/views", { params: { header: { "Idempotency-Key": key } },
      body: { entity: of.entity, name: text(values, "name"), shared: values.has("shared"), query: of.query, columns: of.columns, position: Math.max(0, ...of.views.map((v) => v.position)) } }))
    await changed(of.entity)
    of.settle()
    onClose()
    void go({ to: ".", search: { ...of.address(made.query), tab: made.id } as never, replace: true })
    toast(t("views.saved", { name: made.name }))
  })
  return (
    <Dialog title={t("views.new_title")} size="s" onClose={onClose} guarded={form.dirty}>
      <Form form={form} limits={createView}>
        <div className="dialog-body">
          <TextField name="name" label={t("views.name")} help={t("views.new_help")} required />
          {can("svc_manage_crm") && <CheckField name="shared" label={t("views.share")} />}
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("save")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}

/** Changes a view's name and place, shares it, or deletes it. */
export function EditView({ of, view, onClose }: { of: Listed; view: View; onClose: () => void }) {
  const query = useQuery(viewQuery(view.id))
  if (query.data) return <Edit of={of} view={query.data} onClose={onClose} />
  return <Dialog title={view.name} size="s" onClose={onClose}><div className="dialog-body">{query.isPending ? <Skeleton lines={3} /> : <Failed error={query.error} retry={() => void query.refetch()} />}</div></Dialog>
}

function Edit({ of, view, onClose }: { of: Listed; view: View; onClose: () => void }) {
  const cache = useQueryClient()
  const go = useNavigate()
  const [busy, setBusy] = useState(false)
  const draft = useDraft(view, viewKey(view.id), async ({ change, version }) => {
    const after = await take(api.PATCH("/views/{id}", { params: { path: { id: view.id }, header: ifMatch(version) }, body: change as { name?: string; shared?: boolean; position?: number } }))
    await changed(of.entity)
    return after
  })
  const form = useDraftForm(draft, onClose)
  const remove = async () => {
    if (!(await confirm({ title: t("views.delete_title", { name: view.name }), text: t(view.shared ? "views.delete_shared" : "views.delete_text"), action: t("views.delete"), bad: true }))) return
    setBusy(true)
    try {
      await api.DELETE("/views/{id}", { params: { path: { id: view.id } } })
      draft.drop()
      onClose()
      cache.removeQueries({ queryKey: viewKey(view.id) })
      void go({ to: ".", search: of.address(of.query) as never, replace: true })
      toast(t("views.deleted", { name: view.name }))
      await changed(of.entity)
    } catch (e) {
      setBusy(false)
      toastFault(e)
    }
  }
  return (
    <Dialog title={t("views.edit", { name: view.name })} size="s" onClose={onClose} guarded={draft.dirty}>
      <Form form={form} draft={draft} limits={updateView}>
        <div className="dialog-body">
          <TextField name="name" label={t("views.name")} required />
          <TextField name="position" label={t("views.position")} help={t("views.position_help")} number required />
          {(can("svc_manage_crm") || (view.shared && view.user_id === me.user_id)) && <CheckField name="shared" label={t("views.share")} />}
        </div>
        <footer className="dialog-foot">
          <Button kind="bad" busy={busy} onClick={() => void remove()}>{t("views.delete")}</Button>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("save")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
