import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { Fault } from "@web/fault"
import { dayOf } from "@web/dates"
import type { Mount } from "@web/element"
import { useFocusOn } from "@web/focus"
import { Icon, Svg } from "@web/icon"
import type { Given, Known } from "@web/questions"
import { applyLook } from "@web/style"
import phone from "../../../../../../libs/web/icon/phone.svg"
import pin from "../../../../../../libs/web/icon/map-pin.svg"
import user from "../../../../../../libs/web/icon/user.svg"
import video from "../../../../../../libs/web/icon/video.svg"
import { around, explain, type Around } from "./around"
import { askFor, Details } from "./details"
import type { Booked, Service, Slot, Slots, WidgetData } from "./data"
import { reader } from "@web/text"
import { When } from "./when"

export type Start = { data: WidgetData; service: string; staff: number; early: Promise<Slots> | undefined; given: Known | undefined } | { fault: Fault }

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
  const a = useRef(around(mount, data)).current
  const { t, f } = a
  // What is asked for and cannot be booked is not replaced by something else.
  const offered = data.services.filter((s) => (start.service ? s.id === start.service : !start.staff || does(start.staff, s)))
  const preset = offered.length === 1 ? offered[0] : undefined
  const [service, setService] = useState<Service | undefined>(preset)
  const [staff, setStaff] = useState(start.staff)
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
  const heading = useFocusOn<HTMLHeadingElement>(`${step}/${slot?.starts_at ?? ""}`)
  const card = useRef<HTMLDivElement>(null)
  const early = useRef(start.early)
  useLayoutEffect(() => {
    if (card.current) applyLook(card.current, data.site.look, mount.origin)
  }, [])

  const back = (label: string, go: () => void) => (
    <div>
      <button type="button" class="link" onClick={go}>
        <Icon name="arrow-left" />
        {label}
      </button>
    </div>
  )
  const title = (key: string) => (
    <h2 class="title" tabIndex={-1} ref={heading}>
      {t(key)}
    </h2>
  )
  const staffName = service?.staff.find((s) => s.user_id === staff)?.name

  return (
    <div class={"svc " + (data.site.look.plain ? "svc--plain" : "svc--card")} ref={card}>
      <div class="inner stack">
        {step === "services" && (
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
                    <Icon name="chevron-right" />
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
        {step === "when" && service && (
          <>
            {!preset &&
              back(t("other_service"), () => {
                setService(undefined)
                setStaff(start.staff)
              })}
            {title("title_when")}
            <div class="chosen">
              <div class="grow">
                <p class="name">{service.name}</p>
                <p class="facts">
                  <Facts a={a} service={service} />
                  {service.price && <span>{a.price(service.price)}</span>}
                </p>
              </div>
            </div>
            <When
              a={a}
              service={service}
              staff={staff}
              early={early.current}
              setStaff={(id) => {
                early.current = undefined
                setStaff(id)
              }}
              choose={(s, token) => {
                early.current = undefined
                setToken(token)
                setSlot(s)
              }}
            />
          </>
        )}
        {step === "details" && service && slot && (
          <>
            {back(t("other_time"), () => setSlot(undefined))}
            {title("title_details")}
            <div class="chosen">
              <div class="grow">
                <p class="name">{service.name}</p>
                <p class="day-name">
                  {f.day(dayOf(slot.starts_at, a.zone))}, {f.clock(slot.starts_at)}
                </p>
                <p class="facts">
                  <span>
                    <Icon name="globe" />
                    {t("zone_short", { zone: a.zoneName })}
                    {a.yours(slot.starts_at, service) && ` · ${a.yours(slot.starts_at, service)}`}
                  </span>
                  {staffName && (
                    <span>
                      <Svg svg={user} />
                      {staffName}
                    </span>
                  )}
                  <Facts a={a} service={service} />
                </p>
              </div>
            </div>
            <Details
              a={a}
              look={data.site.look}
              service={service}
              staff={staff}
              slot={slot}
              token={token}
              terms={data.terms}
              business={data.site.business}
              ahead={ahead!}
              given={given}
              known={start.given}
              instead={(at) => setSlot({ starts_at: at, ends_at: at, staff: [] })}
              done={(it, email) => setBooked({ it, email })}
            />
          </>
        )}
        {booked && (
          <>
            <div class="badge"><Icon name={booked.it.status === "pending" ? "clock" : "check"} /></div>
            <div class="stack-s">
              {title(booked.it.status === "pending" ? "done_pending" : "done_confirmed")}
              <p class="soft">
                {t(booked.it.status === "pending" ? "done_pending_text" : "done_confirmed_text", { business: data.site.business })} {booked.email && t("done_mail", { email: booked.email })}
              </p>
            </div>
            <Rows a={a} booked={booked.it} />
            <p>
              <button
                type="button"
                class="button button--second"
                onClick={() => {
                  setBooked(undefined)
                  setSlot(undefined)
                  setService(preset)
                  setStaff(start.staff)
                }}
              >
                {t("another")}
              </button>
            </p>
          </>
        )}
      </div>
    </div>
  )
}

/** Whether a person does a service. */
export const does = (staff: number, service: Service) => service.staff.some((s) => s.user_id === staff)

function Facts({ a, service }: { a: Around; service: Service }) {
  return (
    <>
      <span>
        <Icon name="clock" />
        {a.duration(service.duration_min)}
      </span>
      <span>
        <Svg svg={places[service.location_type]} />
        {(service.location_type === "in_person" && service.location_details) || a.t("place_" + service.location_type)}
      </span>
    </>
  )
}

function Rows({ a, booked }: { a: Around; booked: Booked }) {
  const { t, f } = a
  const yours = a.yours(booked.starts_at, booked)
  return (
    <dl class="rows">
      <div>
        <dt>{t("what")}</dt>
        <dd>{booked.service.name}</dd>
      </div>
      <div>
        <dt>{t("when")}</dt>
        <dd class="day-name">
          {f.day(dayOf(booked.starts_at, a.zone))}, {f.clock(booked.starts_at)}{"\u2060–\u2060"}{f.clock(booked.ends_at)}
          <small>
            {t("zone_short", { zone: a.zoneName })}
            {yours && ` · ${yours}`}
          </small>
        </dd>
      </div>
      {booked.staff.name && (
        <div>
          <dt>{t("who")}</dt>
          <dd>{booked.staff.name}</dd>
        </div>
      )}
      <div>
        <dt>{t("where")}</dt>
        <dd>{booked.location_type === "online" && booked.location ? <a href={booked.location}>{booked.location}</a> : booked.location || t("place_" + booked.location_type)}</dd>
      </div>
    </dl>
  )
}
