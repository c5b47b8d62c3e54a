// What narrows the events of a webhook down: services, forms and tags, for the events that have them.
import { useQuery } from "@tanstack/react-query"
import { type Schema } from "@/api/client"
import { t } from "@/kit/text"
import { useEvents } from "./data"
import { servicesQuery, useTags, useForms } from "@/kit/records"

export type Only = Schema<"Only">
type Key = keyof Only & ("service" | "form" | "tag")
type Choice<V> = { value: V; label: string }

const keys: Key[] = ["service", "form", "tag"]
const useServices = (): Choice<string>[] => (useQuery(servicesQuery(true)).data ?? []).map((s) => ({ value: s.id, label: s.name }))
const useFormChoices = (): Choice<number>[] => useForms().map((f) => ({ value: f.id, label: f.name }))
const useTagChoices = (): Choice<string>[] => useTags().map((x) => ({ value: x.name, label: x.name }))

/** What narrows events down whose app is off, so that they are not listed, by the beginning of their names. */
const unlisted: { [record: string]: Key } = { appointment: "service", form: "form", contact: "tag", marketing: "tag" }

/** The keys that narrow down one of the events. */
const useKeys = (events: string[]) => {
  const known = useEvents()
  const of = (event: string) => known.find((e) => e.event === event)?.only ?? [unlisted[event.split(".")[0]!]]
  return keys.filter((key) => events.some((event) => of(event).includes(key)))
}

/** Without the keys that narrow down none of the events, which the service refuses. As long as those are not known, everything stays. */
export const useFitting = (only: Only, events: string[]): Only => {
  const known = useEvents().length > 0
  const fitting = useKeys(events)
  if (!known) return only
  return Object.fromEntries(Object.entries(only).filter(([key, values]) => fitting.includes(key as Key) && values.length > 0))
}

/** Checkboxes for services, forms and tags. Nothing checked is all of them. */
export function OnlyChoice({ events, only, onChange }: { events: string[]; only: Only; onChange: (only: Only) => void }) {
  const of = { service: Services, form: Forms, tag: Tags }
  return useKeys(events).map((key) => {
    const Part = of[key]
    return <Part key={key} only={only} onChange={onChange} />
  })
}

type Part = { only: Only; onChange: (only: Only) => void }
const Services = ({ only, onChange }: Part) => <Boxes name="service" choices={useServices()} chosen={only.service ?? []} onChange={(service) => onChange({ ...only, service })} />
const Forms = ({ only, onChange }: Part) => <Boxes name="form" choices={useFormChoices()} chosen={only.form ?? []} onChange={(form) => onChange({ ...only, form })} />
const Tags = ({ only, onChange }: Part) => <Boxes name="tag" choices={useTagChoices()} chosen={only.tag ?? []} onChange={(tag) => onChange({ ...only, tag })} />

function Boxes<V extends string | number>({ name, choices, chosen, onChange }: { name: Key; choices: Choice<V>[]; chosen: V[]; onChange: (chosen: V[]) => void }) {
  const all = [...choices, ...chosen.filter((v) => !choices.some((c) => c.value === v)).map((value) => ({ value, label: String(value) }))]
  if (all.length === 0) return null
  return (
    <fieldset className="event-group">
      <legend className="sr">{t(`webhooks.only.${name}`)}</legend>
      <div className="event-all"><b aria-hidden>{t(`webhooks.only.${name}`)}</b> {chosen.length === 0 && <span className="soft">{t(`webhooks.only_all.${name}`)}</span>}</div>
      <div className="event-names only-names">
        {all.map((c) => (
          <label key={c.value} className="check">
            <input type="checkbox" name={`only.${name}`} value={c.value} checked={chosen.includes(c.value)} onChange={(e) => onChange(e.target.checked ? [...chosen, c.value] : chosen.filter((v) => v !== c.value))} />
            <span>{c.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** What narrows the events down, in words. */
export function OnlyList({ only }: { only: Only }) {
  return (
    <>
      {only.service && <ServiceNames chosen={only.service} />}
      {only.form && <FormNames chosen={only.form} />}
      {only.tag && <Names name="tag" choices={[]} chosen={only.tag} />}
    </>
  )
}

const ServiceNames = ({ chosen }: { chosen: string[] }) => <Names name="service" choices={useServices()} chosen={chosen} />
const FormNames = ({ chosen }: { chosen: number[] }) => <Names name="form" choices={useFormChoices()} chosen={chosen} />

const Names = <V extends string | number>({ name, choices, chosen }: { name: Key; choices: Choice<V>[]; chosen: V[] }) => (
  <div>
    <dt>{t(`webhooks.only.${name}`)}</dt>
    <dd className="row row--tags">{chosen.map((v) => <span key={v} className="tag"><span>{choices.find((c) => c.value === v)?.label ?? v}</span></span>)}</dd>
  </div>
)
