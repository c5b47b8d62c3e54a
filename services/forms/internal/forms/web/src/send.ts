// Makes a form that the server rendered send itself without leaving the page. The words, the rules and the markup are the
// server's; this is the time between the press of the button and the answer.

import { wordsOf } from "@web/api"
import { newKey } from "@web/key"
import { why, type Problems } from "@web/problem"
import { questions, type Known } from "@web/questions"
import { reader } from "@web/text"

export interface AfterSubmit { type: string; message: string; url: string }

interface Refusal { code?: string; data?: { details?: Problems; retry_after?: number } }

const tokenAge = 3100 // the server takes no token that is younger than three seconds

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

// enhance takes over a form inside root. origin is that of the API and of the form's own document. A preview sends nothing: it
// goes on with what comes after sending, and stays on its page. What is known of the visitor is filled in.
export function enhance(form: HTMLFormElement, root: Document | ShadowRoot, origin: string, preview?: AfterSubmit, known?: Known): void {
  const language = form.closest<HTMLElement>("[lang]")?.lang ?? "en"
  const t = reader(JSON.parse(form.dataset.text ?? "{}"), language)
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]")!
  const label = button.querySelector<HTMLElement>(".label-text")!
  const problem = form.querySelector<HTMLElement>(".problem")!
  const asked = questions(form, t)
  const words = label.textContent
  let token = (form.elements.namedItem("token") as HTMLInputElement).value
  let since = performance.now()
  let sending = false
  let attempt = { body: "", key: "" }
  form.noValidate = true
  asked.offer(known)

  function say(words: string) {
    problem.querySelector("p")!.textContent = words
    problem.hidden = words === ""
    if (words) problem.focus()
  }

  const wait = (seconds: number) => (seconds > 90 ? t("form_minutes", { n: Math.ceil(seconds / 60) }) : t("form_seconds", { n: Math.max(2, seconds) }))

  async function post(): Promise<Response> {
    await pause(tokenAge - (performance.now() - since))
    const trap = (form.elements.namedItem("hp_url") as HTMLInputElement).value
    // The page may stand nowhere on the web, in a file or a frame of its own.
    const page = /^https?:/.test(location.href) ? location.href.split("#")[0] : ""
    const body = JSON.stringify({ values: asked.values(), token, hp_url: trap, page, language: form.dataset.language })
    // The same words sent twice, because an answer was lost, count once.
    if (attempt.body !== body) attempt = { body, key: newKey() }
    return fetch(`${origin}/v1/forms/${form.dataset.form}/submit`, {
      method: "POST", credentials: "omit", body, headers: { "Content-Type": "application/json", "Idempotency-Key": attempt.key },
    })
  }

  // Takes a new token. Answers whether the consents still have the words that the visitor saw.
  async function renew(): Promise<"same" | "changed" | undefined> {
    const res = await fetch(`${origin}/v1/forms/${form.dataset.form}/token`, { credentials: "omit" })
    if (!res.ok) return
    const fresh: string = (await res.json()).token
    const changed = wordsOf(fresh) !== wordsOf(token)
    if (changed) return (await reload()) ? "changed" : undefined
    token = fresh
    since = performance.now()
    return "same"
  }

  // Shows the questions of now, with the answers given so far. Consents are ticked anew.
  async function reload() {
    const res = await fetch(`${origin}/_ui/forms/form/${form.dataset.form}?lang=${language}`, { credentials: "omit" })
    if (!res.ok) return false
    const now = new DOMParser().parseFromString((await res.json()).html, "text/html").querySelector("form")!
    const shown = document.adoptNode(now.querySelector<HTMLElement>(".fields")!)
    // A page has the heading that a form begins with as its own.
    if (root === document && shown.firstElementChild?.matches(".title")) shown.firstElementChild.remove()
    const given = asked.given()
    form.querySelector(".fields")!.replaceWith(shown)
    asked.fill(given)
    token = (now.elements.namedItem("token") as HTMLInputElement).value
    since = performance.now()
    return true
  }

  async function send() {
    let res = await post()
    let refusal: Refusal = res.ok ? {} : await res.json().catch(() => ({}))
    if (refusal.code === "svc_invalid_token") {
      const words = await renew()
      if (words === "changed") return say(t("form_changed"))
      if (words === "same") {
        res = await post()
        refusal = res.ok ? {} : await res.json().catch(() => ({}))
      }
    }
    if (res.ok) return done((await res.json()).after_submit)
    if (res.status === 429) return say(wait(Number(res.headers.get("Retry-After") ?? refusal.data?.retry_after ?? 60)))
    if (res.status === 404) return say(t("form_gone"))
    if (res.status === 413) return say(t("form_large"))
    if (refusal.code === "svc_invalid_token") return say(t("form_again"))
    const problems = refusal.data?.details ?? {}
    const wrong = asked.wrong(problems)
    if (wrong.size > 0) return asked.point(wrong)
    say(problems.values?.code === "empty" ? why(problems.values, "", t) : t(res.status < 500 ? "form_again" : "form_failed"))
  }

  function done(after: AfterSubmit) {
    const away = after.type === "redirect" && /^https:\/\//.test(after.url)
    if (away && !preview) location.assign(after.url)
    const panel = form.querySelector<HTMLTemplateElement>("template.after")!.content.firstElementChild!.cloneNode(true) as HTMLElement
    panel.querySelector("p")!.textContent = away ? t("form_onward") : after.message || t("form_thanks")
    form.replaceWith(panel)
    panel.focus()
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (sending) return
    problem.hidden = true
    asked.clear()
    const wrong = asked.check()
    if (wrong.size > 0) return asked.point(wrong)
    if (preview) return done(preview)
    sending = true
    button.setAttribute("aria-disabled", "true")
    label.textContent = t("form_sending")
    void send().catch(() => say(t("form_failed"))).finally(() => {
      sending = false
      button.removeAttribute("aria-disabled")
      label.textContent = words
    })
  })
}
