import "./css/plot.css"
import { dayText } from "./dates"
import { number, t, type Key } from "./text"

/** A part of each week's bar, the lowest first. tone is a class of plot.css. */
export type Part<W> = { label: Key; tone: "main" | "soft"; of: (week: W) => number }

const height = 96
const slot = 20
const gap = 5

/** A bar for each week, and a table of the same figures for who cannot see it. */
export function Weeks<W extends { week: string }>({ title, weeks, parts }: { title: string; weeks: W[]; parts: Part<W>[] }) {
  const most = Math.max(1, ...weeks.map((w) => parts.reduce((sum, p) => sum + p.of(w), 0)))
  const first = weeks[0]
  if (!first) return null
  return (
    <figure className="plot">
      <svg viewBox={`0 0 ${weeks.length * slot - gap} ${height}`} preserveAspectRatio="none" aria-hidden>
        {weeks.map((w, i) => {
          let y = height
          return (
            <g key={w.week}>
              <title>{`${dayText(w.week + "T12:00:00Z")}: ${parts.map((p) => `${number(p.of(w))} ${t(p.label)}`).join(", ")}`}</title>
              <rect className="plot-week" x={i * slot} y={0} width={slot - gap} height={height} />
              {parts.map((p) => {
                const h = (p.of(w) / most) * height
                y -= h
                return <rect key={p.label} className={`plot-${p.tone}`} x={i * slot} y={y} width={slot - gap} height={h} />
              })}
            </g>
          )
        })}
      </svg>
      <div className="plot-ends soft" aria-hidden><span>{dayText(first.week + "T12:00:00Z")}</span><span>{t("plot.most", { n: most })}</span><span>{t("plot.this_week")}</span></div>
      {parts.length > 1 && <ul className="plot-legend" aria-hidden>{parts.map((p) => <li key={p.label}><i className={`plot-${p.tone}`} />{t(p.label)}</li>)}</ul>}
      <div className="sr"><table>
        <caption>{title}</caption>
        <thead><tr><th scope="col">{t("plot.week")}</th>{parts.map((p) => <th key={p.label} scope="col">{t(p.label)}</th>)}</tr></thead>
        <tbody>{weeks.map((w) => <tr key={w.week}><th scope="row">{dayText(w.week + "T12:00:00Z")}</th>{parts.map((p) => <td key={p.label}>{number(p.of(w))}</td>)}</tr>)}</tbody>
      </table></div>
    </figure>
  )
}

/** Rows with a bar behind a figure. share is from 0 to 1. */
export function Shares({ rows }: { rows: { id: string | number; label: string; figure: string; share: number }[] }) {
  return (
    <ul className="shares">
      {rows.map((r) => (
        <li key={r.id}>
          <span className="cell-text">{r.label}</span><span className="num">{r.figure}</span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden><rect className="plot-week" width={100} height={4} /><rect className="plot-main" width={Math.min(1, r.share) * 100} height={4} /></svg>
        </li>
      ))}
    </ul>
  )
}
