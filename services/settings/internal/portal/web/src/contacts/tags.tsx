import { X } from "lucide-react"
import { useId, useState } from "react"
import { createTag } from "@/api/limits"
import { t } from "@/kit/text"
import { useTags } from "@/kit/records"

/** Tags that come and go at once. */
export function Tags({ tags, readOnly, onChange }: { tags: string[]; readOnly: boolean; onChange: (tags: string[]) => void }) {
  const [typed, setTyped] = useState("")
  const id = useId()
  const known = useTags().filter((x) => !tags.includes(x.name))
  const add = () => {
    const name = typed.trim()
    setTyped("")
    if (name && !tags.some((x) => x.toLowerCase() === name.toLowerCase())) onChange([...tags, name])
  }
  return (
    <div className="row">
      {tags.map((x) => (
        <span key={x} className={readOnly ? "tag" : "tag tag--removable"}>
          <span>{x}</span>
          {!readOnly && <button aria-label={t("contacts.tag_remove", { name: x })} onClick={() => onChange(tags.filter((y) => y !== x))}><X aria-hidden /></button>}
        </span>
      ))}
      {tags.length === 0 && readOnly && <span className="soft">–</span>}
      {!readOnly && (
        <form className="tag-form" onSubmit={(e) => (e.preventDefault(), add())}>
          <input className="input" list={id} value={typed} {...createTag.name} aria-label={t("contacts.tag_add")} placeholder={t("contacts.tag_add")} onChange={(e) => setTyped(e.target.value)} onBlur={add} />
          <datalist id={id}>{known.map((x) => <option key={x.slug} value={x.name} />)}</datalist>
        </form>
      )}
    </div>
  )
}
