import "./import.css"
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, CircleAlert, Download, Undo2, Users } from "lucide-react"
import { Suspense, useEffect, useRef, useState } from "react"
import { api, take } from "@/api/client"
import { download } from "@/api/download"
import { startImport } from "@/api/limits"
import { Button, ButtonAnchor, ButtonLink } from "@/kit/button"
import { momentText } from "@/kit/dates"
import { confirm } from "@/kit/dialog"
import { Form, SelectField, TextField, useForm, useProblem } from "@/kit/form"
import { late } from "@/kit/late"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { Failed, Skeleton } from "@/kit/states"
import { number, t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import { useUnsavedGuard } from "@/kit/use-draft"
import { useFields } from "./data"
import { importKey, importWhy, running, targets, type ImportRecord, type PreviewedColumn } from "./import-data"
import { ImportStatus } from "./imports"
import { useTags } from "@/kit/records"
import { why } from "@/kit/why"

const route = getRouteApi("/import/$id")

export function Import() {
  const { id } = route.useParams()
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: importKey(id),
    queryFn: () => take(api.GET("/imports/{id}", { params: { path: { id } } })),
    refetchInterval: (q) => running(q.state.data) && 1000,
  })
  const ended = query.data && !running(query.data) && !prepares(query.data)
  useEffect(() => {
    if (ended) for (const noun of ["contacts", "organizations", "tags", "overview"]) void queries.invalidateQueries({ queryKey: [noun] })
    if (ended) void queries.invalidateQueries({ queryKey: ["imports", "list"] })
  }, [ended])
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  const m = query.data
  return (
    <>
      <Head title={m.file_name} back={<Link to="/import" className="icon-button" aria-label={t("contacts.import_title")}><ArrowLeft aria-hidden /></Link>} count={<ImportStatus m={m} />} />
      <div className="content">{prepares(m) ? <Prepare key={m.headers.join("\n")} m={m} /> : running(m) ? <Progress m={m} /> : <Outcome m={m} />}</div>
    </>
  )
}

const Repair = late(() => import("./import-repair").then((m) => ({ default: m.Repair })))

/** An import that can be started: after an upload, and after a dry run. */
const prepares = (m: ImportRecord) => m.status === "uploaded" || m.status === "checked"

