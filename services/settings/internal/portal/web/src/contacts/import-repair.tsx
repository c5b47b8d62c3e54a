import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Wrench } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { download } from "@/api/download"
import { Button } from "@/kit/button"
import { Panel } from "@/kit/panel"
import { t } from "@/kit/text"
import { toastFault } from "@/kit/toast"
import { importKey, type ImportRecord } from "./import-data"

/** How many rows are shown: more are better repaired in a spreadsheet. */
const most = 200
/** The columns that errors.csv puts in front of those of the file. */
const before = ["row", "column", "code", "message", "dropped"]

/** The rows that were not imported, to be corrected and imported by themselves. */
export function Repair({ m }: { m: ImportRecord }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [rows, setRows] = useState<{ n: string; why: string; cells: string[] }[]>()
  const [busy, setBusy] = useState(false)
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true)
    try {
      await work()
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
    }
  }
  const load = () => attempt(async () => {
    const { toRows } = await import("./import-sheet")
    const lines = toRows(await (await fetch(download(`/imports/${m.id}/errors.csv`, {}))).text()).slice(1)
    setRows(lines.filter((line) => line[4] === "row" && line[2] !== "erased").slice(0, most).map((line) => ({ n: line[0] ?? "", why: line[3] ?? "", cells: m.headers.map((_, i) => line[before.length + i] ?? "") })))
  })
  const send = () => attempt(async () => {
    const { toText } = await import("./import-sheet")
    const made = await take(api.POST("/imports", { body: { file_name: m.file_name, csv: toText([m.headers, ...(rows ?? []).map((row) => row.cells)]) } }))
    const { duplicates, tag } = m.options
    queries.setQueryData(importKey(made.id), await take(api.PATCH("/imports/{id}", { params: { path: { id: made.id } }, body: { mapping: m.mapping, options: { duplicates, tag, header: 1 } } })))
    void queries.invalidateQueries({ queryKey: ["imports", "list"] })
    void navigate({ to: "/import/$id", params: { id: made.id } })
  })
  if (!rows) return <p><Button icon={<Wrench aria-hidden />} busy={busy} onClick={() => void load()}>{t("contacts.repair")}</Button></p>
  const set = (r: number, c: number, value: string) => setRows(rows.map((row, i) => (i === r ? { ...row, cells: row.cells.map((cell, k) => (k === c ? value : cell)) } : row)))
  return (
    <Panel title={t("contacts.repair_title")} beside={<Button kind="main" busy={busy} disabled={rows.length === 0} onClick={() => void send()}>{t("contacts.repair_send", { n: rows.length })}</Button>}>
      <p className="panel-body soft">{t("contacts.repair_text")}</p>
      <div className="table-frame" tabIndex={0} role="region" aria-label={t("contacts.repair_title")}>
        <table className="table table--small">
          <thead><tr><th scope="col">{t("contacts.row")}</th>{m.headers.map((header, i) => <th key={i} scope="col">{header || t("contacts.column_n", { n: i + 1 })}</th>)}</tr></thead>
          <tbody>
            {rows.map((row, r) => (
              <tr key={row.n}>
                <td className="num" title={row.why}>{row.n}</td>
                {row.cells.map((cell, c) => <td key={c}><input className="input import-cell" value={cell} aria-label={t("contacts.repair_cell", { row: row.n, column: m.headers[c] || t("contacts.column_n", { n: c + 1 }) })} onChange={(e) => set(r, c, e.target.value)} /></td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}
