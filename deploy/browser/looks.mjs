// What axe has found nothing in, once on a machine: the structure of a page, in its styles, colours and width. Texts and lengths of lists differ in each run
// and count by whether and how much there is, so a page that was looked at before is recognised. It is kept in $TOOLS, which may be deleted at any time.
import { createHash, randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"

const folder = join(process.env.TOOLS ?? process.env.FRONTDESK_TOOLS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "frontdesk"), "passed")
const { version } = createRequire(import.meta.url)("axe-core/package.json")
const self = readFileSync(new URL(import.meta.url))

/** The text of a style sheet by its address. One that cannot be read is another one each time, so its page is looked at. */
const sheets = new Map()
const sheet = (url) => {
  if (!sheets.has(url)) sheets.set(url, fetch(url).then((a) => a.text(), () => randomUUID()))
  return sheets.get(url)
}

/**
 * What has been looked at by rules: known says whether it was found good before, and passed notes that it was now. browser is its version.
 */
export async function look(page, what, browser) {
  const { structure, styles } = await page.evaluate(describe)
  const sum = createHash("sha256").update(JSON.stringify([version, browser, what, structure])).update(self)
  for (const s of styles) sum.update(s.href ? await sheet(s.href) : s.text)
  const file = join(folder, "axe-" + sum.digest("hex").slice(0, 32))
  return {
    known: existsSync(file),
    passed() {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, "")
    },
  }
}

/** The page as it stands, without what differs in each run. It runs in the page. */
function describe() {
  const styles = []
  const size = (text) => (text.trim() === "" ? "" : "~" + Math.ceil(Math.log2(text.trim().length + 1)))
  const verbatim = new Set(["class", "lang", "role", "type", "tabindex", "autocomplete", "scope", "dir", "charset", "rel", "colspan", "rowspan", "viewBox"])
  const references = new Set(["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-activedescendant", "aria-errormessage", "headers", "list", "form"])
  // An id counts by how many elements have it, and how many refer to it by each attribute; a reference by whether it leads anywhere.
  const uses = (root) => {
    const all = new Map()
    const count = (id, how) => all.set(id, { ...all.get(id), [how]: (all.get(id)?.[how] ?? 0) + 1 })
    for (const e of root.querySelectorAll("*")) for (const { name, value } of e.attributes) {
      if (name === "id") count(value, name)
      else if (references.has(name)) for (const id of value.split(/\s+/)) count(id, name)
    }
    return all
  }
  const used = new Map()
  const use = (e, id) => {
    const root = e.getRootNode()
    if (!used.has(root)) used.set(root, uses(root))
    return used.get(root).get(id) ?? {}
  }
  const states = [":hover", ":focus", ":focus-visible", ":checked", ":indeterminate", ":disabled", ":invalid", ":placeholder-shown", ":modal", ":popover-open"]
  const value = (e, name, text) => {
    if (verbatim.has(name) || e.name === "viewport") return text
    if (name === "id") return Object.entries(use(e, text)).sort().join(" ")
    if (references.has(name)) return text.split(/\s+/).map((id) => use(e, id).id ?? 0).join(" ")
    // Where something stands and how large it is, as in a calendar; not its colour, nor its letters.
    if (name === "style") return text.replaceAll(/(^|;)\s*(top|left|right|bottom|inset[\w-]*|width|height|transform|--ec-[\w-]+):[^;]*/g, "$1$2")
    return name.startsWith("aria-") && /^[a-z-]*$/.test(text) ? text : size(text)
  }
  const of = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return size(node.data)
    if (node.nodeType !== Node.ELEMENT_NODE) return ""
    if (node.localName === "style") {
      styles.push({ text: node.textContent })
      return ""
    }
    if (node.localName === "link" && node.sheet) styles.push({ href: node.href })
    if (["script", "path", "circle", "rect", "line", "polyline"].includes(node.localName)) return node.localName
    const attributes = [...node.attributes].map((a) => a.name + "=" + value(node, a.name, a.value)).sort()
    const is = states.filter((s) => node.matches(s))
    const inside = []
    for (const root of node.shadowRoot ? [node.shadowRoot, node] : [node]) {
      for (const s of root.adoptedStyleSheets ?? []) styles.push({ text: [...s.cssRules].map((r) => r.cssText).join("") })
      // Rows that are alike count once.
      const known = new Set()
      for (const child of root.childNodes) {
        const one = of(child)
        if (one && !known.has(one)) inside.push(one)
        known.add(one)
      }
    }
    return `<${node.localName} ${attributes.join(" ")}${is.join("")}>${inside.join("")}</>`
  }
  const asked = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-reduced-motion: reduce)", "(pointer: coarse)", "(any-hover: hover)"].map((q) => matchMedia(q).matches)
  const structure = [of(document.documentElement), !!document.title, innerWidth, devicePixelRatio, asked].join("\n")
  return { structure, styles }
}
