import { useEffect, useRef, useState } from "preact/hooks"
import { dayOf } from "@web/dates"
import { useFocusOn } from "@web/focus"
import { Icon } from "@web/icon"
import type { Service, Slot, Slots } from "./data"
import { Month } from "./month"
import { useMonth } from "./slots"
import type { Around } from "./around"

interface Props {
  a: Around
  service: Service
  staff: number
  early: Promise<Slots> | undefined
  setStaff: (id: number) => void
  choose: (slot: Slot, token: string) => void
}

/** Day and time. A change of person begins anew. */
export function When(props: Props) {
  const { a, service, staff, setStaff } = props
  const { t } = a
  return (
    <>
      {service.staff.length > 1 && (
        <div class="field">
          <label class="label" for="staff">
            {t("with")}
          </label>
          <select id="staff" class="input" value={String(staff)} onChange={(e) => setStaff(Number(e.currentTarget.value))}>
            <option value="0">{t("anyone")}</option>
            {service.staff.map((s) => (
              <option key={s.user_id} value={String(s.user_id)}>
                {s.name}
              </option>
            ))}
          </select>
        </div>
      )}
      <Times key={`${service.id}/${staff}`} {...props} />
    </>
  )
}

function Times({ a, service, staff, early, choose }: Props) {
  const { t, f, zone } = a
  const today = dayOf(new Date().toISOString(), zone)
  const { month, state, loading, setMonth, reload } = useMonth({ origin: a.origin, service: service.id, staff, zone, today, early })
  const [day, setDay] = useState("")
  const [acted, setActed] = useState(0)
  const heading = useFocusOn<HTMLHeadingElement>(acted)
  const column = useRef<HTMLDivElement>(null)
  const free = loading ? undefined : state.days
  const shown = free?.has(day) ? day : [...(free?.keys() ?? [])][0]

  // A month that was asked for with its first free day, or that came back without the chosen one.
  useEffect(() => {
    if (shown && shown !== day) setDay(shown)
  }, [shown])

  return (
    <div class="when">
      <Month
        month={month}
        today={today}
        days={free}
        loading={loading}
        chosen={shown ?? ""}
        f={f}
        t={t}
        show={setMonth}
        choose={(d) => {
          setDay(d)
          setActed(acted + 1)
        }}
      />
      <div class="stack-s" tabIndex={-1} ref={column}>
        {state.fault && !loading ? (
          <div class="notice notice--bad" role="alert">
            <Icon name="circle-alert" />
            <div>
              <p>{a.explain(state.fault, "times_failed")}</p>
              <p>
                <button
                  type="button"
                  class="button button--second"
                  onClick={() => {
                    // The button goes when the times come.
                    column.current?.focus()
                    reload()
                  }}
                >
                  {t("retry")}
                </button>
              </p>
            </div>
          </div>
        ) : loading ? (
          <p class="wait" role="status">
            <span class="spin" />
            <span class="sr">{t("busy")}</span>
          </p>
        ) : shown ? (
          <>
            <h3 class="subtitle day-name" tabIndex={-1} ref={heading}>
              {f.day(shown)}
            </h3>
            <ul class="times">
              {state.days?.get(shown)?.map((s) => (
                <li key={s.starts_at}>
                  <button type="button" class="time" onClick={() => choose(s, state.token ?? "")}>
                    <span>
                      {f.clock(s.starts_at)}
                      {a.yours(s.starts_at, service) && <small>{a.yours(s.starts_at, service)}</small>}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <>
            <p class="month-empty soft" role="status">
              {t("month_empty")}
            </p>
            {state.nextFree && (
              <p>
                <button
                  type="button"
                  class="button button--second"
                  onClick={() => {
                    setDay(state.nextFree ?? "")
                    setMonth((state.nextFree ?? month).slice(0, 8) + "01")
                  }}
                >
                  {t("next_free", { day: f.day(state.nextFree) })}
                </button>
              </p>
            )}
          </>
        )}
        <p class="zone">
          <Icon name="globe" />
          <span>{t("zone", { zone: a.zoneName })}</span>
        </p>
      </div>
    </div>
  )
}
