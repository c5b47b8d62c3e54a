// The words of the mails to clients and visitors: one kind in one language at a time, with how the mail looks beside it.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ArrowLeft, RotateCcw } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { updateMailTemplate } from "@/api/limits"
import { versionOf } from "@/api/version"
import { Button } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { SelectField, TextArea, TextField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { saying } from "@/kit/problem"
import { Failed, Skeleton } from "@/kit/states"
import { language as own, languages, t, tOr } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import type { Drafting } from "@/kit/use-draft"
import { why } from "@/kit/why"
import { DocumentForm } from "./frame"

type Template = Schema<"MailTemplate">
type Words = Pick<Template, "subject" | "body">
export type Language = Template["language"]

const keyOf = (kind: string, language: string) => ["mail-templates", "one", kind, language]
const nameOf = (kind: string) => tOr(`settings.template.${kind}`, kind)

/** Chooses a kind and a language, and edits its template. */
export default function MailTemplates({ kind, language = own as Language, onChoose }: { kind: string; language?: Language; onChoose: (kind: string, language: Language) => void }) {
  const list = useQuery({ queryKey: ["mail-templates", "list"], queryFn: () => take(api.GET("/mail-templates")) })
  const path = { kind, language }
  const one = useQuery({ queryKey: keyOf(kind, language), queryFn: () => take(api.GET("/mail-templates/{kind}/{language}", { params: { path } })) })
  const all = list.data?.items ?? []
  const kinds = [...new Set(all.map((x) => x.kind))]
  const changed = (k: string, l?: string) => all.some((x) => x.kind === k && (l === undefined || x.language === l) && !x.standard)
  return (
    <>
      <p className="soft">{t("settings.templates_text")}</p>
      <div><Link to="/settings/mails" search={{}} className="with-icon row-link"><ArrowLeft aria-hidden />{t("nav.mails")}</Link></div>
      <div className="fields">
        <SelectField name="kind" label={t("settings.template_kind")} value={kind} onChange={(e) => onChoose(e.target.value, language)} options={kinds.map((value) => ({ value, label: nameOf(value) + (changed(value) ? ` (${t("settings.template_own")})` : "") }))} />
        <SelectField name="language" label={t("settings.template_language")} value={language} onChange={(e) => onChoose(kind, e.target.value as Language)} options={Object.entries(languages).map(([value, label]) => ({ value, label: label + (changed(kind, value) ? ` (${t("settings.template_own")})` : "") }))} />
      </div>
      {one.isPending ? <Skeleton lines={8} /> : one.data === undefined ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Edit key={`${kind} ${language}`} doc={one.data} />}
    </>
  )
}

function Edit({ doc }: { doc: Template }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const path = { kind: doc.kind, language: doc.language }
  const changed = () => void queries.invalidateQueries({ queryKey: ["mail-templates", "list"] })
  const reset = async (draft: { base: Template } & Drafting) => {
    if (!(await confirm({ title: t("settings.template_reset_title", { name: nameOf(doc.kind), language: languages[doc.language] }), text: t("settings.template_reset_text"), action: t("settings.template_reset"), bad: true }))) return
    setBusy(true)
    try {
      await api.DELETE("/mail-templates/{kind}/{language}", { params: { path, header: ifMatch(versionOf(draft.base)) } })
      draft.drop()
      await queries.refetchQueries({ queryKey: keyOf(doc.kind, doc.language), exact: true })
      changed()
      toast(t("settings.template_is_standard", { name: nameOf(doc.kind) }))
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  return (
    <DocumentForm name={nameOf(doc.kind)} limits={updateMailTemplate} queryKey={keyOf(doc.kind, doc.language)} doc={doc} send={async ({ whole: { subject, body }, version }) => {
      const after = await take(api.PUT("/mail-templates/{kind}/{language}", { params: { path, header: ifMatch(version) }, body: { subject, body } }))
      changed()
      return after
    }}>
      {(draft) => (
        <div className="style-editor">
          <Panel title={t("settings.template_words")} beside={doc.standard ? <span className="soft">{t("settings.template_standard")}</span> : <Button small icon={<RotateCcw aria-hidden />} busy={busy} onClick={() => void reset(draft)}>{t("settings.template_reset")}</Button>}>
            <div className="panel-body stack">
              <Fields draft={draft} placeholders={doc.placeholders} />
            </div>
          </Panel>
          <Look kind={doc.kind} language={doc.language} words={{ subject: draft.mine.subject, body: draft.mine.body }} />
        </div>
      )}
    </DocumentForm>
  )
}

/** Subject and body, and the placeholders, which go in where the person was typing. */
function Fields({ draft, placeholders }: { draft: { mine: Template } & Drafting; placeholders: Schema<"Placeholder">[] }) {
  const subject = useRef<HTMLInputElement>(null)
  const last = useRef<"subject" | "body">("body")
  const put = (button: HTMLButtonElement, p: Schema<"Placeholder">) => {
    const name = p.alone ? "body" : last.current
    const field = name === "subject" ? subject.current : button.form?.elements.namedItem("body")
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return
    const [start, end] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length]
    const [before, after] = [field.value.slice(0, start), field.value.slice(end)]
    const line = (text: string) => (text === "" ? "" : "\n\n")
    const word = p.alone ? line(before.trimEnd()) + `{${p.name}}` + line(after.trimStart()) : `{${p.name}}`
    const kept = p.alone ? before.trimEnd() : before
    flushSync(() => draft.set(name, kept + word + (p.alone ? after.trimStart() : after)))
    const caret = kept.length + word.length
    field.focus()
    field.setSelectionRange(caret, caret)
  }
  return (
    <>
      <TextField ref={subject} name="subject" label={t("settings.template_subject")} wide required onFocus={() => (last.current = "subject")} />
      <TextArea name="body" label={t("settings.template_body")} help={t("settings.template_body_help")} rows={14} required onFocus={() => (last.current = "body")} />
      <fieldset className="stack-s">
        <legend className="label">{t("settings.template_placeholders")}</legend>
        <ul className="placeholders">
          {placeholders.map((p) => (
            <li key={p.name} className="row">
              <button type="button" className="button button--small" aria-label={t("settings.template_put", { name: p.name })} onClick={(e) => put(e.currentTarget, p)}><code>{`{${p.name}}`}</code></button>
              <small className="soft">{tOr(`settings.placeholder.${p.name}`, p.doc)}{p.needed && ` · ${t("settings.template_needed")}`}</small>
            </li>
          ))}
        </ul>
      </fieldset>
    </>
  )
}

/** The mail with data of nobody, a moment after the last key. */
function Look({ kind, language, words }: { kind: string; language: Language; words: Words }) {
  const [shown, setShown] = useState(words)
  const { subject, body } = words
  useEffect(() => {
    const timer = setTimeout(() => setShown({ subject, body }), 400)
    return () => clearTimeout(timer)
  }, [subject, body])
  const look = useQuery({
    queryKey: ["mail-templates", "look", kind, language, shown], placeholderData: keepPreviousData, retry: false,
    queryFn: ({ signal }) => take(api.POST("/mail-templates/{kind}/{language}/preview", { params: { path: { kind, language } }, body: shown, signal })),
  })
  const fault = look.isError ? asFault(look.error) : undefined
  const problem = fault && Object.values(fault.details)[0]
  return (
    <aside className="style-preview stack-s" aria-label={t("settings.preview")}>
      <h2 className="label">{t("settings.preview")}</h2>
      <div role="status">{fault && <p className="notice notice--warn">{problem ? why(problem) : saying(fault)}</p>}</div>
      {look.data && <article className="panel mail-text" lang={language}><h3>{look.data.subject}</h3><p className="pre">{look.data.text}</p></article>}
    </aside>
  )
}
