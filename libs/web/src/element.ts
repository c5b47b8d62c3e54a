// The base of the widgets: an open shadow root with the shared style sheet, shown in place of what the element held.
import { h, render, type ComponentType } from "preact"
import css from "../css/card.css"
import { sheetOf } from "./sheet"
import { languageOf, type Texts } from "./text"

export interface Mount {
  /** Where this script came from: the site's API and assets. */
  origin: string
  language: string
  texts: Texts
}

const sheet = sheetOf(css)

/** Defines tag. The element keeps its own content until texts are there and prepare has settled; prepare's answer goes to the
 * component. When the texts cannot be loaded, or prepare fails, the content stays until the browser is online again. */
export function define<P>(tag: string, origin: string, load: (language: string) => Promise<Texts>, prepare: (host: HTMLElement) => Promise<P>, view: ComponentType<{ mount: Mount; data: P }>) {
  if (customElements.get(tag)) return
  customElements.define(
    tag,
    class extends HTMLElement {
      #started = false
      async connectedCallback() {
        if (this.#started) return
        this.#started = true
        const language = languageOf(this)
        try {
          const [texts, data] = await Promise.all([load(language), prepare(this)])
          const root = this.attachShadow({ mode: "open" })
          root.adoptedStyleSheets = [sheet]
          this.setAttribute("lang", language)
          render(h(view, { mount: { origin, language, texts }, data }), root)
        } catch {
          this.#started = false
          window.addEventListener("online", () => this.isConnected && this.connectedCallback(), { once: true })
        }
      }
    },
  )
}
