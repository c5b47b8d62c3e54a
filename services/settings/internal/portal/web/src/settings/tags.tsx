import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { GitMerge, Pencil, Plus, Tag as Icon, Trash2 } from "lucide-react"
import { useEffect, useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { createTag, updateTag } from "@/api/limits"
import { Button } from "@/kit/button"
import { confirm, Dialog } from "@/kit/dialog"
import { Form, text, TextField, useForm } from "@/kit/form"
import { SearchField } from "@/kit/list"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Picker, type Choice } from "@/kit/picker"
import { plain } from "@/kit/plain"
import { can } from "@/kit/start"
import { Blank } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft, useListed } from "@/kit/use-draft"
import { Loaded } from "./frame"

type Tag = Schema<"Tag">
/** What is open: a tag's name, or its merge into another. */
type Open = { rename: Tag } | { merge: Tag; into?: string }

const route = getRouteApi("/settings/tags")

/** Every tag with the contacts that have it. Who sees all contacts and may manage them renames, merges and deletes tags. */
export function Tags() {
  const search = route.useSearch().search ?? ""
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const [open, setOpen] = useState<Open>()
  const query = useQuery({ queryKey: ["tags"], queryFn: () => take(api.GET("/tags")), refetchInterval: (q) => (q.state.data?.items.some((x) => x.changing) ? 1000 : false) })
  const changing = query.data?.items.some((x) => x.changing)
  useEffect(() => {
    if (changing) return () => void queries.invalidateQueries({ queryKey: ["contacts"] })
  }, [changing, queries])
  const manages = can("svc_manage_crm", "all")
  return (
    <Loaded at="tags" query={query}>
      {(list) => {
        const all = list.items
        const shown = all.filter((x) => plain(x.name).includes(plain(search)))
        return (
          <>
            <p className="soft">{t("settings.tags_text")}</p>
            {can("svc_edit_contacts") && <Add />}
            <Panel title={t("settings.tags_all", { n: all.length })} beside={all.length > 8 && <SearchField value={search} label={t("settings.tags_search")} onChange={(v) => void navigate({ search: v ? { search: v } : {}, replace: true })} />}>
              {shown.length === 0 ? <Blank icon={Icon} title={t(search ? "list.nothing" : "settings.no_tags")} text={t(search ? "list.nothing_text" : "settings.no_tags_text")} />
                : <ul className={manages ? "panel-body" : "panel-body tag-list"}>{shown.map((x) => <Row key={x.slug} tag={x} manages={manages} merges={all.length > 1} open={setOpen} />)}</ul>}
            </Panel>
            {open && "rename" in open && <Rename key={open.rename.slug} tag={all.find((x) => x.slug === open.rename.slug) ?? open.rename} onTaken={(into) => setOpen({ merge: open.rename, into })} onClose={() => setOpen(undefined)} />}
            {open && "merge" in open && <Merge tag={open.merge} all={all} into={open.into} onClose={() => setOpen(undefined)} />}
          </>
        )
      }}
    </Loaded>
  )
}

function Row({ tag, manages, merges, open }: { tag: Tag; manages: boolean; merges: boolean; open: (what: Open) => void }) {
  const queries = useQueryClient()
  const link = <Link to="/contacts" search={{ tag: tag.name }} className="tag-link"><Icon aria-hidden /><span>{tag.name}</span></Link>
  if (!manages) return <li>{link}</li>
  const remove = async () => {
    try {
      const n = await contactsWith(tag)
      if (!(await confirm({ title: t("settings.tag_delete", { name: tag.name }), text: t("settings.tag_delete_text", { n }), action: t("settings.tag_delete_do", { name: tag.name }), bad: true }))) return
      await api.DELETE("/tags/{slug}", { params: { path: { slug: tag.slug } } })
      if (n === 0) toast(t("settings.tag_deleted", { name: tag.name }))
    } catch (e) {
      toastFault(e)
    } finally {
      void queries.invalidateQueries({ queryKey: ["tags"] })
    }
  }
  return (
    <li className="field-row">
      <span className="cell-main">{link}</span>
      <span className="soft small" role="status">{tag.changing && t(tag.changing.deleting ? "settings.tag_deleting" : "settings.tag_changing", { n: tag.changing.contacts_left })}</span>
      {!tag.changing?.deleting && (
        <Actions label={t("settings.tag_actions", { name: tag.name })} actions={[
          { id: "rename", label: t("settings.rename"), icon: Pencil, run: () => open({ rename: tag }) },
          ...(merges ? [{ id: "merge", label: t("settings.tag_merge"), icon: GitMerge, run: () => open({ merge: tag }) }] : []),
          { id: "delete", label: t("delete"), icon: Trash2, bad: true, run: () => void remove() },
        ]} />
      )}
    </li>
  )
}

