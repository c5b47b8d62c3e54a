import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { asFault, call, wordsOf } from "@web/api"
import { Fault } from "@web/fault"
import { useFocusOn } from "@web/focus"
import { Svg } from "@web/icon"
import { newKey } from "@web/key"
import { questions, type Given, type Known } from "@web/questions"
import type { Around } from "./around"
import type { Asked, Booked, Service, Slot } from "./data"
import { Notice, Second, Wait } from "./parts"
import { fetchSlots } from "./slots"

interface Props {
  a: Around
  service: Service
  staff: number
  slot: Slot
  token: string
  /** The questions, on their way. */
  ahead: Promise<Asked>
  /** What was filled in before, and here. */
  given: { current: Given }
  known: Known | undefined
  instead: (slot: Slot) => void
  done: (booked: Booked, email: string) => void
}

interface Trouble {
  title: string
  text?: string
  times?: Slot[]
  retry?: boolean
}

export const askFor = (a: Around, service: Service) => call<Asked>(`${a.origin}/_ui/booking/questions.json?service=${service.id}&lang=${a.language}`)

/** The details step. What was typed stays through whatever happens. */
export function Details({ a, service, staff, slot, token, ahead, given, known, instead, done }: Props) {
  const { t, f } = a
  const { site, terms } = a.data
  const [asked, setAsked] = useState<Asked>()
  const [round, setRound] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const own = useRef<ReturnType<typeof questions>>(undefined)
  const [trouble, setTrouble] = useState<Trouble>()
  const [busy, setBusy] = useState(false)
  const [waiting, setWaiting] = useState(0)
  const notice = useFocusOn<HTMLDivElement>(trouble)
  const key = useRef("")
  const live = useRef("")

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
  useEffect(() => {
    if (waiting <= 0) return
    const timer = setTimeout(() => setWaiting(waiting - 1), 1000)
    return () => clearTimeout(timer)
  }, [waiting])

  const send = async (asked: Asked, now: NonNullable<typeof own.current>): Promise<Booked> => {
    const trap = box.current!.querySelector<HTMLInputElement>("[name=hp_url]")!.value
    const { [now.of("location")]: place, ...values } = now.values()
    // What is undefined has no member in JSON.
    const body = { service: service.id, starts_at: slot.starts_at, values, hp_url: trap, language: a.language, page: location.href.split("#")[0]?.slice(0, 2048), staff: staff || undefined, location: place }
    const post = () => {
      if (wordsOf(live.current) !== asked.words) throw new Fault("svc_invalid_token", 0)
      return call<Booked>(`${a.origin}/v1/booking/book`, { ...body, token: live.current }, key.current)
    }
    try {
      return await post()
    } catch (e) {
      if (!(e instanceof Fault) || e.code !== "svc_invalid_token" || trap) throw e
      // The step was open too briefly or too long: a token counts from three seconds on.
      const day = a.dayOf(slot.starts_at)
      live.current = (await fetchSlots(a, service.id, staff, day, day)).token
      if (wordsOf(live.current) !== asked.words) {
        // Consents are given anew, to the words of now.
        setAsked(await askFor(a, service))
        throw new Fault("words_changed", 0)
      }
      await new Promise((resolve) => setTimeout(resolve, 3300))
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
      done(booked, String(now.values()[now.of("contact.email")] ?? ""))
    } catch (e) {
      const fault = asFault(e)
      const { code, data } = fault
      const wrong = code === "svc_invalid_param" ? now.wrong(data["details"] ?? {}) : undefined
      if (wrong?.size) now.point(wrong)
      else if (code === "svc_slot_taken") {
        const times: Slot[] = data["alternatives"] ?? []
        setTrouble({ title: t("taken"), text: t(times.length > 0 ? "taken_choose" : "taken_other"), times })
      } else if (data["reason"] === "max_open_bookings") setTrouble({ title: t("max_open"), text: t("max_open_text", { business: site.business }) })
      else {
        if (code === "svc_rate_limited") setWaiting(Number(data["retry_after"]) || 60)
        setTrouble({ title: code === "words_changed" ? t(code) : a.explain(fault), retry: code === "offline" || fault.status >= 500 })
      }
    } finally {
      setBusy(false)
    }
  }

  const { icon, icon_right } = site.look
  const drawn = icon && <Svg svg={icon} />
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(e) => {
        e.preventDefault()
        void submit()
      }}
    >
      {trouble && (
        <Notice box={notice}>
          <p>
            <strong>{trouble.title}</strong>
          </p>
          {trouble.text && <p>{trouble.text}</p>}
          {!!trouble.times?.length && (
            <ul class="times times--wide">
              {trouble.times.map((at) => (
                <li key={at.starts_at}>
                  <button type="button" class="time" onClick={() => instead(at)}>
                    <span>
                      {f.shortDay(a.dayOf(at.starts_at))}, {f.clock(at.starts_at)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          {trouble.retry && <Second>{t("retry")}</Second>}
        </Notice>
      )}
      <div class="stack" ref={box} />
      {!asked && !trouble && <Wait t={t} />}
      {terms && <p class="small soft pre">{terms}</p>}
      <div>
        <button type="submit" class="button button--wide" aria-disabled={busy || waiting > 0 || undefined}>
          {!icon_right && drawn}
          <span>{t(busy ? "busy" : service.confirmation === "review" ? "request" : "book")}</span>
          {icon_right && drawn}
        </button>
      </div>
    </form>
  )
}
