// The questions of a form as the server draws them (page/parts.html), in pages and in widgets: reads the answers, and marks what is wrong
// with them where they stand.
import { keyOf, why, type Problems } from "./problem"
import type { T } from "./text"

/** What controls held, by name and for ticks by value. */
export type Given = Map<string, string | boolean>

/** What the page around a widget knows of its visitor, by target. */
export type Known = Record<string, string>

/** Wrong answers, by their field. */
export type Wrong = Map<HTMLElement, string>

const controls = (field: Element) => [...field.querySelectorAll<HTMLInputElement>("input, select, textarea")]
const key = (c: HTMLInputElement) => c.name + (c.type === "checkbox" ? " " + c.value : "")

/** box holds the parts "summary" and "fields". */
export function questions(box: HTMLElement, t: T) {
  const fields = () => [...box.querySelectorAll<HTMLElement>("[data-field]")]
  const summary = box.querySelector<HTMLElement>(".summary")!

  function mark(field: HTMLElement, error: string) {
    field.classList.toggle("invalid", error !== "")
    field.querySelector(".error-text")!.textContent = error
    field.querySelector<HTMLElement>(".error")!.hidden = !error
    for (const c of controls(field)) {
      if (error) c.setAttribute("aria-invalid", "true")
      else c.removeAttribute("aria-invalid")
    }
  }

  // What is being mended is not wrong any more.
  box.addEventListener("input", (event) => {
    const field = (event.target as Element).closest<HTMLElement>(".invalid")
    if (field) mark(field, "")
  })

  return {
    /** The element that asks for a target; "" for none. */
    of: (target: string) => fields().find((f) => f.dataset.target === target)?.dataset.field ?? "",

    clear() {
      summary.hidden = true
      fields().forEach((f) => mark(f, ""))
    },

    /** Marks wrong answers. One takes the focus; more are listed, and the list takes it. */
    point(wrong: Wrong) {
      const inOrder = fields().filter((f) => wrong.has(f))
      inOrder.forEach((f) => mark(f, wrong.get(f)!))
      if (inOrder.length === 1) return controls(inOrder[0]!)[0]?.focus()
      summary.querySelector("ul")!.replaceChildren(...inOrder.map((f) => {
        const [first] = controls(f)
        const link = document.createElement("a")
        link.href = "#" + first?.id
        link.textContent = f.dataset.caption!.replace(/[^?!.:]$/, "$&:") + " " + wrong.get(f)
        // An address with a fragment leads nowhere inside a shadow root.
        link.onclick = (event) => (event.preventDefault(), first?.focus())
        const item = document.createElement("li")
        item.append(link)
        return item
      }))
      summary.querySelector("strong")!.textContent = t("fix", { n: inOrder.length })
      summary.hidden = false
      summary.focus()
    },

    /** What the browser can tell without asking: what is missing, and addresses that are none. */
    check() {
      const wrong: Wrong = new Map()
      for (const f of fields()) {
        const all = controls(f)
        const first = all[0]
        const bad = first?.validity.badInput
        const filled = all.some((c) => (c.type === "checkbox" ? c.checked : c.value.trim()))
        const code = f.dataset.required !== undefined && !filled && !bad ? "required" : first?.type === "email" && first.validity.typeMismatch ? "email" : bad ? "date" : ""
        if (code) wrong.set(f, why({ code }, f.dataset.kind!, t))
      }
      return wrong
    },

    /** What the API finds wrong with answers, by what it calls them. A parameter of its own has the name of its target. */
    wrong(problems: Problems) {
      const wrong: Wrong = new Map()
      for (const [name, problem] of Object.entries(problems)) {
        const called = keyOf(name)
        const f = fields().find(({ dataset: { field, target } }) => (called === name ? target === name : field === called || target === called))
        if (f) wrong.set(f, why(problem, f.dataset.kind!, t))
      }
      return wrong
    },

    /** The answers as the API takes them, by element. Most of our languages write a number with a comma. */
    values() {
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
        } else if (value.trim()) out[id] = f.dataset.kind === "number" ? value.replace(/^\s*(-?\d+),(\d+)\s*$/, "$1.$2") : value
      }
      return out
    },

    /** What is filled in and ticked, to be filled in again. Consents are ticked anew. */
    given(): Given {
      return new Map(fields().filter((f) => f.dataset.kind !== "consent").flatMap(controls).map((c) => [key(c), c.type === "checkbox" ? c.checked : c.value]))
    },

    fill(given: Given) {
      for (const c of fields().flatMap(controls)) {
        const was = given.get(key(c))
        if (typeof was === "string") c.value = was
        else if (was) c.checked = true
      }
    },

    /** Fills in what is known and not typed yet. */
    offer(known: Known = {}) {
      for (const f of fields()) {
        const [c] = controls(f)
        const value = known[f.dataset.target!]
        if (c && !c.value && typeof value === "string") c.value = value
      }
    },
  }
}
