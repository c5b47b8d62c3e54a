import { useState } from "react"
import { Dialog } from "@/kit/dialog"
import { keysOn } from "@/kit/keys"
import { kept, on } from "@/kit/start"
import { t, type Key } from "@/kit/text"

const calendar: [string[], Key][] = [
  [["d", "w", "m", "l"], "app.keys.views"],
  [["t"], "app.keys.today"],
  [["←", "→"], "app.keys.step"],
  [["n"], "app.keys.new"],
  [["m"], "app.keys.move"],
]
const keys: [string[], Key][] = [
  [["Ctrl", "K"], "app.keys.palette"],
  [["/"], "app.keys.search"],
  [["j", "k"], "app.keys.walk"],
  [["Enter"], "app.keys.open"],
  [["Esc"], "app.keys.close"],
  ...(on("booking") ? calendar : []),
  [["?"], "app.keys.help"],
]

export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const [single, setSingle] = useState(keysOn())
  return (
    <Dialog title={t("app.keys.title")} onClose={onClose} size="s">
      <div className="dialog-body">
        <dl className="keys">
          {keys.map(([names, label]) => (
            <div key={label}>
              <dt>{t(label)}</dt>
              <dd>{names.map((n) => <kbd key={n}>{n}</kbd>)}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input type="checkbox" checked={single} onChange={(e) => (setSingle(e.target.checked), kept.set("keys", e.target.checked ? "" : "off"))} />
          <span>{t("app.keys.single")}</span>
        </label>
      </div>
    </Dialog>
  )
}
