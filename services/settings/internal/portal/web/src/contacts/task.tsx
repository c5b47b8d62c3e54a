// The line that adds a task, the tasks about a record, and the dialog that changes one.
import { useQuery } from "@tanstack/react-query"
import { Plus } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { createTask, updateTask } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextArea, TextField, useDraftForm, useForm } from "@/kit/form"
import { NextPage, useList } from "@/kit/list"
import { Panel } from "@/kit/panel"
import { can, me } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { useTeam } from "@/team/data"
import { membersOrNone } from "./data"
import { About, Due, TaskLines, useTaskChanged, type Task } from "./task-lines"

const taskKey = (id: string) => ["tasks", "one", id]

/** A line that adds a task: what is to do, by when and for whom. */
export function AddTask({ about, owner }: { about?: { contact: string } | { organization: string }; owner?: number | null }) {
  const changed = useTaskChanged()
  const team = useTeam()
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/tasks", { params: { header: { "Idempotency-Key": key } },
      body: { title: text(values, "title"), due_on: text(values, "due_on") || null, owner_user_id: Number(text(values, "owner_user_id")) || null, ...about } }))
    changed(made)
    toast(t("contacts.task_added", { title: made.title }))
    const title = form.ref.current?.elements.namedItem("title")
    if (title instanceof HTMLInputElement) {
      title.value = ""
      title.focus()
    }
  })
  return (
    <Form form={form} limits={createTask} className="task-add">
      <TextField name="title" label={t("contacts.task_title")} placeholder={t("contacts.task_title")} hideLabel required />
      <TextField name="due_on" label={t("contacts.task_due")} hideLabel type="date" />
      <SelectField name="owner_user_id" label={t("contacts.task_owner")} hideLabel options={membersOrNone(team)} defaultValue={String(owner ?? me.user_id)} key={team.length} />
      <Button kind="main" type="submit" busy={form.busy} icon={<Plus aria-hidden />}>{t("contacts.task_add")}</Button>
    </Form>
  )
}

/** The tasks about a contact or an organization. */
export function Tasks({ about, readOnly, owner }: { about: { contact: string } | { organization: string }; readOnly: boolean; owner?: number | null }) {
  const [open, setOpen] = useState<string>()
  const list = useList<Task>(["tasks", "list", about], (cursor, signal) => take(api.GET("/tasks", { params: { query: { ...about, per_page: 20, cursor } }, signal })))
  return (
    <Panel title={t("nav.tasks")}>
      <div className="panel-body stack">
        {!readOnly && <AddTask about={about} owner={owner} />}
        {list.isPending ? <Skeleton lines={2} /> : list.isError && list.items.length === 0 ? <Failed error={list.error} retry={() => void list.refetch()} /> : list.items.length === 0 ? <p className="soft">{t("contacts.tasks_none")}</p> : <TaskLines tasks={list.items} onOpen={setOpen} />}
        {list.hasNextPage && <div><NextPage list={list} small /></div>}
      </div>
      {open && <TaskDialog id={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  )
}

/** Changes a task, or deletes it. */
export function TaskDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery({ queryKey: taskKey(id), queryFn: () => take(api.GET("/tasks/{id}", { params: { path: { id } } })) })
  if (query.data) return can("svc_edit_contacts") ? <Edit task={query.data} onClose={onClose} /> : <Read task={query.data} onClose={onClose} />
  return <Dialog title={t("contacts.task")} onClose={onClose}><div className="dialog-body">{query.isPending ? <Skeleton lines={5} /> : <Failed error={query.error} retry={() => void query.refetch()} />}</div></Dialog>
}

type Change = { title?: string; body?: string; due_on?: string | null; owner_user_id?: number | null }

function Edit({ task, onClose }: { task: Task; onClose: () => void }) {
  const changed = useTaskChanged()
  const team = useTeam()
  const [busy, setBusy] = useState(false)
  const draft = useDraft(task, taskKey(task.id), async ({ change, version }) => {
    const { due_on, ...rest } = change as Change
    const after = await take(api.PATCH("/tasks/{id}", { params: { path: { id: task.id }, header: ifMatch(version) }, body: { ...rest, ...(due_on !== undefined && { due_on: due_on || null }) } }))
    changed(after)
    return after
  })
  const form = useDraftForm(draft, onClose)
  const remove = async () => {
    setBusy(true)
    try {
      await api.DELETE("/tasks/{id}", { params: { path: { id: task.id } } })
      draft.drop()
      onClose()
      toast(t("contacts.task_deleted", { title: task.title }))
    } catch (e) {
      setBusy(false)
      toastFault(e)
    } finally {
      changed(task)
    }
  }
  return (
    <Dialog title={t("contacts.task")} onClose={onClose} guarded={draft.dirty}>
      <Form form={form} draft={draft} limits={updateTask}>
        <div className="dialog-body">
          <div className="fields">
            <TextField name="title" label={t("contacts.task_title")} wide required autoFocus />
            <TextField name="due_on" label={t("contacts.task_due")} type="date" />
            <SelectField name="owner_user_id" label={t("contacts.task_owner")} number options={membersOrNone(team)} />
            <TextArea name="body" label={t("contacts.task_body")} />
          </div>
          <Leads task={task} onClose={onClose} />
        </div>
        <footer className="dialog-foot">
          <Button kind="bad" busy={busy} onClick={() => void remove()}>{t("contacts.task_delete")}</Button>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("save")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}

/** What the task is about: going there closes the dialog. */
const Leads = ({ task, onClose }: { task: Task; onClose: () => void }) =>
  (task.contact || task.organization) && <p className="row" onClick={(e) => e.target instanceof HTMLAnchorElement && onClose()}><About task={task} /></p>

/** A task for who may not change it. */
const Read = ({ task, onClose }: { task: Task; onClose: () => void }) => (
  <Dialog title={task.title} onClose={onClose}>
    <div className="dialog-body stack">
      <p><Due task={task} /></p>
      {task.body && <p className="pre">{task.body}</p>}
      <Leads task={task} onClose={onClose} />
    </div>
  </Dialog>
)
