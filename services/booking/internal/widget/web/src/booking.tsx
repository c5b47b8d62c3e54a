import type { ComponentChildren } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import back from "@web/../icon/arrow-left.svg"
import check from "@web/../icon/check.svg"
import chevron from "@web/../icon/chevron-right.svg"
import clock from "@web/../icon/clock.svg"
import globe from "@web/../icon/globe.svg"
import pin from "@web/../icon/map-pin.svg"
import phone from "@web/../icon/phone.svg"
import user from "@web/../icon/user.svg"
import video from "@web/../icon/video.svg"
import { Fault } from "@web/fault"
import type { Mount } from "@web/element"
import { useFocusOn } from "@web/focus"
import { Icon } from "@web/icon"
import type { Given, Known } from "@web/questions"
import { applyLook } from "@web/style"
import { around, explain, type Around } from "./around"
import { askFor, Details } from "./details"
import type { Booked, Service, Slot, WidgetData } from "./data"
import { Second } from "./parts"
import { reader } from "@web/text"
import { When } from "./when"

export type Start = { data: WidgetData; service: string; staff: number; given: Known | undefined } | { fault: Fault }

const places = { in_person: pin, client: pin, phone, online: video }

export function Booking({ mount, data: start }: { mount: Mount; data: Start }) {
  if ("fault" in start) {
    return (
      <div class="svc svc--plain">
        <p>{explain(start.fault, reader(mount.texts, mount.language))}</p>
      </div>
    )
  }
  return <Flow mount={mount} start={start} />
}

function Flow({ mount, start }: { mount: Mount; start: Exclude<Start, { fault: Fault }> }) {
  const { data } = start
  const { look, business } = data.site
  const a = useRef(around(mount, data)).current
  const { t } = a
  // What is asked for and cannot be booked is not replaced by something else.
  const asked = data.services.filter((s) => !start.service || s.id === start.service)
  const person = asked.some((s) => does(start.staff, s)) ? start.staff : 0
  const offered = start.service || !person ? asked : asked.filter((s) => does(person, s))
  const preset = offered.length === 1 ? offered[0] : undefined
  const [service, setService] = useState(preset)
  const [staff, setStaff] = useState(person)
  const [slot, setSlot] = useState<Slot>()
  const [token, setToken] = useState("")
  const given = useRef<Given>(new Map())
  const [booked, setBooked] = useState<{ it: Booked; email: string }>()
  // The questions come while the visitor chooses a time.
  const ahead = useMemo(() => {
    const asked = service && askFor(a, service)
    asked?.catch(() => {})
    return asked
  }, [service])
  const step = booked ? "done" : !service ? "services" : slot ? "details" : "when"
  const heading = useFocusOn<HTMLHeadingElement>(step + slot?.starts_at)
  const card = useRef<HTMLDivElement>(null)
  const early = useRef(data.slots)
  useLayoutEffect(() => applyLook(card.current!, look, mount.origin), [])

  const again = () => {
    setBooked(undefined)
    setSlot(undefined)
    setService(preset)
    setStaff(person)
  }
  const title = (key: string) => (
    <h2 class="title" key={key} tabIndex={-1} ref={heading}>
      {t(key)}
    </h2>
  )
  const leave = (key: string, go: () => void) => (
    <div key={key}>
      <button type="button" class="link" onClick={go}>
        <Icon of={back} />
        {t(key)}
      </button>
    </div>
  )
  const staffName = slot && service?.staff.find((s) => s.user_id === staff)?.name
  const done = booked?.it.status === "pending" ? "done_pending" : "done_confirmed"

  return (
    <div class={"svc " + (look.plain ? "svc--plain" : "svc--card")} ref={card}>
      <div class="inner stack">
        {booked ? (
          <>
            <div class="badge">
              <Icon of={done === "done_pending" ? clock : check} />
            </div>
            <div class="stack-s">
              {title(done)}
              <p class="soft">
                {t(done + "_text", { business })} {booked.email && t("done_mail", { email: booked.email })}
              </p>
            </div>
            <Rows a={a} booked={booked.it} />
            <Second press={again}>{t("another")}</Second>
          </>
        ) : service ? (
          <>
            {slot ? leave("other_time", () => setSlot(undefined)) : !preset && leave("other_service", again)}
            {title("title_" + step)}
            <div class="chosen">
              <p class="name">{service.name}</p>
              {slot && <p class="day-name">{a.at(slot.starts_at)}</p>}
              <p class="facts">
                {slot && <Fact of={globe}>{a.clocks(slot.starts_at, service)}</Fact>}
                {staffName && <Fact of={user}>{staffName}</Fact>}
                <Facts a={a} service={service} />
                {!slot && service.price && <span>{a.price(service.price)}</span>}
              </p>
            </div>
            {slot ? (
              <Details
                a={a}
                service={service}
                staff={staff}
                slot={slot}
                token={token}
                ahead={ahead!}
                given={given}
                known={start.given}
                instead={setSlot}
                done={(it, email) => setBooked({ it, email })}
              />
            ) : (
              <When
                a={a}
                service={service}
                staff={staff}
                early={early}
                setStaff={setStaff}
                choose={(s, token) => {
                  setToken(token)
                  setSlot(s)
                }}
              />
            )}
          </>
        ) : (
          <>
            <div class="stack-s">
              {title("title_services")}
              <p class="soft">{t(offered.length > 0 ? "services_intro" : "nothing")}</p>
            </div>
            <ul class="choices">
              {offered.map((s) => (
                <li key={s.id}>
                  <button type="button" class="choice" onClick={() => setService(s)}>
                    <span class="grow">
                      <span class="name">{s.name}</span>
                      {s.description && <span class="soft small pre">{s.description}</span>}
                      <span class="facts">
                        <Facts a={a} service={s} />
                      </span>
                    </span>
                    {s.price && <span class="price">{a.price(s.price)}</span>}
                    <Icon of={chevron} />
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  )
}

/** Whether a person does a service. */
const does = (staff: number, service: Service) => service.staff.some((s) => s.user_id === staff)

const Fact = ({ of, children }: { of: string; children: string }) => (
  <span>
    <Icon of={of} />
    {children}
  </span>
)

const Facts = ({ a, service }: { a: Around; service: Service }) => (
  <>
    <Fact of={clock}>{a.duration(service.duration_min)}</Fact>
    <Fact of={places[service.location_type]}>{(service.location_type === "in_person" && service.location_details) || a.t("place_" + service.location_type)}</Fact>
  </>
)

function Rows({ a: { t, f, at, clocks }, booked }: { a: Around; booked: Booked }) {
  const { starts_at, location, location_type } = booked
  const row = (key: string, value: ComponentChildren, style?: string) => (
    <div>
      <dt>{t(key)}</dt>
      <dd class={style}>{value}</dd>
    </div>
  )
  return (
    <dl class="rows">
      {row("what", booked.service.name)}
      {row(
        "when",
        <>
          {at(starts_at)}
          {"\u2060–\u2060"}
          {f.clock(booked.ends_at)}
          <small>{clocks(starts_at, booked)}</small>
        </>,
        "day-name",
      )}
      {booked.staff.name && row("who", booked.staff.name)}
      {row("where", location_type === "online" && location ? <a href={location}>{location}</a> : location || t("place_" + location_type))}
    </dl>
  )
}
