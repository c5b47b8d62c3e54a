import "./forms.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, CircleAlert, EyeOff, Globe, Plus, RotateCcw } from "lucide-react"
import { useLayoutEffect, useRef, useState } from "react"
import { api, ifMatch, take } from "@/api/client"
import { asFault, Fault, type Problem } from "@/api/fault"
import { updateForm } from "@/api/limits"
import { Button } from "@/kit/button"
import { momentText } from "@/kit/dates"
import { typedNumber } from "@/kit/draft"
import { CheckField, Field, Form, SaveBar, SelectField, TextArea, TextField, useForm } from "@/kit/form"
import { valuesOf } from "@/kit/look"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Weeks } from "@/kit/plot"
import { Head } from "@/kit/head"
import { can } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { formChanged, formKey, formQuery, own, people, useFields, type Definition, type Element, type FormRecord, type Kind } from "./data"
import { ElementCard, kinds } from "./element"
import { Embed } from "./embed"
import { useFormActions, useRestoreForm } from "./forms"
import { FormStatus } from "./marks"
import { Preview } from "./preview"
import { useTeam } from "@/team/data"

const route = getRouteApi("/forms/$id")

export function Builder() {
  const { id } = route.useParams()
  const query = useQuery(formQuery(Number(id)))
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Edit key={id} f={query.data} />
}

/** A problem of one line of a list stands at the field that has all lines. A target that is made of a key has the key's field. */
function atFields(f: Fault): Fault {
  const details: Record<string, Problem> = {}
  for (const [name, p] of Object.entries(f.details)) details[name.replace(/^(definition\.(?:notify\.emails|new_contacts\.tags|elements\[\d+\]\.options))\[\d+\]$/, "$1")] ??= p
  return Object.assign(new Fault(f.code, f.status, { ...f.data, details }, f.message), { shown: f.shown })
}

const tidy = (d: Definition): Definition => ({ ...d, elements: d.elements.map((e) => (e.options ? { ...e, options: e.options.map((o) => o.trim()).filter(Boolean) } : e)) })
const lines = (text: string) => text.split("\n")
const filled = (list: string[]) => list.map((x) => x.trim()).filter(Boolean)
const sent = (d: Definition): Definition => ({ ...tidy(d), notify: { ...d.notify, emails: filled(d.notify.emails) }, new_contacts: { ...d.new_contacts, tags: filled(d.new_contacts.tags) } })

