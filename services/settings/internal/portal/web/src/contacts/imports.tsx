import "./import.css"
import { useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { ArrowLeft, CircleAlert, FileUp } from "lucide-react"
import { useMemo, useRef, useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { agoText, momentText } from "@/kit/dates"
import { SelectField } from "@/kit/form"
import { List, useList, type Column } from "@/kit/list"
import { saying } from "@/kit/problem"
import { Head } from "@/kit/head"
import { number, t } from "@/kit/text"
import { why } from "@/kit/why"
import { importKey, importWhy, type Listed } from "./import-data"
import { decode, encodings, guessEncoding, telling, type Encoding } from "./import-file"

const most = 5 << 20

/** Uploads a file, and lists what was imported before: an import that runs is found again here. */
export function Imports() {
  const list = useList(["imports", "list"], (cursor, signal) => take(api.GET("/imports", { params: { query: { per_page: 20, cursor } }, signal })))
  const columns = useMemo((): Column<Listed>[] => [
    { key: "file", label: t("contacts.file"), cell: (m) => <span className="cell-main"><Link to="/import/$id" params={{ id: m.id }} className="row-link cell-text">{m.file_name}</Link><small className="cell-text">{t("contacts.rows", { n: m.totals.rows })}</small></span> },
    { key: "status", label: t("contacts.status"), under: true, cell: (m) => <ImportStatus m={m} /> },
    { key: "created", label: t("contacts.import_created"), width: 7, end: true, hides: 3, cell: (m) => number(m.totals.created) },
    { key: "updated", label: t("contacts.import_updated"), width: 7, end: true, hides: 4, cell: (m) => number(m.totals.updated) },
    { key: "failed", label: t("contacts.import_failed"), width: 8.5, end: true, hides: 2, cell: (m) => (m.totals.failed > 0 ? <b className="bad">{number(m.totals.failed)}</b> : "0") },
    { key: "at", label: t("contacts.uploaded"), end: true, hides: 1, cell: (m) => <time className="soft nowrap" dateTime={m.created_at} title={momentText(m.created_at)}>{agoText(m.created_at)}</time> },
  ], [])
  return (
    <>
      <Head title={t("contacts.import_title")} back={<Link to="/contacts" className="icon-button" aria-label={t("nav.contacts")}><ArrowLeft aria-hidden /></Link>} />
      <div className="content"><Upload /></div>
      <div className="import-before">
        <h2 className="import-heading">{t("contacts.imports_before")}</h2>
        <List list={list} columns={columns} keeps="imports" id={(m) => m.id} name={t("contacts.imports_before")} empty={{ icon: FileUp, title: t("contacts.imports_none"), text: t("contacts.imports_none_text") }} />
      </div>
    </>
  )
}

const looks = { uploaded: "warn", queued: "accent", running: "accent", checked: "warn", completed: "good", failed: "bad", undoing: "accent", undone: "warn" }
export const ImportStatus = ({ m }: { m: Pick<Schema<"Import">, "status" | "totals"> }) => (
  <span className={`mark mark--${m.status === "completed" && m.totals.failed > 0 ? "warn" : looks[m.status]}`}>{t(`contacts.import_status.${m.status}`)}</span>
)

/** A file whose encoding is a guess: the person sees lines of it before it goes. */
interface Doubtful {
  name: string
  bytes: Uint8Array
  encoding: Encoding
}

function Upload() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState("")
  const [doubt, setDoubt] = useState<Doubtful>()
  const send = async (name: string, csv: string) => {
    const made = await take(api.POST("/imports", { body: { file_name: name.slice(0, 190), csv } }))
    queries.setQueryData(importKey(made.id), made)
    void queries.invalidateQueries({ queryKey: ["imports", "list"] })
    void navigate({ to: "/import/$id", params: { id: made.id } })
  }
  const attempt = async (work: () => Promise<void>) => {
    setProblem("")
    setBusy(true)
    try {
      await work()
    } catch (e) {
      const f = asFault(e)
      const p = f.details.csv ?? f.details.file_name
      setProblem(p ? why(p, importWhy) : saying(f))
    } finally {
      setBusy(false)
      if (input.current) input.current.value = ""
    }
  }
  const choose = (file: File | undefined) => {
    if (!file || busy) return
    setDoubt(undefined)
    if (file.size > most) return setProblem(t("contacts.file_large", { name: file.name }))
    void attempt(async () => {
      if (/\.xlsx$/i.test(file.name)) {
        const { sheetText } = await import("./import-sheet")
        const text = await sheetText(file).catch(() => undefined)
        return text === undefined ? setProblem(t("contacts.sheet_unreadable")) : send(file.name, text)
      }
      const bytes = new Uint8Array(await file.arrayBuffer())
      const { encoding, sure } = guessEncoding(bytes)
      if (sure) return send(file.name, decode(bytes, encoding))
      setDoubt({ name: file.name, bytes, encoding })
    })
  }
  return (
    <div className={over ? "drop drop--over" : "drop"} onDragOver={(e) => (e.preventDefault(), setOver(true))} onDragLeave={() => setOver(false)} onDrop={(e) => (e.preventDefault(), setOver(false), choose(e.dataTransfer.files[0]))}>
      <span className="blank-icon"><FileUp aria-hidden /></span>
      <p className="blank-title">{t("contacts.drop")}</p>
      <p className="soft" id="drop-help">{t("contacts.drop_text")}</p>
      <label className={busy ? "button button--main button--busy" : "button button--main"}>
        <span>{t(busy ? "contacts.reading" : "contacts.choose_file")}</span>
        <input ref={input} type="file" className="sr" accept=".csv,.txt,.xlsx,.vcf,text/csv,text/plain,text/vcard" disabled={busy} aria-describedby="drop-help" aria-invalid={problem ? true : undefined} onChange={(e) => choose(e.target.files?.[0])} />
      </label>
      <p className="problem" role="alert">{problem && <><CircleAlert aria-hidden />{problem}</>}</p>
      {doubt && (
        <div className="import-doubt stack">
          <SelectField name="encoding" label={t("contacts.encoding")} help={t("contacts.encoding_help")} value={doubt.encoding} onChange={(e) => setDoubt({ ...doubt, encoding: e.target.value as Encoding })} options={encodings.map((value) => ({ value, label: t(`contacts.encoding.${value}`) }))} />
          <pre className="import-lines" tabIndex={0} role="region" aria-label={t("contacts.encoding_lines")}>{telling(decode(doubt.bytes, doubt.encoding))}</pre>
          <Button kind="main" busy={busy} onClick={() => void attempt(() => send(doubt.name, decode(doubt.bytes, doubt.encoding)))}>{t("contacts.encoding_right")}</Button>
        </div>
      )}
    </div>
  )
}
