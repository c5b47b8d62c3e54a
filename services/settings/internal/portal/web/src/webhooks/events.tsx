// The choice of events, grouped by the app that they come from.
import { CircleAlert } from "lucide-react"
import { useId, type ReactNode } from "react"
import { useProblem } from "@/kit/form"
import { t, tOr } from "@/kit/text"
import { why } from "@/kit/why"
import { eventText, useEvents } from "./data"

const byApp = (events: { event: string; app: string }[]) => [...Map.groupBy(events, (e) => e.app)].map(([app, of]) => ({ app, names: of.map((e) => e.event) }))

/** Checkboxes for every event, and one for all of an app. Events of an app that is off stay chosen until they are taken away. */
export function EventChoice({ chosen, onChange }: { chosen: string[]; onChange: (events: string[]) => void }) {
  const id = useId()
  const problem = useProblem("events")
  const events = useEvents()
  const gone = chosen.filter((name) => events.length > 0 && !events.some((e) => e.event === name))
  const groups = [...byApp(events), ...(gone.length > 0 ? [{ app: "off", names: gone }] : [])]
  const set = (names: string[], on: boolean) => onChange(on ? [...chosen, ...names.filter((n) => !chosen.includes(n))] : chosen.filter((n) => !names.includes(n)))
  return (
    <fieldset className="stack-s field--wide" aria-describedby={problem ? id : undefined}>
      <legend className="label">{t("webhooks.events")}</legend>
      {groups.map(({ app, names }) => {
        const on = names.filter((n) => chosen.includes(n)).length
        return (
          <fieldset key={app} className="event-group">
            <legend className="sr">{tOr("webhooks.app." + app, app)}</legend>
            <label className="check event-all">
              <input type="checkbox" checked={on === names.length} ref={(box) => { if (box) box.indeterminate = on > 0 && on < names.length }} onChange={(e) => set(names, e.target.checked)} />
              <b>{t("webhooks.all_of", { app: tOr("webhooks.app." + app, app) })}</b>
              <span className="soft num">{on > 0 && t("webhooks.of", { n: on, total: names.length })}</span>
            </label>
            <div className="event-names">
              {names.map((name) => (
                <label key={name} className="check">
                  <input type="checkbox" name="events" value={name} checked={chosen.includes(name)} onChange={(e) => set([name], e.target.checked)} aria-invalid={problem ? true : undefined} />
                  <span>{eventText(name)}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )
      })}
      {problem && <p className="problem" id={id}><CircleAlert aria-hidden />{why(problem)}</p>}
    </fieldset>
  )
}

/** The chosen events in words, under their apps; what narrows them down stands below. */
export function EventList({ chosen, children }: { chosen: string[]; children: ReactNode }) {
  const known = useEvents()
  const groups = byApp(chosen.map((event) => ({ event, app: known.find((e) => e.event === event)?.app ?? "off" })))
  if (known.length === 0) return null
  return (
    <dl className="event-list">
      {groups.map(({ app, names }) => (
        <div key={app}>
          <dt>{tOr("webhooks.app." + app, app)}</dt>
          <dd className="row row--tags">{names.map((n) => <span key={n} className="tag"><span>{eventText(n)}</span></span>)}</dd>
        </div>
      ))}
      {children}
    </dl>
  )
}
