// A field that finds a record while somebody types, such as a contact. React Aria's combobox: load it with a screen, not with
// the shell.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { CircleAlert } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { ComboBox, Input, Label, ListBox, ListBoxItem } from "react-aria-components"
import { Aria, Popover } from "./popover"
import { why } from "./problem"
import { t } from "./text"
import { useProblem } from "./form"

export type Choice = { id: string; name: string; detail?: string }

/** The chosen id stands in the form under name. find gets the typed words and answers the best few. */
export function Picker({ name, label, source, find, value, onChange, autoFocus, placeholder, filter }: {
  name: string
  label: string
  /** The first part of the query key, such as "contacts". */
  source: string
  find: (words: string, signal: AbortSignal) => Promise<Choice[]>
  value: Choice | null
  onChange: (c: Choice | null) => void
  autoFocus?: boolean
  placeholder?: string
  /**
   * Stands among the filters of a list: the label is in the field, as with Choice of kit/list. It opens when somebody types, not with
   * the focus: while it is open, the list beside it is hidden from screen readers.
   */
  filter?: boolean
}) {
  const [words, setWords] = useState(value?.name ?? "")
  const asked = useDeferredValue(words === value?.name ? "" : words.trim())
  const problem = useProblem(name)
  const found = useQuery({
    queryKey: [source, "picker", asked],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 120))
      return signal.aborted ? [] : find(asked, signal)
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
  const items = found.data ?? []
  return (
    <Aria><ComboBox className={filter ? "field picker--filter" : "field"} inputValue={words} onInputChange={(w) => (setWords(w), w !== value?.name && onChange(null))} value={value?.id ?? null} items={items} menuTrigger={filter ? "input" : "focus"}
      onChange={(id) => {
        const c = items.find((x) => x.id === id) ?? null
        if (c) setWords(c.name), onChange(c)
      }} allowsEmptyCollection isInvalid={problem !== undefined} onBlur={() => !value && setWords("")}>
      <Label className={filter ? "sr" : "label"}>{label}</Label>
      <Input className="input" autoFocus={autoFocus} placeholder={placeholder ?? (filter ? label : t("picker.hint"))} />
      <input type="hidden" name={name} value={value?.id ?? ""} />
      {problem && <p className="problem"><CircleAlert aria-hidden />{why(problem)}</p>}
      <Popover className="popover picker-list">
        <ListBox<Choice> className="picker-box" renderEmptyState={() => <p className="picker-none soft">{found.isFetching ? t("loading") : t("list.nothing")}</p>}>
          {(c) => (
            <ListBoxItem id={c.id} textValue={c.name} className="menu-item picker-item">
              <span className="palette-name">{c.name}</span>
              {c.detail && <span className="palette-detail">{c.detail}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox></Aria>
  )
}
