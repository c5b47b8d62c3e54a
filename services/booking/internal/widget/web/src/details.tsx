import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { asFault, call, Fault, newKey, wordsOf } from "@web/api"
import { check, errorsOf, Fields, focusErrors, Summary, toSend, Trap, type Answer, type Answers, type Errors } from "@web/fields"
import { Icon, Svg } from "@web/icon"
import type { Look } from "@web/style"
import { dayOf } from "@web/dates"
import type { Around } from "./around"
import type { Booked, Service, Slot, WidgetData } from "./data"
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
  answers: Answers
  setAnswers: (answers: Answers) => void
  instead: (startsAt: string) => void
  done: (booked: Booked, email: string) => void
}

interface Trouble {
  title: string
  text?: string
  times?: string[]
  retry?: boolean
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The details step. What was typed stays through whatever happens. */
export function Details({ a, look, service, staff, slot, token, terms, business, answers, setAnswers, instead, done }: Props) {
  const { t, f } = a
  const [asked, setAsked] = useState(service)
  const questions = asked.questions.map((q) => {
    if (q.target !== "location") return q
    return q.kind === "phone" ? { ...q, label: t("your_number"), help: t("your_number_help") } : { ...q, label: t("your_address"), help: t("your_address_help") }
  })
  const [errors, setErrors] = useState<Errors>({})
  const [refusals, setRefusals] = useState(0)
  const [trouble, setTrouble] = useState<Trouble>()
  const [busy, setBusy] = useState(false)
  const [waiting, setWaiting] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const trap = useRef("")
  const key = useRef(newKey())
  const live = useRef(token)

  useEffect(() => {
    live.current = token
    key.current = newKey()
    setTrouble(undefined)
  }, [slot.starts_at])
  useLayoutEffect(() => {
    if (refusals > 0) focusErrors(form.current, errors)
  }, [refusals])
  useLayoutEffect(() => {
    if (trouble) form.current?.querySelector<HTMLElement>("[data-trouble]")?.focus()
  }, [trouble])
  useEffect(() => {
    if (waiting <= 0) return
    const timer = setTimeout(() => setWaiting(waiting - 1), 1000)
    return () => clearTimeout(timer)
  }, [waiting])

  const refuse = (found: Errors) => {
    setErrors(found)
    setRefusals((n) => n + 1)
  }

  // What is being mended is not wrong any more.
  const answer = (id: string, given: Answer) => {
    setAnswers({ ...answers, [id]: given })
    setErrors(({ [id]: _, ...others }) => others)
  }

  const renewToken = async () => {
    const day = dayOf(slot.starts_at, a.zone)
    live.current = (await fetchSlots(a.origin, service.id, staff, day, day)).token
  }

  const send = async (): Promise<Booked> => {
    const values = toSend(questions, answers)
    const place = questions.find((q) => q.target === "location")?.id ?? ""
    const location = values[place]
    delete values[place]
    const body: Record<string, unknown> = { service: service.id, starts_at: slot.starts_at, values, hp_url: trap.current, language: a.language, page: window.location.href.split("#")[0]?.slice(0, 2048) }
    if (staff) body["staff"] = staff
    if (location !== undefined) body["location"] = location
    const post = () => call<Booked>(`${a.origin}/v1/booking/book`, { ...body, token: live.current }, key.current)
    try {
      if (wordsOf(live.current) !== asked.words) throw new Fault("svc_invalid_token", 0)
      return await post()
    } catch (e) {
      if (!(e instanceof Fault) || e.code !== "svc_invalid_token" || trap.current) throw e
      // The step was open too briefly or too long: a token counts from three seconds on.
      await renewToken()
      if (wordsOf(live.current) !== asked.words) {
        // Consents are given anew, to the words of now.
        const now = (await call<WidgetData>(`${a.origin}/_ui/booking/widget.json`)).services.find((s) => s.id === service.id) ?? asked
        setAsked(now)
        setAnswers(Object.fromEntries(Object.entries(answers).filter(([id]) => now.questions.some((q) => q.id === id && q.kind !== "consent"))))
        throw new Fault("words_changed", 0)
      }
      await pause(3300)
      return await post()
    }
  }

  const submit = async () => {
    if (busy || waiting > 0) return
    const found = check(questions, answers, t)
    setTrouble(undefined)
    if (Object.keys(found).length > 0) return refuse(found)
    setErrors({})
    setBusy(true)
    try {
      const booked = await send()
      const email = questions.find((e) => e.target === "contact.email")
      done(booked, email ? String(answers[email.id] ?? "") : "")
    } catch (e) {
      const fault = asFault(e)
      const wrong = fault.code === "svc_invalid_param" ? errorsOf(fault.data["details"] ?? {}, questions, t) : undefined
      if (wrong) refuse(wrong)
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
      {Object.keys(errors).length > 1 && <Summary questions={questions} errors={errors} t={t} root={() => form.current} />}
      <Fields questions={questions} answers={answers} errors={errors} t={t} set={answer} />
      <Trap set={(v) => (trap.current = v)} />
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
