// <svc-form form="3">: a form on any site. The server renders it, in the language of the page around; this puts it into a
// shadow root with the shared style sheet. Until then, and when no answer comes, the element's own content stays; once the browser is
// online again, it is asked for again. <script type="application/json">{"given": {"contact.email": "…"}}</script> inside it fills in what the page around
// knows of its visitor. preview shows a form that is not on the server, which is never sent.
import css from "@web/../css/card.css"
import { sheetOf } from "@web/sheet"
import { applyLook, type Site } from "@web/style"
import { languageOf } from "@web/text"
import { enhance, type AfterSubmit } from "./send"

const origin = new URL(import.meta.url).origin
const sheet = sheetOf(css)

// The text for a form that the server does not have.
const gone: Record<string, string> = {
  en: "This form is not available at the moment.",
  nl: "Dit formulier is op dit moment niet beschikbaar.",
  fr: "Ce formulaire n’est pas disponible pour le moment.",
  de: "Dieses Formular ist zurzeit nicht verfügbar.",
}

interface Fragment { html: string; site: Site }

class FormElement extends HTMLElement {
  #shown = false

  async connectedCallback() {
    if (this.#shown) return
    this.#shown = true
    const language = languageOf(this)
    try {
      const id = encodeURIComponent(this.getAttribute("form") ?? "")
      const answer = await fetch(`${origin}/_ui/forms/form/${id}?lang=${language}`, { credentials: "omit" })
      if (answer.ok) this.#show(await answer.json(), language)
      else if (answer.status === 404) this.#show(undefined, language)
      else this.#shown = false
    } catch {
      this.#shown = false
      window.addEventListener("online", () => this.isConnected && this.connectedCallback(), { once: true })
    }
  }

  /** Shows the answer of POST /v1/forms/preview. Its button checks the answers and shows what comes after sending. */
  preview(fragment: Fragment, after: AfterSubmit) {
    this.#shown = true
    this.#show(fragment, "", after)
  }

  #show(fragment: Fragment | undefined, language: string, after?: AfterSubmit) {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" })
    if (!fragment) {
      const line = document.createElement("p")
      line.lang = language
      line.textContent = gone[language]!
      root.append(line)
      return
    }
    const parsed = new DOMParser().parseFromString(fragment.html, "text/html")
    const card = document.adoptNode(parsed.body.firstElementChild as HTMLElement)
    applyLook(card, fragment.site.look, origin)
    root.adoptedStyleSheets = [sheet]
    root.replaceChildren(card)
    const held = this.querySelector('script[type="application/json"]')?.textContent
    enhance(card.querySelector("form")!, root, origin, after, held ? JSON.parse(held).given : undefined)
  }
}

if (!customElements.get("svc-form")) customElements.define("svc-form", FormElement)
