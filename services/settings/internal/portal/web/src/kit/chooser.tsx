// The button at the head of a list by which a person chooses its columns.
import { Columns3 } from "lucide-react"
import { useId, useState } from "react"
import type { Fit } from "./columns"
import { kept, me } from "./start"
import { t } from "./text"

/** The columns of a list that the person does not want, and how to change them. */
export function useUnwanted(list: string): [ReadonlySet<string>, (unwanted: ReadonlySet<string>) => void] {
  const name = `columns-${list}-${me.user_id}`
  const [unwanted, set] = useState<ReadonlySet<string>>(() => new Set(kept.get(name).split(" ")))
  return [unwanted, (chosen) => (kept.set(name, [...chosen].filter(Boolean).join(" ")), set(chosen))]
}

type Named = Fit & { label: string }

/** All columns but the first, which stays. It says of which there is no room for now. */
export function Chooser({ columns, shape, unwanted, choose }: { columns: Named[]; shape: { shown: Named[]; under: Named[] }; unwanted: ReadonlySet<string>; choose: (unwanted: ReadonlySet<string>) => void }) {
  const id = useId()
  const [open, setOpen] = useState(false)
  const toggle = (key: string) => {
    const next = new Set(unwanted)
    if (!next.delete(key)) next.add(key)
    choose(next)
  }
  return (
    <>
      <button className="icon-button columns-button" popoverTarget={id} aria-label={t("list.columns")} title={t("list.columns")}><Columns3 aria-hidden /></button>
      <div id={id} popover="auto" className="popover columns-menu" role="group" aria-label={t("list.columns")} onToggle={(e) => setOpen(e.newState === "open")}>
        {open && columns.slice(1).filter((c) => c.label).map((c) => (
          <label key={c.key} className="check">
            <input type="checkbox" checked={!unwanted.has(c.key)} onChange={() => toggle(c.key)} />
            <span>{c.label}{!unwanted.has(c.key) && !shape.shown.includes(c) && <small className="soft">{t(shape.under.includes(c) ? "list.beneath" : "list.no_room")}</small>}</span>
          </label>
        ))}
      </div>
    </>
  )
}
