// The timeline of a contact or an organization, with its notes, which are written, changed and pinned here.
import { useQueryClient, type QueryKey } from "@tanstack/react-query"
import { Pencil, Pin, PinOff, Trash2 } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { addNote } from "@/api/limits"
import { Button } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { Choice, NextPage, useList, type Page } from "@/kit/list"
import { Actions } from "@/kit/menu"
import { can, me } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { Clash, useDraft, useListed } from "@/kit/use-draft"
import { Timeline, timelineKey } from "./timeline"

type Entry = Schema<"Entry">
type Of = { kind: "contacts" | "organizations"; id: string }

const types = ["note", "change", "booking", "submission", "link", "task", "consent", "mail"] as const
type Type = (typeof types)[number]

/** A record's timeline, page by page; all of it, or entries of one type. */
export function History({ kind, id, readOnly }: Of & { readOnly: boolean }) {
  const [type, setType] = useState<Type>()
  const [editing, setEditing] = useState<string>()
  const key = type ? [...timelineKey(kind, id), type] : timelineKey(kind, id)
  const list = useList<Entry>(key, (cursor, signal) =>
    take(api.GET(`/${kind}/{id}/activities`, { params: { path: { id }, query: { cursor, per_page: 20, ...(type && { type: [type] }) } }, signal })))
  // A person's note stands in the timeline of their organization too: it is changed on the person's screen.
  const mine = (e: Entry) => !readOnly && e.type === "note" && (kind === "contacts" || e.contact === null) && (e.user_id === me.user_id || can("svc_manage_crm"))
  return (
    <div className="panel-body stack">
      {!readOnly && <Note kind={kind} id={id} />}
      <div><Choice label={t("contacts.timeline_all")} value={type} options={types.map((value) => ({ value, label: t(`contacts.timeline.${value}`) }))} onChange={setType} /></div>
      {list.isPending ? <Skeleton lines={5} /> : list.isError && list.items.length === 0 ? <Failed error={list.error} retry={() => void list.refetch()} /> : list.items.length === 0 ? <p className="soft">{t("list.nothing")}</p> : (
        <Timeline entries={list.items} named={kind === "organizations"} beside={(e) => mine(e) && <NoteMenu kind={kind} id={id} note={e} onEdit={() => setEditing(e.id)} />}
          instead={(e) => editing === e.id && <EditNote at={key} kind={kind} id={id} note={e} onClose={() => setEditing(undefined)} />} />
      )}
      {list.hasNextPage && <div><NextPage list={list} small /></div>}
    </div>
  )
}

const notePath = "/{id}/notes/{note}"

/** What can be done with a note that is there. */
function NoteMenu({ kind, id, note, onEdit }: Of & { note: Entry; onEdit: () => void }) {
  const queries = useQueryClient()
  const params = { path: { id, note: note.id } }
  const run = async (f: () => Promise<unknown>) => {
    try {
      await f()
    } catch (e) {
      toastFault(e)
    } finally {
      void queries.invalidateQueries({ queryKey: timelineKey(kind, id) })
    }
  }
  const pin = (pinned: boolean): Promise<void> => run(async () => {
    await take(api.PATCH(`/${kind}${notePath}`, { params: { ...params, header: ifMatch("*") }, body: { pinned } }))
    toast(t(pinned ? "contacts.note_pinned_now" : "contacts.note_unpinned"), { undo: () => void pin(!pinned) })
  })
  const remove = async () => {
    if (!(await confirm({ title: t("contacts.note_delete_title"), text: t("contacts.note_delete_text"), action: t("contacts.note_delete"), bad: true }))) return
    await run(async () => {
      await api.DELETE(`/${kind}${notePath}`, { params })
      toast(t("contacts.note_deleted"))
    })
  }
  return (
    <Actions label={t("contacts.note_actions")} actions={[
      { id: "edit", label: t("contacts.note_edit"), icon: Pencil, run: onEdit },
      note.pinned ? { id: "unpin", label: t("contacts.note_unpin"), icon: PinOff, run: () => void pin(false) } : { id: "pin", label: t("contacts.note_pin"), icon: Pin, run: () => void pin(true) },
      { id: "delete", label: t("contacts.note_delete"), icon: Trash2, bad: true, run: () => void remove() },
    ]} />
  )
}

/** A note's text while it is changed, where it stands. */
function EditNote({ at, kind, id, note, onClose }: Of & { at: QueryKey; note: Entry; onClose: () => void }) {
  const queries = useQueryClient()
  const listed = useListed(at, note, ({ pages }: { pages: Page<Entry>[] }, { id }) => pages.flatMap((p) => p.items ?? []).find((e) => e.id === id), (e = note) => ({ body: e.body }))
  const draft = useDraft(...listed, async ({ change: { body = "" }, version }) => {
    await take(api.PATCH(`/${kind}${notePath}`, { params: { path: { id, note: note.id }, header: ifMatch(version) }, body: { body } }))
    await queries.invalidateQueries({ queryKey: timelineKey(kind, id) })
    return { body }
  })
  const save = () => void draft.save().then(onClose, toastFault)
  const leave = () => (draft.drop(), onClose())
  return (
    <form className="note" onSubmit={(e) => (e.preventDefault(), save())} onKeyDown={(e) => e.key === "Escape" && (e.stopPropagation(), leave())}>
      <textarea className="input" rows={3} autoFocus aria-label={t("contacts.note")} value={draft.mine.body} readOnly={draft.sending} {...addNote.body} onChange={(e) => draft.set("body", e.target.value)}
        onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && !draft.sending && save()} />
      <Clash draft={draft} />
      <span className="row"><Button kind="main" small type="submit" busy={draft.sending}>{t("save")}</Button><Button small onClick={leave}>{t("cancel")}</Button></span>
    </form>
  )
}

const noNote = { body: "" }

/** A note is a draft of an empty one. It stands in the timeline at once, and in its field until it is filed. */
function Note({ kind, id }: Of) {
  const queries = useQueryClient()
  const draft = useDraft(noNote, { load: () => Promise.resolve(noNote), keep: () => {} }, async ({ change: { body = "" }, key }) => {
    const cached = timelineKey(kind, id)
    void queries.cancelQueries({ queryKey: cached })
    const before = queries.getQueryData(cached)
    const entry: Entry = { id: key, type: "note", subject: "", body, data: {}, channel: me.channel, actor_label: me.name, user_id: me.user_id, contact: null, pinned: false, created_at: new Date().toISOString(), edited_at: null, version: 1 }
    queries.setQueryData<{ pages: Page<Entry>[] }>(cached, (old) => old && { ...old, pages: old.pages.map((p, i) => (i === 0 ? { ...p, items: [entry, ...(p.items ?? [])] } : p)) })
    try {
      await take(api.POST(`/${kind}/{id}/notes`, { params: { path: { id }, header: { "Idempotency-Key": key } }, body: { body } }))
    } catch (e) {
      queries.setQueryData(cached, before)
      throw e
    } finally {
      void queries.invalidateQueries({ queryKey: cached })
    }
    return noNote
  })
  const add = () => void draft.save().catch(toastFault)
  return (
    <form className="note" onSubmit={(e) => (e.preventDefault(), add())}>
      <textarea className="input" rows={2} aria-label={t("contacts.note_new")} placeholder={t("contacts.note_hint")} value={draft.mine.body} readOnly={draft.sending} {...addNote.body} onChange={(e) => draft.set("body", e.target.value)}
        onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && !draft.sending && add()} />
      {draft.dirty && <Button kind="main" small type="submit" busy={draft.sending}>{t("contacts.note_add")}</Button>}
    </form>
  )
}
