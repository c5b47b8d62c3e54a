import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Archive, ArchiveRestore, ArrowDown, ArrowUp, Columns3, FolderPlus, Pencil, Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { createField, createFieldGroup } from "@/api/limits"
import { tagOf } from "@/api/version"
import { Button } from "@/kit/button"
import { confirm, Dialog } from "@/kit/dialog"
import { CheckField, Form, SelectField, TextArea, TextField, useDraftForm } from "@/kit/form"
import { Actions, type Action } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Blank } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft, useListed } from "@/kit/use-draft"
import { Loaded } from "./frame"

type Field = Schema<"Field">
type Group = Schema<"Group">
type Entity = Field["entity"]
type Lists = { fields: Field[]; groups: Group[] }

const keyOf = (entity: Entity) => ["fields", entity, "all"]
const fieldIn = ({ fields }: Lists, { id }: Field) => fields.find((f) => f.id === id)
const groupIn = ({ groups }: Lists, { id }: Group) => groups.find((g) => g.id === id)

const route = getRouteApi("/settings/fields")
const entities: Entity[] = ["contact", "organization", "submission"]
const types: Field["type"][] = ["text", "long_text", "number", "date", "dropdown", "choices", "checkbox", "email", "phone", "url"]
const chosen = (type: Field["type"]) => type === "dropdown" || type === "choices"

/** What a list has of a record by now. */
const now = <T extends { id: string }>(list: T[], of: T | undefined) => list.find((x) => x.id === of?.id) ?? of

export function Fields() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const entity = entities.find((e) => e === search.entity) ?? "contact"
  const archived = search.archived === "true"
  const [open, setOpen] = useState<{ field?: Field; group?: Group | "new" }>()
  const query = useQuery({
    queryKey: keyOf(entity),
    queryFn: async (): Promise<Lists> => {
      const [fields, groups] = await Promise.all([take(api.GET("/fields", { params: { query: { entity, include_archived: true } } })), take(api.GET("/field-groups", { params: { query: { entity } } }))])
      return { fields: fields.items, groups: groups.items }
    },
  })
  return (
    <Loaded at="fields" query={query} actions={
      <>
        <Button icon={<FolderPlus aria-hidden />} onClick={() => setOpen({ group: "new" })}>{t("settings.group_new")}</Button>
        <Button kind="main" icon={<Plus aria-hidden />} onClick={() => setOpen({})}>{t("settings.field_new")}</Button>
      </>
    }>
      {({ fields, groups }) => {
        const shown = fields.filter((f) => archived || !f.archived)
        const parts = [...groups.map((g) => ({ group: g, fields: shown.filter((f) => f.group === g.id) })), { group: undefined, fields: shown.filter((f) => !groups.some((g) => g.id === f.group)) }]
        return (
          <>
            <nav className="tabs tabs--in" aria-label={t("settings.entities")}>
              {entities.map((e) => <Link key={e} to="/settings/fields" search={{ ...search, entity: e }} replace className={e === entity ? "tab active" : "tab"} aria-current={e === entity ? "page" : undefined} activeProps={{}}>{t(`settings.entity.${e}`)}</Link>)}
            </nav>
            <div className="row between">
              <p className="soft">{t(`settings.fields_text.${entity}`)}</p>
              {fields.some((f) => f.archived) && <label className="check"><input type="checkbox" checked={archived} onChange={(e) => void navigate({ search: (old) => ({ ...old, archived: e.target.checked ? "true" : undefined }), replace: true })} /><span>{t("settings.with_archived")}</span></label>}
            </div>
            {shown.length === 0 && groups.length === 0 ? <Blank icon={Columns3} title={t("settings.no_fields")} text={t("settings.no_fields_text")}><Button kind="main" icon={<Plus aria-hidden />} onClick={() => setOpen({})}>{t("settings.field_new")}</Button></Blank>
              : parts.map((p, i) => (p.group || p.fields.length > 0) && <Part key={p.group?.id ?? "none"} group={p.group} fields={p.fields} groups={groups} all={fields} at={i} open={setOpen} />)}
            {open && !open.group && <EditField key={open.field?.id} entity={entity} field={now(fields, open.field)} groups={groups} onClose={() => setOpen(undefined)} />}
            {open?.group && <EditGroup entity={entity} group={open.group === "new" ? undefined : now(groups, open.group)} onClose={() => setOpen(undefined)} />}
          </>
        )
      }}
    </Loaded>
  )
}

