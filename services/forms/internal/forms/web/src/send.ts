// Makes a form that the server rendered send itself without leaving the page. The words, the rules and the markup are the
// server's; here is only what happens between the press of the button and the answer.

import { newKey } from "@web/api"

interface Texts { [key: string]: string }
interface Refusal { code?: string; data?: { params?: Record<string, string>; retry_after?: number } }

const tokenAge = 3100 // the server takes no token that is younger than three seconds

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

// enhance takes over a form inside root. api is the address before /forms/{id}/submit.
export function enhance(form: HTMLFormElement, root: Document | ShadowRoot, api: string): void {
  const text: Texts = JSON.parse(form.dataset.text ?? "{}")
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]")!
  const label = button.querySelector<HTMLElement>(".label-text")!
  const problem = form.querySelector<HTMLElement>(".problem")!
  const summary = form.querySelector<HTMLElement>(".summary")!
  const words = label.textContent
  let token = (form.elements.namedItem("token") as HTMLInputElement).value
  let since = performance.now()
  let sending = false
  let attempt = { body: "", key: "" }
  form.noValidate = true

  const fields = () => form.querySelectorAll<HTMLElement>("[data-field]")
  const controls = (field: HTMLElement) => [...field.querySelectorAll<HTMLInputElement>("input, select, textarea")]

  function mark(field: HTMLElement, error: string) {
    field.classList.toggle("invalid", error !== "")
    field.querySelector(".error-text")!.textContent = error
    field.querySelector<HTMLElement>(".error")!.hidden = error === ""
    for (const c of controls(field)) {
      if (error) c.setAttribute("aria-invalid", "true")
      else c.removeAttribute("aria-invalid")
    }
  }

  function say(words: string) {
    problem.querySelector("p")!.textContent = words
    problem.hidden = words === ""
    if (words) problem.focus()
  }

  function clear() {
    problem.hidden = summary.hidden = true
    fields().forEach((f) => mark(f, ""))
  }

  // One wrong answer is gone to; more are listed, and the list is gone to.
  function point(wrong: Map<HTMLElement, string>) {
    const inOrder = [...fields()].filter((f) => wrong.has(f))
    inOrder.forEach((f) => mark(f, wrong.get(f)!))
    if (inOrder.length === 1) return controls(inOrder[0]!)[0]?.focus()
    const list = summary.querySelector("ul")!
    list.replaceChildren(...inOrder.map((f) => {
      const link = document.createElement("a")
      link.href = "#" + (controls(f)[0]?.id ?? "")
      link.textContent = (f.dataset.caption ?? "").replace(/[^?!.:]$/, "$&:") + " " + wrong.get(f)
      const item = document.createElement("li")
      item.append(link)
      return item
    }))
    summary.hidden = false
    summary.focus()
  }

  // What the browser can tell without asking: what is missing, and addresses that are none.
  function check() {
    const wrong = new Map<HTMLElement, string>()
    for (const f of fields()) {
      const all = controls(f)
      const tick = all[0]?.type === "checkbox"
      const filled = tick ? all.some((c) => c.checked) : all.some((c) => c.value.trim() !== "")
      if (f.dataset.required !== undefined && !filled) {
        wrong.set(f, text[missing(f)] ?? "")
      } else if (all[0]?.type === "email" && all[0].validity.typeMismatch) {
        wrong.set(f, text.email ?? "")
      } else if (all[0]?.validity.badInput) {
        wrong.set(f, text.date ?? "")
      }
    }
    return wrong
  }

  const missing = (f: HTMLElement) => ({ consent: "ticked", checkbox: "ticked", choices: "option", dropdown: "option" })[f.dataset.kind!] ?? "given"

  function values() {
    const out: Record<string, unknown> = {}
    for (const f of fields()) {
      const id = f.dataset.field!
      const all = controls(f)
      const value = all[0]?.value ?? ""
      if (f.dataset.kind === "choices") {
        const picked = all.filter((c) => c.checked).map((c) => c.value)
        if (picked.length > 0) out[id] = picked
      } else if (all[0]?.type === "checkbox") {
        if (all[0].checked) out[id] = true
      } else if (value.trim() !== "") {
        out[id] = f.dataset.kind === "number" ? value.replace(/^\s*(-?\d+),(\d+)\s*$/, "$1.$2") : value
      }
    }
    return out
  }

  const wait = (seconds: number) => seconds > 90
    ? (text.minutes ?? "").replace("{n}", String(Math.ceil(seconds / 60)))
    : (text.seconds ?? "").replace("{n}", String(Math.max(2, seconds)))

  async function post(): Promise<Response> {
    await pause(tokenAge - (performance.now() - since))
    const trap = (form.elements.namedItem("hp_url") as HTMLInputElement).value
    const body = JSON.stringify({ values: values(), token, hp_url: trap, page: location.href.split("#")[0] })
    // The same words sent twice, because an answer was lost, count once.
    if (attempt.body !== body) attempt = { body, key: newKey() }
    return fetch(`${api}/forms/${form.dataset.form}/submit`, {
      method: "POST", credentials: "omit", body, headers: { "Content-Type": "application/json", "Idempotency-Key": attempt.key },
    })
  }

  async function renew() {
    const res = await fetch(`${api}/forms/${form.dataset.form}/token`, { credentials: "omit" })
    if (!res.ok) return false
    token = (await res.json()).token
    since = performance.now()
    return true
  }

  async function send() {
    let res = await post()
    let refusal: Refusal = res.ok ? {} : await res.json().catch(() => ({}))
    if (refusal.code === "svc_invalid_token" && await renew()) {
      res = await post()
      refusal = res.ok ? {} : await res.json().catch(() => ({}))
    }
    if (res.ok) return done((await res.json()).after_submit)
    if (res.status === 429) return say(wait(Number(res.headers.get("Retry-After") ?? refusal.data?.retry_after ?? 60)))
    if (res.status === 404) return say(text.gone ?? "")
    if (res.status === 413) return say(text.large ?? "")
    if (refusal.code === "svc_invalid_token") return say(text.again ?? "")
    const wrong = new Map<HTMLElement, string>()
    for (const [name, why] of Object.entries(refusal.data?.params ?? {})) {
      const key = name.replace(/^values\./, "")
      const f = [...fields()].find((f) => f.dataset.field === key || f.dataset.target === key)
      if (f) wrong.set(f, why === "must be given" ? text[missing(f)] ?? "" : reason(why))
    }
    if (wrong.size > 0) return point(wrong)
    say((res.status < 500 ? text.again : text.failed) ?? "")
  }

  // The server says what is wrong in English; the words of the visitor came with the form.
  function reason(why: string) {
    const long = /^must have at most (\d+) characters$/.exec(why)
    return long ? (text.long ?? "").replace("{n}", long[1]!) : text["=" + why] ?? text.other ?? ""
  }

  function done(after: { type: string; message: string; url: string }) {
    const away = after.type === "redirect" && /^https:\/\//.test(after.url)
    if (away) location.assign(after.url)
    const panel = form.querySelector<HTMLTemplateElement>("template.after")!.content.firstElementChild!.cloneNode(true) as HTMLElement
    panel.querySelector("p")!.textContent = away ? text.onward ?? "" : after.message || (text.thanks ?? "")
    form.replaceWith(panel)
    panel.focus()
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    if (sending) return
    clear()
    const wrong = check()
    if (wrong.size > 0) return point(wrong)
    sending = true
    button.setAttribute("aria-disabled", "true")
    label.textContent = text.sending ?? words
    try {
      await send()
    } catch {
      say(text.failed ?? "")
    } finally {
      sending = false
      button.removeAttribute("aria-disabled")
      label.textContent = words
    }
  })

  form.addEventListener("input", (event) => {
    const field = (event.target as Element).closest<HTMLElement>("[data-field].invalid")
    if (field) mark(field, "")
  })

  // An address with a fragment leads nowhere inside a shadow root.
  summary.addEventListener("click", (event) => {
    const link = (event.target as Element).closest("a")
    if (!link) return
    event.preventDefault()
    root.getElementById(link.hash.slice(1))?.focus()
  })
}