/** How many contacts have the tag, without those in the trash. */
const contactsWith = async (tag: Tag) => (await take(api.GET("/contacts", { params: { query: { tag: tag.name, per_page: 1 } } }))).total

/** How many contacts a change reaches, once that is known. */
function Reached({ tag }: { tag: Tag }) {
  const n = useQuery({ queryKey: ["contacts", "with", tag.name], queryFn: () => contactsWith(tag), staleTime: 0 }).data
  return <p className="soft small" role="status">{n !== undefined && t("settings.tag_reached", { n, name: tag.name })}</p>
}

function Rename({ tag, onTaken, onClose }: { tag: Tag; onTaken: (slug: string) => void; onClose: () => void }) {
  const queries = useQueryClient()
  const listed = useListed(["tags"], tag, ({ items }: { items: Tag[] }, { slug }) => items.find((x) => x.slug === slug), (x = tag) => ({ name: x.name }))
  const draft = useDraft(...listed, async ({ whole: { name }, version }) => {
    await take(api.PATCH("/tags/{slug}", { params: { path: { slug: tag.slug }, header: ifMatch(version) }, body: { name } }))
    void queries.invalidateQueries({ queryKey: ["tags"] })
    toast(t("settings.tag_renamed", { old: tag.name, name }))
    return undefined
  })
  const form = useForm(async () => (await draft.save(), onClose()), (f) => {
    if (f.code !== "svc_duplicate") return undefined
    onTaken(String(f.data.id))
    return true
  })
  return (
    <Dialog title={t("settings.tag_rename", { name: tag.name })} onClose={onClose} guarded={draft.dirty} size="s">
      <Form limits={updateTag} form={form} draft={draft} className="">
        <div className="dialog-body stack">
          <TextField name="name" label={t("settings.tag_name")} required autoFocus />
          <Reached tag={tag} />
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("settings.rename")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}

/** The tag goes; its contacts get another one, which stays. */
function Merge({ tag, all, into, onClose }: { tag: Tag; all: Tag[]; into?: string; onClose: () => void }) {
  const queries = useQueryClient()
  const others = all.filter((x) => x.slug !== tag.slug && !x.changing?.deleting).map((x): Choice => ({ id: x.slug, name: x.name }))
  const [chosen, setChosen] = useState<Choice | null>(others.find((x) => x.id === into) ?? null)
  const form = useForm(async () => {
    await take(api.POST("/tags/{slug}/merge", { params: { path: { slug: chosen!.id } }, body: { other_slug: tag.slug } }))
    void queries.invalidateQueries({ queryKey: ["tags"] })
    toast(t("settings.tag_merged", { old: tag.name, name: chosen!.name }))
    onClose()
  })
  return (
    <Dialog title={t("settings.tag_merge_title", { name: tag.name })} onClose={onClose} size="s">
      <Form form={form} className="">
        <div className="dialog-body stack">
          {into && chosen && <p className="notice" role="status">{t("settings.tag_taken", { name: chosen.name })}</p>}
          <Picker name="into" label={t("settings.tag_merge_into")} source={"tags not " + tag.slug} value={chosen} onChange={setChosen} autoFocus={!into}
            find={async (words) => others.filter((x) => plain(x.name).includes(plain(words))).slice(0, 8)} />
          <Reached tag={tag} />
          {chosen && <p className="soft small">{t("settings.tag_merge_text", { old: tag.name, name: chosen.name })}</p>}
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="bad" type="submit" busy={form.busy} disabled={!chosen}>{t("settings.tag_merge")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}

function Add() {
  const queries = useQueryClient()
  const form = useForm(async (values, key) => {
    const tag = await take(api.POST("/tags", { params: { header: { "Idempotency-Key": key } }, body: { name: text(values, "name") } }))
    form.ref.current?.reset()
    void queries.invalidateQueries({ queryKey: ["tags"] })
    toast(t("settings.tag_added", { name: tag.name }))
  })
  return (
    <Form limits={createTag} form={form}>
      <div className="with-button">
        <TextField name="name" label={t("settings.tag_new")} required />
        <Button type="submit" busy={form.busy} icon={<Plus aria-hidden />}>{t("settings.add")}</Button>
      </div>
    </Form>
  )
}