/** Changes fields or groups, then loads them again. A refusal is said in a toast. */
function useDo() {
  const queries = useQueryClient()
  return async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (e) {
      toastFault(e)
    } finally {
      await Promise.all([queries.invalidateQueries({ queryKey: ["fields"] }), queries.invalidateQueries({ queryKey: ["field-groups"] })])
    }
  }
}

/** Changes a field that has a version; "*" is any, for what is right whatever somebody else has changed. */
const change = (id: string, version: string | undefined, body: Partial<Omit<Field, "id" | "entity" | "key" | "type">>) =>
  take(api.PATCH("/fields/{id}", { params: { path: { id }, header: ifMatch(version) }, body }))
const changeGroup = (id: string, version: string | undefined, body: Partial<Pick<Group, "label" | "sort_order">>) =>
  take(api.PATCH("/field-groups/{id}", { params: { path: { id }, header: ifMatch(version) }, body }))

/** Gives places to the records whose place differs from their position in the list. It ends at one that somebody else has changed meanwhile. */
async function place<T extends { id: string; version: number; sort_order: number }>(list: T[], set: (id: string, version: string, body: { sort_order: number }) => Promise<unknown>) {
  for (const [i, x] of list.entries()) if (x.sort_order !== i + 1) await set(x.id, tagOf(x.version), { sort_order: i + 1 })
}

/** A list in which two items have changed places. */
function swapped<T>(list: T[], a: T, b: T): T[] {
  return list.map((x) => (x === a ? b : x === b ? a : x))
}

function Part({ group, fields, groups, all, at, open }: { group?: Group; fields: Field[]; groups: Group[]; all: Field[]; at: number; open: (what: { field?: Field; group?: Group }) => void }) {
  const run = useDo()
  const moveGroup = (by: number) => run(() => place(swapped(groups, group!, groups[at + by]!), changeGroup))
  const remove = async () => {
    if (await confirm({ title: t("settings.group_delete", { name: group!.label }), text: t("settings.group_delete_text"), action: t("delete"), bad: true })) {
      await run(async () => {
        await api.DELETE("/field-groups/{id}", { params: { path: { id: group!.id } } })
        toast(t("settings.group_deleted", { name: group!.label }))
      })
    }
  }
  const actions: Action[] = group ? [
    { id: "edit", label: t("settings.rename"), icon: Pencil, run: () => open({ group }) },
    ...(at > 0 ? [{ id: "up", label: t("settings.move_up"), icon: ArrowUp, run: () => void moveGroup(-1) }] : []),
    ...(at < groups.length - 1 ? [{ id: "down", label: t("settings.move_down"), icon: ArrowDown, run: () => void moveGroup(1) }] : []),
    { id: "delete", label: t("delete"), icon: Trash2, bad: true, run: () => void remove() },
  ] : []
  return (
    <Panel title={group?.label ?? t(groups.length > 0 ? "settings.no_group" : "settings.all_fields")} beside={group && <Actions label={t("settings.group_actions", { name: group.label })} actions={actions} />}>
      {fields.length === 0 ? <p className="panel-body soft">{t("settings.group_empty")}</p> : (
        <ul className="panel-body">
          {fields.map((f, i) => <Row key={f.id} f={f} up={fields[i - 1]} down={fields[i + 1]} all={all} open={open} />)}
        </ul>
      )}
    </Panel>
  )
}

function Row({ f, up, down, all, open }: { f: Field; up?: Field; down?: Field; all: Field[]; open: (what: { field?: Field }) => void }) {
  const run = useDo()
  const queries = useQueryClient()
  const draft = useDraft(...useListed(keyOf(f.entity), f, fieldIn, (x = f) => x), async ({ change: { show_in_list }, version }) => {
    const after = await change(f.id, version, { show_in_list })
    void queries.invalidateQueries({ queryKey: ["fields", f.entity] })
    return after
  })
  const move = (other: Field) => void run(() => place(swapped(all, f, other), change))
  const archive = (archived: boolean) => run(async () => {
    await change(f.id, "*", { archived })
    toast(t(archived ? "settings.field_archived" : "settings.field_restored", { name: f.label }), archived ? { undo: () => void archive(false) } : {})
  })
  return (
    <li className="field-row">
      <span className="cell-main">
        <span className="row"><button className="row-link link-plain" onClick={() => open({ field: f })}>{f.label}</button>{f.archived && <span className="mark mark--off">{t("settings.archived")}</span>}</span>
        <small className="cell-text">{t(`settings.type.${f.type}`)}{f.options.length > 0 && ` · ${f.options.join(", ")}`} · <code>{f.key}</code></small>
      </span>
      {f.entity !== "submission" && !f.archived && (
        <label className="check"><input type="checkbox" checked={draft.mine.show_in_list} onChange={(e) => void draft.change("show_in_list", e.target.checked)} aria-label={t("settings.show_in_list_one", { name: f.label })} /><span className="soft small">{t("settings.in_list")}</span></label>
      )}
      <span className="field-actions">
        <button className="icon-button" disabled={!up} aria-label={t("settings.move_up_one", { name: f.label })} onClick={() => move(up!)}><ArrowUp aria-hidden /></button>
        <button className="icon-button" disabled={!down} aria-label={t("settings.move_down_one", { name: f.label })} onClick={() => move(down!)}><ArrowDown aria-hidden /></button>
        {f.archived ? <button className="icon-button" aria-label={t("settings.restore_one", { name: f.label })} onClick={() => void archive(false)}><ArchiveRestore aria-hidden /></button>
          : <button className="icon-button" aria-label={t("settings.archive_one", { name: f.label })} onClick={() => void archive(true)}><Archive aria-hidden /></button>}
      </span>
    </li>
  )
}

