import { useEffect, useRef, useState } from "preact/hooks"
import globe from "@web/../icon/globe.svg"
import { monthStart } from "@web/days"
import { useFocusOn } from "@web/focus"
import { Icon } from "@web/icon"
import type { Around } from "./around"
import type { Service, Slot, Slots } from "./data"
import { Month } from "./month"
import { Notice, Second, Wait } from "./parts"
import { useMonth } from "./slots"

interface Props {
  a: Around
  service: Service
  staff: number
  early: { current: Slots | undefined }
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
          <select id="staff" class="input" value={staff} onChange={(e) => setStaff(Number(e.currentTarget.value))}>
            <option value="0">{t("anyone")}</option>
            {service.staff.map((s) => (
              <option value={s.user_id}>{s.name}</option>
            ))}
          </select>
        </div>
      )}
      <Times key={staff} {...props} />
    </>
  )
}

function Times({ a, service, staff, early, choose }: Props) {
  const { t, f } = a
  const today = a.dayOf(new Date().toISOString())
  const { month, state, loading, setMonth, reload } = useMonth(a, service.id, staff, today, early)
  const [day, setDay] = useState("")
  const [acted, setActed] = useState(0)
  const heading = useFocusOn<HTMLHeadingElement>(acted)
  const column = useRef<HTMLDivElement>(null)
  const { next } = state
  const free = loading ? undefined : state.days
  const shown = free?.has(day) ? day : [...(free?.keys() ?? [])][0]

  // A month that was asked for with its first free day, or that came back without the chosen one.
  useEffect(() => {
    if (shown) setDay(shown)
  }, [shown])

  return (
    <div class="when">
      <Month
        a={a}
        month={month}
        today={today}
        days={free}
        loading={loading}
        chosen={shown ?? ""}
        show={setMonth}
        choose={(d) => {
          setDay(d)
          setActed(acted + 1)
        }}
      />
      <div class="stack-s" tabIndex={-1} ref={column}>
        {loading ? (
          <Wait t={t} />
        ) : state.fault ? (
          <Notice>
            <p>{a.explain(state.fault, "times_failed")}</p>
            <Second
              press={() => {
                // The button goes when the times come.
                column.current?.focus()
                reload()
              }}
            >
              {t("retry")}
            </Second>
          </Notice>
        ) : shown ? (
          <>
            <h3 class="subtitle day-name" tabIndex={-1} ref={heading}>
              {f.day(shown)}
            </h3>
            <ul class="times">
              {free?.get(shown)?.map((s) => {
                const yours = a.yours(s.starts_at, service)
                return (
                  <li key={s.starts_at}>
                    <button type="button" class="time" onClick={() => choose(s, state.token ?? "")}>
                      <span>
                        {f.clock(s.starts_at)}
                        {yours && <small>{yours}</small>}
                      </span>
                    </button>
                  </li>
                )
              })}
            </ul>
          </>
        ) : (
          <>
            <p class="month-empty soft" role="status">
              {t("month_empty")}
            </p>
            {next && (
              <Second
                press={() => {
                  setDay(next)
                  setMonth(monthStart(next))
                }}
              >
                {t("next_free", { day: f.day(next) })}
              </Second>
            )}
          </>
        )}
        <p class="zone">
          <Icon of={globe} />
          <span>{t("zone", { zone: a.zoneName })}</span>
        </p>
      </div>
    </div>
  )
}
