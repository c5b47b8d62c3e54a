// The house has one direction: api, kit, the folders of the screens, app. A folder of screens knows no other but team, and no file needs
// itself by a detour. Dynamic imports and types count.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"

const src = fileURLToPath(new URL(".", import.meta.url))
const files = readdirSync(src, { recursive: true }).filter((f) => /\.tsx?$/.test(f) && !f.endsWith(".d.ts"))
const arrows = new Map(files.map((f) => [f, needs(f)]))

function needs(file) {
  const text = readFileSync(join(src, file), "utf8")
  return [...text.matchAll(/(?:^(?:import|export)\b[^"]*|\bimport\()"([.@]\/?[^"]*)"/gm)].flatMap(([, path]) => {
    const at = path.startsWith("@/") ? join(src, path.slice(2)) : join(src, dirname(file), path)
    const found = [".ts", ".tsx", ""].map((end) => at + end).find((p) => /\.(tsx?|json|css)$/.test(p) && existsSync(p))
    return found?.startsWith(src) && !found.endsWith(".d.ts") ? [relative(src, found)] : []
  })
}

const folder = (file) => file.split("/")[0]
const screens = new Set(files.map(folder).filter((f) => !["api", "kit", "app"].includes(f)))

test("no file needs itself", () => {
  const done = new Set()
  const walk = (file, way) => {
    assert.ok(!way.includes(file), [...way.slice(way.indexOf(file)), file].join(" -> "))
    if (done.has(file)) return
    for (const next of arrows.get(file) ?? []) walk(next, [...way, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
})

test("arrows go down", () => {
  const wrong = []
  for (const [file, all] of arrows) {
    const own = folder(file)
    const may = { api: ["api"], kit: ["api", "kit"], team: ["api", "kit", "team"], app: ["api", "kit", "parts", "views", "frame", "app", ...screens] }[own] ?? ["api", "kit", "team", own]
    for (const next of all) if (!may.includes(folder(next))) wrong.push(`${file} -> ${next}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(screens.size > 4, "the folders were read")
})

// Changes at a press, of what nobody types: an order, a switch, a step of an import or of the guide, a picture.
const pressed = ["booking/order.tsx", "contacts/guide.tsx", "contacts/import-repair.tsx", "contacts/import.tsx", "settings/apps.tsx", "settings/logo.tsx", "webhooks/data.ts"]

test("a record that is there changes by a draft, and by no form of its own", () => {
  const changing = files.map((f) => [f, readFileSync(join(src, f), "utf8")]).filter(([, text]) => /api\.(PATCH|PUT)\(/.test(text))
  const formOf = (text, from) => text.slice(from, text.indexOf("\n  })", from))
  const wrong = changing.filter(([f, text]) => {
    const forms = [...text.matchAll(/useForm\(async/g)].some(({ index }) => /api\.(PATCH|PUT)\(/.test(formOf(text, index)))
    return forms || (!pressed.includes(f) && !/use\w*Draft[(<]|<DocumentForm|Sending</.test(text))
  })
  assert.deepEqual(wrong.map(([f]) => f), [])
  assert.deepEqual(pressed.filter((f) => !changing.some(([c]) => c === f)), [], "every exception is needed")
})
