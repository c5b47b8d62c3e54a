import { useEffect, type ReactNode } from "react"
import { start } from "./start"

export const initials = (name: string) => name.split(/\s+/).filter(Boolean).map((w) => w[0]!.toUpperCase()).filter((_, i, all) => i === 0 || i === all.length - 1).join("") || "?"

/** The head of a screen: its title, what it counts, and its actions. It names the browser's tab too. */
export function Head({ title, count, children, back }: { title: string; count?: ReactNode; children?: ReactNode; back?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${start.business}`
  }, [title])
  return (
    <header className="head">
      <div className="head-title">
        {back}
        <h1>{title}</h1>
        {count}
      </div>
      {children && <div className="head-actions">{children}</div>}
    </header>
  )
}
