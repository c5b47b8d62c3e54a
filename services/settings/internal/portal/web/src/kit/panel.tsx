import { useId, type ReactNode } from "react"

/** A part of a screen under a heading. beside stands at the end of the heading's line. */
export function Panel({ title, beside, children }: { title: ReactNode; beside?: ReactNode; children: ReactNode }) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-head"><h2 id={id}>{title}</h2>{beside}</div>
      {children}
    </section>
  )
}