function EditField({ entity, field, groups, onClose }: { entity: Entity; field?: Field; groups: Group[]; onClose: () => void }) {
  const queries = useQueryClient()
  const typed = ({ label = "", type = "text", group, options = [], show_in_list = false }: Partial<Field> = {}) =>
    ({ label, type, group: group ?? "", options: options.join("\n"), ...(entity !== "submission" && { show_in_list }) })
  const draft = useDraft(...useListed(keyOf(entity), field, fieldIn, typed), async ({ change: changed, whole, version, key }) => {
    const { type, group, options, ...rest } = field ? changed : whole
    const body = { ...rest, ...(group !== undefined && { group: group || null }), ...(options !== undefined && chosen(whole.type) && { options: options.split("\n").map((o) => o.trim()).filter(Boolean) }) }
    await (field ? change(field.id, version, body) : take(api.POST("/fields", { params: { header: { "Idempotency-Key": key } }, body: { ...body, label: whole.label, entity, type: whole.type } })))
    void queries.invalidateQueries({ queryKey: ["fields"] })
    toast(t("settings.saved", { name: whole.label }))
    return undefined
  })
  const form = useDraftForm(draft, onClose)
  return (
    <Dialog title={field ? field.label : t("settings.field_new")} onClose={onClose} guarded={draft.dirty}>
      <Form limits={createField} form={form} draft={draft}>
        <div className="dialog-body">
          <TextField name="label" label={t("settings.label")} autoFocus required />
          {field ? <p className="soft small">{t("settings.field_fixed", { type: t(`settings.type.${field.type}`), key: field.key })}</p>
            : <SelectField name="type" label={t("settings.type")} help={t("settings.type_help")} options={types.map((value) => ({ value, label: t(`settings.type.${value}`) }))} />}
          {chosen(draft.mine.type) && <TextArea name="options" label={t("settings.options")} help={t("settings.options_help")} rows={5} />}
          {groups.length > 0 && <SelectField name="group" label={t("settings.group")} options={[{ value: "", label: t("none") }, ...groups.map((g) => ({ value: g.id, label: g.label }))]} />}
          {entity !== "submission" && <CheckField name="show_in_list" label={t("settings.show_in_list")} />}
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{field ? t("save") : t("settings.field_make")}</Button></footer>
      </Form>
    </Dialog>
  )
}

function EditGroup({ entity, group, onClose }: { entity: Entity; group?: Group; onClose: () => void }) {
  const queries = useQueryClient()
  const draft = useDraft(...useListed(keyOf(entity), group, groupIn, (g?: Group) => ({ label: g?.label ?? "" })), async ({ whole: { label }, version, key }) => {
    await (group ? changeGroup(group.id, version, { label }) : take(api.POST("/field-groups", { params: { header: { "Idempotency-Key": key } }, body: { entity, label } })))
    await Promise.all([queries.invalidateQueries({ queryKey: ["fields"] }), queries.invalidateQueries({ queryKey: ["field-groups"] })])
    toast(t("settings.saved", { name: label }))
    return undefined
  })
  const form = useDraftForm(draft, onClose)
  return (
    <Dialog title={group ? group.label : t("settings.group_new")} onClose={onClose} size="s" guarded={draft.dirty}>
      <Form limits={createFieldGroup} form={form} draft={draft}>
        <div className="dialog-body"><TextField name="label" label={t("settings.label")} autoFocus required /></div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{group ? t("save") : t("settings.group_make")}</Button></footer>
      </Form>
    </Dialog>
  )
}