function Edit({ f }: { f: FormRecord }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const fixed = !can("svc_manage_forms") || f.deleted_at !== null
  const fields = useFields()
  const [open, setOpen] = useState(new Set<string>())
  const [part, setPart] = useState<"edit" | "preview">("edit")
  const said = useRef<HTMLParagraphElement>(null)
  const focus = useRef<string>(undefined)
  const draft = useDraft(f, formKey(f.id), async ({ change: { name, status, definition }, whole, version }) => {
    const after = await take(api.PATCH("/forms/{id}", { params: { path: { id: f.id }, header: ifMatch(version) }, body: { name, status: status as FormRecord["status"], definition: definition && sent(whole.definition) } }))
    formChanged(queries)
    toast(t(after.status === f.status ? "forms.saved" : after.status === "publish" ? "forms.published" : "forms.unpublished", { name: after.name }))
    return after
  })
  const { base } = draft
  const { definition: d } = draft.mine
  const form = useForm(async () => {
    try {
      await draft.save()
    } catch (e) {
      // An attempt that fails leaves the status as it was.
      draft.drop(["status"])
      const fault = atFields(asFault(e))
      const wrong = Object.keys(fault.details).flatMap((path) => /elements\[(\d+)\]/.exec(path)?.[1] ?? []).map((i) => d.elements[Number(i)]?.id ?? "")
      setOpen((old) => new Set([...old, ...wrong]))
      setPart("edit")
      throw fault
    }
  })
  useLayoutEffect(() => {
    if (!focus.current) return
    const [id, what] = focus.current.split(" ")
    const card = document.getElementById(`part-${id}`)
    ;(card?.querySelector<HTMLElement>(what === "name" ? ".element-name" : `[data-move="${what}"]:not(:disabled)`) ?? card?.querySelector<HTMLElement>(".element-name") ?? document.querySelector<HTMLElement>(".element-add button"))?.focus()
    card?.scrollIntoView({ block: "nearest" })
    focus.current = undefined
  })

  // A change begins with what is there when it is made: a toast's undo is an act of later.
  const elements = (change: (all: Element[]) => Element[]) => draft.set("definition.elements", change(draft.at("definition.elements") as Element[]))
  const move = (i: number, by: -1 | 1) => place(d.elements[i]!.id, i + by, document.activeElement?.matches(".element-name") ? "name" : String(by))
  /** Moves a part to an index, by its id: a colleague's change may come in during a drag. */
  const place = (id: string, to: number, what = "name") => {
    if (to < 0 || to >= d.elements.length) return
    focus.current = `${id} ${what}`
    elements((all) => {
      const others = all.filter((e) => e.id !== id)
      return others.toSpliced(to, 0, ...all.filter((e) => e.id === id))
    })
    said.current!.textContent = t("forms.moved", { n: to + 1, total: d.elements.length })
  }
  const remove = (i: number) => {
    const before = d.elements
    focus.current = `${(d.elements[i + 1] ?? d.elements[i - 1])?.id ?? ""} name`
    elements((all) => all.filter((_, n) => n !== i))
    toast(t("forms.part_removed"), { undo: () => elements((all) => [...all.slice(0, i), before[i]!, ...all.slice(i)]) })
  }
  const add = (kind: Kind) => {
    let n = 1
    while (d.elements.some((e) => e.id === `e${n}`)) n++
    const targets = d.elements.map((e) => e.target)
    let q = 1
    while (targets.includes(`${own}question_${q}`)) q++
    const target = people.find((x) => !targets.includes(x)) ?? `${own}question_${q}`
    const e: Element = { id: `e${n}`, type: kind, width: "full", ...(kind === "field" ? { target } : { text: "" }) }
    elements((all) => [...all, e])
    setOpen((old) => new Set([...old, e.id]))
    focus.current = `${e.id} name`
  }
  const save = (next: FormRecord["status"]) => {
    draft.set("status", next)
    void form.onSubmit()
  }
  const restore = useRestoreForm()
  const below = <><Traffic id={f.id} />{!base.deleted_at && <Embed f={base} />}</>
  const actions = useFormActions(() => void navigate({ to: "/forms", ignoreBlocker: true }))
  const set = <K extends keyof Definition>(key: K, change: Partial<Definition[K]>) => draft.set(`definition.${key}`, { ...(d[key] as object), ...change })
  return (
    <>
      <Head title={base.name} back={<Link to="/forms" className="icon-button" aria-label={t("nav.forms")}><ArrowLeft aria-hidden /></Link>} count={<FormStatus status={base.status} />}>
        <Actions actions={actions(base)} />
        {base.deleted_at && can("svc_manage_forms") && <Button icon={<RotateCcw aria-hidden />} onClick={() => void restore(base)}>{t("trash.restore")}</Button>}
        {!fixed && base.status === "publish" && <Button icon={<EyeOff aria-hidden />} busy={form.busy} onClick={() => save("draft")}>{t("forms.unpublish")}</Button>}
        {!fixed && base.status === "draft" && <Button kind="main" icon={<Globe aria-hidden />} busy={form.busy} onClick={() => save("publish")}>{t(draft.dirty ? "forms.save_publish" : "forms.publish")}</Button>}
      </Head>
      {base.deleted_at && <div className="content"><p className="notice notice--warn">{t("trash.since", { date: momentText(base.deleted_at) })}</p></div>}
      <div className="content">
        {!fixed && (
          <div className="segments builder-parts" role="group" aria-label={t("forms.view")}>
            {(["edit", "preview"] as const).map((x) => <button key={x} type="button" className="segment" aria-pressed={part === x} onClick={() => setPart(x)}>{t(x === "edit" ? "edit" : "forms.preview")}</button>)}
          </div>
        )}
        <div className={`builder builder--${part}`}>
          <Form limits={updateForm} form={form} draft={draft} className="builder-form">
            <fieldset disabled={fixed} className="stack">
              <Panel title={t("forms.basics")} beside={base.booking && <span className="mark mark--accent">{t("forms.booking_can")}</span>}>
                <div className="panel-body fields"><TextField name="name" label={t("forms.name")} help={t("forms.name_help")} wide /></div>
              </Panel>
              <Panel title={t("forms.parts")} beside={<span className="soft small builder-hint">{!fixed && t("forms.parts_help")}</span>}>
                <ListProblem problem={form.problems["definition.elements"]} />
                {d.elements.length === 0 && <p className="panel-none soft">{t("forms.parts_none")}</p>}
                <ol className="elements">
                  {d.elements.map((e, i) => (
                    <ElementCard key={e.id} e={e} i={i} last={i === d.elements.length - 1} open={open.has(e.id)} fixed={fixed} fields={fields} taken={d.elements.flatMap((x) => (x !== e && x.target ? [x.target] : []))}
                      edit={{
                        change: (c) => elements((all) => all.map((x) => (x.id === e.id ? { ...x, ...c } : x))),
                        move: (by) => move(i, by),
                        place: (to) => place(e.id, to),
                        remove: () => remove(i),
                        toggle: () => setOpen((old) => (old.has(e.id) ? new Set([...old].filter((x) => x !== e.id)) : new Set([...old, e.id]))),
                      }} />
                  ))}
                </ol>
                {!fixed && (
                  <div className="element-add" role="group" aria-label={t("forms.add")}>
                    {(Object.keys(kinds) as Kind[]).map((kind) => <Button key={kind} small icon={<Plus aria-hidden />} onClick={() => add(kind)}>{t(`forms.kind.${kind}`)}</Button>)}
                  </div>
                )}
                <p ref={said} className="sr" role="status" />
              </Panel>
              <Panel title={t("forms.after")}>
                <div className="panel-body fields">
                  <TextField name="definition.submit_label" label={t("forms.submit_label")} placeholder={t("forms.submit_default")} maxLength={100} />
                  <SelectField name="definition.after_submit.type" label={t("forms.then")} value={d.after_submit.type} onChange={(e) => set("after_submit", { type: e.target.value })} options={(["message", "redirect"] as const).map((value) => ({ value, label: t(`forms.then.${value}`) }))} />
                  {d.after_submit.type === "redirect"
                    ? <TextField name="definition.after_submit.url" label={t("forms.then_url")} type="url" wide value={d.after_submit.url} placeholder="https://" maxLength={2048} onChange={(e) => set("after_submit", { url: e.target.value })} />
                    : <TextArea name="definition.after_submit.message" label={t("forms.then_message")} rows={3} value={d.after_submit.message} placeholder={t("forms.then_default")} maxLength={2000} onChange={(e) => set("after_submit", { message: e.target.value })} />}
                </div>
              </Panel>
              <Panel title={t("forms.notify")}>
                <div className="panel-body fields">
                  <TextArea name="definition.notify.emails" label={t("forms.notify_emails")} help={t("forms.notify_emails_help")} rows={2} value={d.notify.emails.join("\n")} placeholder="name@example.com" onChange={(e) => set("notify", { emails: e.target.value === "" ? [] : lines(e.target.value) })} />
                  <CheckField name="definition.notify.owner" label={t("forms.notify_owner")} checked={d.notify.owner} onChange={(e) => set("notify", { owner: e.target.checked })} />
                </div>
              </Panel>
              <NewContacts d={d} set={(c) => set("new_contacts", c)} />
              <Style style={d.style} set={(style) => draft.set("definition.style", style)} />
            </fieldset>
            {!fixed && <SaveBar draft={draft} busy={form.busy} className="builder-save" kind={base.status === "publish" ? "main" : "plain"} save={t(base.status === "publish" ? "forms.save_live" : "save")} />}
          </Form>
          <div className="builder-side stack">
            {fixed ? below : <Preview definition={sent(d)}>{below}</Preview>}
          </div>
        </div>
      </div>
    </>
  )
}

