import { Check, Copy } from "lucide-react"
import { useId, useRef, useState } from "react"
import { Button } from "./button"
import { t } from "./text"

/** A text to take along, such as a secret or a link, with a button that copies it. Without access to the clipboard it selects the text. */
export function CopyField({ label, value, help }: { label: string; value: string; help?: string }) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    input.current!.select()
    try {
      await navigator.clipboard.writeText(value)
      setCopied(true)
    } catch {
      // It is selected: Ctrl-C copies it.
    }
  }
  return (
    <div className="field">
      <label className="label" htmlFor={id}>{label}</label>
      <div className="copy">
        <input ref={input} id={id} className="input copy-value" value={value} readOnly aria-describedby={help ? `${id}-help` : undefined} onFocus={(e) => e.target.select()} />
        <Button icon={copied ? <Check aria-hidden /> : <Copy aria-hidden />} onClick={() => void copy()}>{t(copied ? "copied" : "copy")}</Button>
      </div>
      {help && <p className="help" id={`${id}-help`}>{help}</p>}
      <span className="sr" role="status">{copied ? t("copied") : ""}</span>
    </div>
  )
}
