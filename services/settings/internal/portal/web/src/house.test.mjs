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

test("a change of a record that has a version names the version, or says that any will do", () => {
  const schema = readFileSync(join(src, "api/schema.d.ts"), "utf8")
  const versioned = new Set([...schema.matchAll(/^    "([\w-]+)": \{\n        parameters: \{[^]*?^        \};/gm)].filter(([text]) => text.includes('"If-Match"')).map(([, id]) => id))
  const paths = new Map([...schema.matchAll(/^    "(\/[^"]+)": \{\n([^]*?)^    \};/gm)].map(([, path, methods]) => [path, methods]))
  const asks = (method, path) => versioned.has(new RegExp(`^        ${method.toLowerCase()}: operations\\["([\\w-]+)"\\]`, "m").exec(paths.get(path) ?? "")?.[1])
  let seen = 0
  const wrong = files.flatMap((f) => [...readFileSync(join(src, f), "utf8").matchAll(/api\.(PATCH|PUT)\(["`]([^"`]+)["`](.*)/g)].filter(([, method, path, rest]) => {
    const at = path.replace("${kind}", "contacts").replace("${notePath}", "/{id}/notes/{note}")
    assert.ok(paths.has(at), `${f}: ${at}`)
    if (!asks(method, at)) return false
    seen++
    return !rest.includes("ifMatch(")
  }).map(([, method, path]) => `${f}: ${method} ${path}`))
  assert.deepEqual(wrong, [])
  assert.ok(seen > 25, `${seen} changes were found`)
})

test("what failed to load again hides nothing that is there", () => {
  // It is asked first whether there is something.
  const nothing = (q) => `!(${q}\\.data|shown)\\b`
  const asked = (before, q, after) => new RegExp(nothing(q)).test(before) || new RegExp(`^( && !\\w+)* && (${nothing(q)}|${q}\\.items\\.length === 0)`).test(after)
  const lines = files.flatMap((f) => readFileSync(join(src, f), "utf8").split("\n").map((line) => [f, line.trim()])).filter(([, line]) => line.includes("<Failed"))
  const wrong = lines.filter(([, line]) => [...line.matchAll(/(\w+)\.isError/g)].some((m) => !asked(line.slice(0, m.index), m[1], line.slice(m.index + m[0].length))))
  assert.ok(lines.length > 20)
  assert.deepEqual(wrong, [])
})

test("numbers and dates are written by the language, and never by a method that has one point for all", () => {
  assert.deepEqual(files.filter((f) => /\.(toFixed|toLocaleString|toLocaleDateString|toLocaleTimeString)\(/.test(readFileSync(join(src, f), "utf8"))), [])
})

test("no two places of the navigation have one icon", () => {
  const icons = [...readFileSync(join(src, "app/screens.ts"), "utf8").matchAll(/icon: (\w+), menu:/g)].map(([, icon]) => icon)
  assert.deepEqual(icons.filter((icon, i) => icons.indexOf(icon) !== i), [])
  assert.ok(icons.length > 12)
})

test("each key of a screen stands in the help", () => {
  const shown = new Set([...readFileSync(join(src, "app/key-help.tsx"), "utf8").matchAll(/\[\[([^\]]+)\], "frame\.keys/g)].flatMap(([, names]) => [...names.matchAll(/"([^"]+)"/g)].map(([, name]) => ({ "←": "ArrowLeft", "→": "ArrowRight" })[name] ?? name)))
  const used = new Set(files.filter((f) => f !== "kit/keys.ts").flatMap((f) => [...readFileSync(join(src, f), "utf8").matchAll(/useKeys\((?!events)[^]*?\)\n/g)].flatMap(([call]) => [...call.matchAll(/[{,]\s*"?(\w|[/?]|Arrow\w+)"?: ?(?=\(\) =>|\w)/g)].map(([, key]) => key))))
  assert.deepEqual([...used].filter((key) => !shown.has(key)), [])
  assert.ok(used.size >= 12, [...used].join())
})

// Changes at a press, of what nobody types: a switch, a step of an import or of the guide, a picture.
const pressed = ["contacts/guide.tsx", "contacts/import-repair.tsx", "contacts/import.tsx", "settings/apps.tsx", "settings/logo.tsx", "webhooks/data.ts"]

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