/** Problems of the list of parts. */
const ListProblem = ({ problem }: { problem?: Problem }) =>
  problem ? <p className="problem panel-body" role="alert"><CircleAlert aria-hidden />{problem.code === "no_field" ? t("forms.no_field") : problem.message}</p> : null

function NewContacts({ d, set }: { d: Definition; set: (c: Partial<Definition["new_contacts"]>) => void }) {
  const team = useTeam()
  const n = d.new_contacts
  const at = "definition.new_contacts."
  return (
    <Panel title={t("forms.contacts")}>
      <div className="panel-body fields">
        <CheckField name={at + "create"} label={t("forms.contacts_create")} help={t("forms.contacts_create_help")} checked={n.create} onChange={(e) => set({ create: e.target.checked })} />
        {n.create && <>
          <SelectField name={at + "status"} label={t("forms.contacts_status")} value={n.status} onChange={(e) => set({ status: e.target.value })} options={(["lead", "customer", "inactive"] as const).map((value) => ({ value, label: t(`forms.contact_status.${value}`) }))} />
          <SelectField name={at + "owner_user_id"} label={t("forms.contacts_owner")} value={n.owner_user_id ?? ""} onChange={(e) => set({ owner_user_id: e.target.value ? Number(e.target.value) : null })} options={[{ value: "", label: t("none") }, ...team.map((m) => ({ value: String(m.user_id), label: m.name }))]} />
          <TextField name={at + "source"} label={t("forms.contacts_source")} value={n.source} maxLength={50} help={t("forms.contacts_source_help")} onChange={(e) => set({ source: e.target.value })} />
          <TextArea name={at + "tags"} wide={false} rows={2} label={t("forms.contacts_tags")} help={t("forms.one_per_line")} value={n.tags.join("\n")} onChange={(e) => set({ tags: e.target.value === "" ? [] : lines(e.target.value) })} />
        </>}
      </div>
    </Panel>
  )
}

