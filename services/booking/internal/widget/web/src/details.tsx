import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { asFault, call, wordsOf } from "@web/api"
import { Fault } from "@web/fault"
import { Icon, Svg } from "@web/icon"
import { newKey } from "@web/key"
import { questions, type Given, type Known } from "@web/questions"
import type { Look } from "@web/style"
import { dayOf } from "@web/dates"
import type { Around } from "./around"
import type { Asked, Booked, Service, Slot } from "./data"
import { fetchSlots } from "./slots"

interface Props {
  a: Around
  look: Look
  service: Service
  staff: number
  slot: Slot
  token: string
  terms: string
  business: string
  /** The questions, on their way. */
  ahead: Promise<Asked>
  /** What was filled in before, and here. */
  given: { current: Given }
  known: Known | undefined
  instead: (startsAt: string) => void
  done: (booked: Booked, email: string) => void
}

interface Trouble {
  title: string
  text?: string
  times?: string[]
  retry?: boolean
}

export const askFor = (a: Around, service: Service) => call<Asked>(`${a.origin}/_ui/booking/questions.json?service=${service.id}&lang=${a.language}`)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The details step. What was typed stays through whatever happens. */
export function Details({ a, look, service, staff, slot, token, terms, business, ahead, given, known, instead, done }: Props) {
  const { t, f } = a
  const [asked, setAsked] = useState<Asked>()
  const [round, setRound] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const own = useRef<ReturnType<typeof questions>>(undefined)
  const [trouble, setTrouble] = useState<Trouble>()
  const [busy, setBusy] = useState(false)
  const [waiting, setWaiting] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const key = useRef(newKey())
  const live = useRef(token)

  useEffect(() => {
    live.current = token
    key.current = newKey()
    setTrouble(undefined)
  }, [slot.starts_at])
  useEffect(() => {
    ;(round ? askFor(a, service) : ahead).then(setAsked, (e) => setTrouble({ title: a.explain(asFault(e)), retry: true }))
  }, [round])
  useLayoutEffect(() => {
    if (!asked) return
    const held = box.current!
    held.innerHTML = asked.html
    const now = (own.current = questions(held, t))
    now.fill(given.current)
    if (!given.current.size) now.offer(known)
    return () => (given.current = now.given())
  }, [asked])
  useLayoutEffect(() => {
    if (trouble) form.current?.querySelector<HTMLElement>("[data-trouble]")?.focus()
  }, [trouble])
  useEffect(() => {
    if (waiting <= 0) return
    const timer = setTimeout(() => setWaiting(waiting - 1), 1000)
    return () => clearTimeout(timer)
  }, [waiting])

  const renewToken = async () => {
    const day = dayOf(slot.starts_at, a.zone)
    live.current = (await fetchSlots(a.origin, service.id, staff, day, day)).token
  }

  const send = async (asked: Asked, now: NonNullable<typeof own.current>): Promise<Booked> => {
    const values = now.values()
    const trap = box.current!.querySelector<HTMLInputElement>("[name=hp_url]")!.value
    const place = now.of("location")?.dataset["field"] ?? ""
    const location = values[place]
    delete values[place]
    const body: Record<string, unknown> = { service: service.id, starts_at: slot.starts_at, values, hp_url: trap, language: a.language, page: window.location.href.split("#")[0]?.slice(0, 2048) }
    if (staff) body["staff"] = staff
    if (location !== undefined) body["location"] = location
    const post = () => call<Booked>(`${a.origin}/v1/booking/book`, { ...body, token: live.current }, key.current)
    try {
      if (wordsOf(live.current) !== asked.words) throw new Fault("svc_invalid_token", 0)
      return await post()
    } catch (e) {
      if (!(e instanceof Fault) || e.code !== "svc_invalid_token" || trap) throw e
      // The step was open too briefly or too long: a token counts from three seconds on.
      await renewToken()
      if (wordsOf(live.current) !== asked.words) {
        // Consents are given anew, to the words of now.
        setAsked(await askFor(a, service))
        throw new Fault("words_changed", 0)
      }
      await pause(3300)
      return await post()
    }
  }

  const submit = async () => {
    if (busy || waiting > 0) return
    setTrouble(undefined)
    const now = own.current
    if (!asked || !now) return setRound(round + 1)
    now.clear()
    const missing = now.check()
    if (missing.size > 0) return now.point(missing)
    setBusy(true)
    try {
      const booked = await send(asked, now)
      const email = now.of("contact.email")?.dataset["field"]
      done(booked, email ? String(now.values()[email] ?? "") : "")
    } catch (e) {
      const fault = asFault(e)
      const wrong = fault.code === "svc_invalid_param" ? now.wrong(fault.data["details"] ?? {}) : undefined
      if (wrong?.size) now.point(wrong)
      else if (fault.code === "svc_slot_taken") {
        const times = ((fault.data["alternatives"] ?? []) as { starts_at: string }[]).map((x) => x.starts_at)
        setTrouble({ title: t("taken"), text: t(times.length > 0 ? "taken_choose" : "taken_other"), times })
      } else if (fault.data["reason"] === "max_open_bookings") setTrouble({ title: t("max_open"), text: t("max_open_text", { business }) })
      else if (fault.code === "svc_rate_limited") {
        setWaiting(Number(fault.data["retry_after"]) || 60)
        setTrouble({ title: a.explain(fault) })
      } else if (fault.code === "words_changed") setTrouble({ title: t(fault.code) })
      else setTrouble({ title: a.explain(fault), retry: fault.code === "offline" || fault.status >= 500 })
    } finally {
      setBusy(false)
    }
  }

  const icon = look.icon ? <Svg svg={look.icon} /> : null
  return (
    <form
      class="stack"
      noValidate
      ref={form}
      onSubmit={(e) => {
        e.preventDefault()
        void submit()
      }}
    >
      {trouble && (
        <div class="notice notice--bad" tabIndex={-1} data-trouble role="alert">
          <Icon name="circle-alert" />
          <div>
            <p>
              <strong>{trouble.title}</strong>
            </p>
            {trouble.text && <p>{trouble.text}</p>}
            {trouble.times && trouble.times.length > 0 && (
              <ul class="times times--wide">
                {trouble.times.map((at) => (
                  <li key={at}>
                    <button type="button" class="time" onClick={() => instead(at)}>
                      <span>
                        {f.shortDay(dayOf(at, a.zone))}, {f.clock(at)}
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
            )}
            {trouble.retry && (
              <p>
                <button type="submit" class="button button--second">
                  {t("retry")}
                </button>
              </p>
            )}
          </div>
        </div>
      )}
      <div class="stack" ref={box} />
      {!asked && !trouble && (
        <p class="wait" role="status">
          <span class="spin" />
          <span class="sr">{t("busy")}</span>
        </p>
      )}
      {terms && <p class="small soft pre">{terms}</p>}
      <div>
        <button type="submit" class="button button--wide" aria-disabled={busy || waiting > 0 || undefined}>
          {!look.icon_right && icon}
          <span>{busy ? t("busy") : t(service.confirmation === "review" ? "request" : "book")}</span>
          {look.icon_right && icon}
        </button>
      </div>
    </form>
  )
}
