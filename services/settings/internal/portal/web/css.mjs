// Holds every screen to its stylesheets, so that it looks the same whichever came before it: a class that a sheet of an app defines stands
// only in screens that load the sheet, and no second sheet defines it. Ends with 1 when one does not.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const src = fileURLToPath(new URL("src", import.meta.url))
const files = readdirSync(src, { recursive: true }).map((f) => join(src, f))
const name = (f) => relative(src, f)
let wrong = 0
const say = (text) => (console.error(text), wrong++)

/** The sheets that mention each class. */
const sheets = new Map()
const defined = new Map()
for (const f of files.filter((f) => f.endsWith(".css"))) {
  const text = readFileSync(f, "utf8").replace(/\/\*[^]*?\*\//g, "")
  for (const [, c] of text.matchAll(/\.([a-z][\w-]*)/gi)) sheets.set(c, (sheets.get(c) ?? new Set()).add(f))
  for (const [, c] of text.matchAll(/^\.([a-z][\w-]*) \{/gim)) {
    if (defined.has(c) && defined.get(c) !== f) say(`.${c} is defined in ${name(defined.get(c))} and in ${name(f)}`)
    defined.set(c, f)
  }
}

const modules = new Map()
for (const f of files.filter((f) => /\.tsx?$/.test(f))) {
  const text = readFileSync(f, "utf8")
  const at = (path) => [".tsx", ".ts", ""].map((end) => (path.startsWith("@/") ? join(src, path.slice(2)) : join(dirname(f), path)) + end).find((p) => existsSync(p))
  const imports = [...text.matchAll(/^(?:import|export) (?!type)(?:[^"]* from )?"([.@]\/?[^"]+)"/gm)].map((m) => at(m[1])).filter(Boolean)
  const later = [...text.matchAll(/\bimport\("([^"]+)"\)/g)].map((m) => at(m[1])).filter(Boolean)
  // Of an expression, the words in its quotes; a template's word that goes on in an expression is left out.
  const quoted = (code) => [...code.matchAll(/"([^"]*)"|`([^`]*)`/g)].map(([, plain, template]) => plain ?? template.replace(/[\w-]*\$\{[^}]*\}?[\w-]*/g, " ")).join(" ")
  const words = new Set([...text.matchAll(/className=(?:"([^"]*)"|\{((?:`[^`]*`|[^}`])*)\})/g)].flatMap(([, plain, code]) => (plain ?? quoted(code)).match(/[a-z][\w-]*/gi) ?? []))
  modules.set(f, { imports, later, words })
}

/** A module and all that loads with it. */
function closure(f, all = new Set()) {
  if (all.has(f)) return all
  all.add(f)
  for (const i of modules.get(f)?.imports ?? []) closure(i, all)
  return all
}

const always = closure(join(src, "app/main.tsx"))
const screens = new Set(modules.get(join(src, "app/screens.ts")).later)
for (const screen of screens) {
  const loaded = closure(screen)
  // Parts of a screen that come later find what the screen has loaded.
  const parts = new Set(loaded)
  for (const f of loaded) for (const part of modules.get(f)?.later ?? []) if (!screens.has(part)) closure(part, parts)
  for (const f of parts) {
    for (const c of modules.get(f)?.words ?? []) {
      const of = sheets.get(c)
      if (!of || [...of].some((s) => parts.has(s) || always.has(s))) continue
      say(`${name(screen)} shows .${c} (${name(f)}) and does not load ${[...of].map(name).join(" or ")}`)
    }
  }
}
if (screens.size === 0) throw new Error("no screen was found")
process.exit(wrong > 0 ? 1 : 0)