const separators = { auto: "auto", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" } as const
const duplicates = ["fill_empty", "skip", "overwrite"] as const

/** Where each column goes, and what happens to people who are there already. */
function Prepare({ m }: { m: ImportRecord }) {
  const queries = useQueryClient()
  const fields = useFields("contact").filter((f) => !f.archived)
  const tags = useTags()
  const [mapping, setMapping] = useState(m.mapping)
  const [mode, setMode] = useState(m.options.duplicates)
  const [tag, setTag] = useState(m.options.tag)
  const dry = useRef(false)
  const form = useForm(async (_, key) => {
    const after = await take(api.POST("/imports/{id}/start", { params: { path: { id: m.id }, header: { "Idempotency-Key": key } }, body: { mapping, options: { duplicates: mode, tag, dry_run: dry.current } } }))
    queries.setQueryData(importKey(m.id), after)
  })
  useUnsavedGuard(form.dirty && !form.busy)
  const split = async (options: { separator: string } | { header: number }) => {
    try {
      queries.setQueryData(importKey(m.id), await take(api.PATCH("/imports/{id}", { params: { path: { id: m.id } }, body: { options } })))
    } catch (e) {
      toastFault(e)
    }
  }
  const names = [...targets.map((value) => ({ value: value as string, label: t(`contacts.${value}`) })), ...fields.map((f) => ({ value: `fields.${f.key}`, label: f.label }))]
  const nameOf = (target: string) => names.find((n) => n.value === target)?.label ?? target
  const used = mapping.flatMap((target, i) => (target ? [{ target, i }] : []))
  const set = (i: number, target: string) => setMapping(mapping.map((x, n) => (n === i ? target : x)))
  const guessed = m.mapping.filter(Boolean).length
  const preview = useQuery({
    queryKey: [...importKey(m.id), "preview", m.options.header, m.options.separator, mapping],
    queryFn: () => take(api.POST("/imports/{id}/preview", { params: { path: { id: m.id } }, body: { mapping } })),
    placeholderData: keepPreviousData,
  })
  return (
    <Form limits={startImport} form={form} className="stack">
      {m.status === "checked" && <Checked m={m} />}
      <Panel title={t("contacts.columns")} beside={<span className="soft small">{t("contacts.guessed", { n: guessed, total: m.headers.length })}</span>}>
        <p className="panel-body soft">{t("contacts.columns_text")}</p>
        <ul className="import-columns">
          {m.headers.map((header, i) => (
            <li key={i} className={mapping[i] ? "import-column" : "import-column import-column--off"}>
              <span className="cell-main"><b className="cell-text">{header || t("contacts.column_n", { n: i + 1 })}</b></span>
              <span className="import-arrow" aria-hidden>→</span>
              <select className="input" name={`mapping[${i}]`} aria-label={t("contacts.column_goes", { name: header || t("contacts.column_n", { n: i + 1 }) })} value={mapping[i]} onChange={(e) => set(i, e.target.value)}>
                <option value="">{t("contacts.column_skip")}</option>
                {names.map((n) => <option key={n.value} value={n.value}>{n.label}</option>)}
              </select>
              <Values column={preview.data?.columns[i]} raw={m.preview.map((row) => row[i] ?? "").filter(Boolean).slice(0, 3)} />
            </li>
          ))}
        </ul>
        <MappingProblem empty={used.length === 0} />
      </Panel>
      <div className="import-options">
        <Panel title={t("contacts.duplicates_mode")}>
          <fieldset className="panel-body import-choices">
            <legend className="sr">{t("contacts.duplicates_mode")}</legend>
            {duplicates.map((value) => (
              <label key={value} className="check"><input type="radio" name="duplicates" value={value} checked={mode === value} onChange={() => setMode(value)} /><span><b>{t(`contacts.duplicates.${value}`)}</b><br /><span className="soft">{t(`contacts.duplicates_text.${value}`)}</span></span></label>
            ))}
          </fieldset>
        </Panel>
        <Panel title={t("contacts.import_more")}>
          <div className="panel-body stack">
            <TextField name="options.tag" label={t("contacts.import_tag")} help={t("contacts.import_tag_help")} value={tag} list="import-tags" onChange={(e) => setTag(e.target.value)} />
            <datalist id="import-tags">{tags.map((x) => <option key={x.slug} value={x.name} />)}</datalist>
            <SelectField name="options.header" label={t("contacts.header_row")} help={t("contacts.header_row_help")} value={String(m.options.header)} onChange={(e) => void split({ header: Number(e.target.value) })} options={Array.from({ length: Math.max(10, m.options.header) + 1 }, (_, n) => ({ value: String(n), label: n === 0 ? t("contacts.header_row_none") : t("contacts.header_row_n", { n }) }))} />
            <SelectField name="options.separator" label={t("contacts.separator")} help={t("contacts.separator_help")} value={m.options.separator} onChange={(e) => void split({ separator: e.target.value })} options={Object.entries(separators).map(([value, name]) => ({ value, label: t(`contacts.separator.${name}`) }))} />
          </div>
        </Panel>
      </div>
      <Panel title={t("contacts.first_rows")}>
        {used.length === 0 ? <p className="panel-none soft">{t("contacts.first_rows_none")}</p> : (
          <div className="table-frame" tabIndex={0} role="region" aria-label={t("contacts.first_rows")}>
            <table className="table table--small">
              <thead><tr>{used.map(({ target, i }) => <th key={i} scope="col">{nameOf(target)}</th>)}</tr></thead>
              <tbody>{m.preview.map((row, n) => <tr key={n}>{used.map(({ i }) => <td key={i}><span className="cell-text">{row[i]}</span></td>)}</tr>)}</tbody>
            </table>
          </div>
        )}
      </Panel>
      <div className="import-start">
        <span className="soft">{t("contacts.undo_text")}</span>
        <div className="row">
          <Button type="submit" disabled={form.busy} onClick={() => void (dry.current = true)}>{t("contacts.try_import")}</Button>
          <Button kind="main" type="submit" busy={form.busy} onClick={() => void (dry.current = false)}>{t("contacts.import_rows", { n: m.totals.rows })}</Button>
        </div>
      </div>
    </Form>
  )
}

/** The first values of a column, and what they become where that is something else. raw is shown until it is known. */
function Values({ column, raw }: { column: PreviewedColumn | undefined; raw: string[] }) {
  const values = column?.values ?? raw.map((cell, row) => ({ row, cell, becomes: cell, error: null }))
  if (values.length === 0) return <p className="import-values soft small">{t("contacts.column_empty")}</p>
  return (
    <ul className="import-values small">
      {values.map(({ row, cell, becomes, error }) => (
        <li key={row} className="import-value">
          <span className="cell-text soft">{cell}</span>
          {error ? <span className="import-lost"><CircleAlert aria-hidden />{t(error.dropped === "row" ? "contacts.value_row" : "contacts.value_cell")} {reason(error)}</span>
            : column?.target && becomes !== cell && (becomes ? <><span className="soft" aria-hidden>→</span><span className="sr">{t("contacts.value_becomes")}</span><b className="cell-text">{becomes}</b></> : <span className="soft">{t("contacts.value_unused")}</span>)}
        </li>
      ))}
    </ul>
  )
}

function MappingProblem({ empty }: { empty: boolean }) {
  const problem = useProblem("mapping")
  return problem ? <p className="problem panel-body" role="alert" tabIndex={-1}><CircleAlert aria-hidden />{empty ? t("contacts.mapping_empty") : why(problem)}</p> : null
}

const doneOf = (m: ImportRecord) => m.totals.created + m.totals.updated + m.totals.skipped + m.totals.failed

/** How far a running import came. */
function Progress({ m }: { m: ImportRecord }) {
  const done = doneOf(m)
  return (
    <Panel title={t(m.status === "queued" ? "contacts.import_waits" : "contacts.import_runs")} beside={<span className="soft num">{t("contacts.rows_done", { n: done, total: m.totals.rows })}</span>}>
      <div className="panel-body stack">
        <progress className="import-progress" max={Math.max(1, m.totals.rows)} value={done} aria-label={t("contacts.import_runs")} />
        <Figures m={m} />
        <p className="soft">{t("contacts.import_away")}</p>
      </div>
    </Panel>
  )
}

const Figures = ({ m }: { m: ImportRecord }) => (
  <dl className="import-figures">
    {(["created", "updated", "skipped", "failed"] as const).map((name) => (
      <div key={name} className={name === "failed" && m.totals.failed > 0 ? "import-figure import-figure--bad" : "import-figure"}><dt className="soft">{t(`contacts.import_${name}`)}</dt><dd className="import-number num">{number(m.totals[name])}</dd></div>
    ))}
  </dl>
)

/** Why a row failed, or the whole import. Older errors have nothing but the API's words. */
const reason = (e: ImportRecord["errors"][number]) => why({ ...e.details, code: String(e.details.code ?? ""), message: e.message }, importWhy)

/** What a dry run counted. */
const Checked = ({ m }: { m: ImportRecord }) => (
  <div className="stack" role="status">
    <Panel title={t("contacts.import_checked")}>
      <div className="panel-body stack"><Figures m={m} /></div>
    </Panel>
    <Errors m={m} />
  </div>
)

/** The result, with the rows that failed. */
function Outcome({ m }: { m: ImportRecord }) {
  const whole = m.errors.find((e) => e.row === 0)
  return (
    <div className="stack">
      {m.status === "failed" && <div className="notice notice--bad" role="alert"><CircleAlert aria-hidden /><div><p><b>{t("contacts.import_stopped")}</b></p>{whole && <p>{reason(whole)}</p>}</div></div>}
      {m.undo && <Undone m={m} undo={m.undo} />}
      <Panel title={t(m.status === "failed" ? "contacts.import_until" : "contacts.import_done")} beside={m.finished_at && <span className="soft">{momentText(m.finished_at)}</span>}>
        <div className="panel-body stack">
          <Figures m={m} />
          <div className="row import-see">
            {m.options.tag && !m.undo && doneOf(m) > m.totals.failed && <ButtonLink to="/contacts" search={{ tag: m.options.tag }} icon={<Users aria-hidden />}>{t("contacts.import_see", { tag: m.options.tag })}</ButtonLink>}
            {!m.options.tag && m.totals.created > 0 && <ButtonLink to="/contacts" icon={<Users aria-hidden />}>{t("nav.contacts")}</ButtonLink>}
            {m.status === "completed" && m.totals.created + m.totals.updated > 0 && <UndoButton m={m} />}
          </div>
        </div>
      </Panel>
      <Errors m={m} />
      {m.status === "completed" && m.errors.some((e) => e.dropped === "row" && e.code !== "erased") && <Suspense><Repair m={m} /></Suspense>}
    </div>
  )
}

function UndoButton({ m }: { m: ImportRecord }) {
  const queries = useQueryClient()
  const undo = async () => {
    if (!(await confirm({ title: t("contacts.undo_import_ask", { name: m.file_name }), text: t("contacts.undo_import_text"), action: t("contacts.undo_import"), bad: true }))) return
    try {
      queries.setQueryData(importKey(m.id), await take(api.POST("/imports/{id}/undo", { params: { path: { id: m.id } } })))
    } catch (e) {
      toastFault(e)
    }
  }
  return <Button icon={<Undo2 aria-hidden />} onClick={() => void undo()}>{t("contacts.undo_import")}</Button>
}

const Undone = ({ m, undo }: { m: ImportRecord; undo: NonNullable<ImportRecord["undo"]> }) => (
  <Panel title={t("contacts.import_undone")} beside={undo.kept > 0 && <ButtonAnchor small icon={<Download aria-hidden />} href={download(`/imports/${m.id}/kept.csv`, {})} download>{t("contacts.kept_csv")}</ButtonAnchor>}>
    <dl className="panel-body import-figures">
      {(["removed", "restored", "kept"] as const).map((name) => <div key={name} className="import-figure"><dt className="soft">{t(`contacts.undo_${name}`)}</dt><dd className="import-number num">{number(undo[name])}</dd></div>)}
    </dl>
  </Panel>
)

/** The rows and cells that were not imported, and why. */
function Errors({ m }: { m: ImportRecord }) {
  const rows = m.errors.filter((e) => e.row > 0)
  if (rows.length === 0) return null
  const title = m.totals.failed > 0 ? t("contacts.import_errors", { n: m.totals.failed }) : t("contacts.import_cells", { n: m.totals.cells })
  return (
    <Panel title={title} beside={<ButtonAnchor small icon={<Download aria-hidden />} href={download(`/imports/${m.id}/errors.csv`, {})} download>{t("contacts.errors_csv")}</ButtonAnchor>}>
      <p className="panel-body soft">{t("contacts.errors_text")}{m.totals.failed > 0 && m.totals.cells > 0 && ` ${t("contacts.import_cells", { n: m.totals.cells })}.`}</p>
      <div className="table-frame" tabIndex={0} role="region" aria-label={title}>
        <table className="table table--small">
          <thead><tr><th scope="col">{t("contacts.row")}</th><th scope="col">{t("contacts.column")}</th><th scope="col">{t("contacts.why")}</th></tr></thead>
          <tbody>{rows.map((e, i) => <tr key={i}><td className="num">{e.row}</td><td>{e.column}</td><td className="why">{reason(e)}{e.dropped === "cell" && <span className="soft"> {t("contacts.cell_only")}</span>}</td></tr>)}</tbody>
        </table>
      </div>
      {m.totals.failed + m.totals.cells > rows.length && <p className="panel-none soft">{t("contacts.errors_first", { n: rows.length })}</p>}
    </Panel>
  )
}