/** Properties in which this form differs from the site's form style. */
function Style({ style, set }: { style: Definition["style"]; set: (style: Definition["style"]) => void }) {
  const put = (name: string, value: string | number | undefined) => {
    const { [name]: _, ...rest } = style
    set(value === undefined || value === "" ? rest : { ...rest, [name]: value })
  }
  const choice = (name: "font" | "container" | "button_width" | "button_icon", label: (v: string) => string) => (
    <SelectField name={`definition.style.${name}`} label={t(`forms.style.${name}`)} value={String(style[name] ?? "")} onChange={(e) => put(name, e.target.value)} options={[{ value: "", label: t("forms.style.site") }, ...valuesOf(name).map((value) => ({ value, label: label(value) }))]} />
  )
  const size = (name: "size" | "field_radius" | "button_radius") => (
    <TextField name={`definition.style.${name}`} label={t(`forms.style.${name}`)} number placeholder={t("forms.style.site")} value={String(style[name] ?? "")} onChange={(e) => put(name, typedNumber(e.target.value) ?? undefined)} />
  )
  const colour = (name: "button_background" | "button_text" | "color" | "background" | "field_border") => (
    <Field name={`definition.style.${name}`} label={t(`forms.style.${name}`)}>
      {(a) => (
        <span className="colour">
          <input type="color" className={style[name] ? "colour-well" : "colour-well colour-well--none"} aria-label={t("forms.style.pick", { what: t(`forms.style.${name}`) })} value={/^#[0-9a-f]{6}$/i.test(String(style[name])) ? String(style[name]) : "#888888"} onChange={(e) => put(name, e.target.value)} />
          <input className="input" {...a} value={String(style[name] ?? "")} placeholder={t("forms.style.site")} maxLength={7} spellCheck={false} onChange={(e) => put(name, e.target.value)} />
        </span>
      )}
    </Field>
  )
  const count = Object.keys(style).length
  return (
    <Panel title={t("forms.look")} beside={count > 0 && <Button small kind="quiet" onClick={() => set({})}>{t("forms.style.reset")}</Button>}>
      <div className="panel-body stack">
        <p className="soft small">{t("forms.look_text")}</p>
        <div className="fields fields--small">
          {choice("font", (v) => t(`forms.font.${v.replace(/^svc:/, "") as "inter"}`))}
          {size("size")}
          {choice("container", (v) => t(`forms.container.${v as "card"}`))}
          {size("field_radius")}
          {colour("button_background")}
          {colour("button_text")}
          {colour("color")}
          {colour("background")}
          {colour("field_border")}
          {size("button_radius")}
          {choice("button_width", (v) => t(`forms.button_width.${v as "auto"}`))}
          {choice("button_icon", (v) => v.replaceAll("-", " "))}
        </div>
      </div>
    </Panel>
  )
}

/** Submissions by week. */
function Traffic({ id }: { id: number }) {
  const query = useQuery({ queryKey: ["submissions", "weeks", id], queryFn: () => take(api.GET("/statistics/submissions", { params: { query: { form: id, weeks: 12 } } })), staleTime: 60_000 })
  if (!query.data) return null
  return (
    <Panel title={t("forms.weeks")} beside={<Link to="/submissions" search={{ form: String(id) }} className="button button--quiet button--small"><span>{t("forms.see_all")}</span></Link>}>
      <Weeks title={t("forms.weeks")} weeks={query.data.weeks} parts={[{ label: "forms.week_received", tone: "main", of: (w) => w.received }, { label: "forms.week_spam", tone: "soft", of: (w) => w.spam }]} />
    </Panel>
  )
}
