// Spreadsheets and the cells of CSV files. The libraries load with this program, when somebody needs them.
import Papa from "papaparse"
import { readSheet } from "read-excel-file/browser"

/** The first sheet of an Excel workbook as CSV. Days are written year first, numbers so that no separator can stand between thousands. */
export async function sheetText(file: File): Promise<string> {
  return toText((await readSheet(file)).map((row) => row.map(cellText)))
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ""
  if (cell instanceof Date) return cell.toISOString().slice(0, 10)
  const text = String(cell)
  return typeof cell === "number" && /^-?\d{1,3}\.\d{3}$/.test(text) ? text + "0" : text
}

export const toText = (rows: string[][]) => Papa.unparse(rows, { newline: "\n" })

export const toRows = (text: string) => Papa.parse<string[]>(text.replace(/^\ufeff/, ""), { skipEmptyLines: true }).data
