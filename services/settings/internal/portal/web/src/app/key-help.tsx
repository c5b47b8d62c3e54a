import { useState } from "react"
import { Dialog } from "@/kit/dialog"
import { keysOn } from "@/kit/keys"
import { kept, on } from "@/kit/start"
import { t, type Key } from "@/kit/text"

const calendar: [string[], Key][] = [
  [["d", "w", "m", "l"], "frame.keys.views"],
  [["t"], "frame.keys.today"],
  [["←", "→"], "frame.keys.step"],
  [["p"], "frame.keys.print"],
  [["n"], "frame.keys.new"],
  [["m"], "frame.keys.move"],
]
const keys: [string[], Key][] = [
  [["Ctrl", "K"], "frame.keys.palette"],
  [["/"], "frame.keys.search"],
  [["j", "k"], "frame.keys.walk"],
  [["Enter"], "frame.keys.open"],
  [["Esc"], "frame.keys.close"],
  ...(on("booking") ? calendar : []),
  [["?"], "frame.keys.help"],
]

export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const [single, setSingle] = useState(keysOn())
  return (
    <Dialog title={t("frame.keys.title")} onClose={onClose} size="s">
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
          <span>{t("frame.keys.single")}</span>
        </label>
      </div>
    </Dialog>
  )
}
