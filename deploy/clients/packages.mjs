// The SDKs as files: an npm tarball, a wheel and a source distribution, and a Go module as a module proxy serves it.
import { createHash } from "node:crypto"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { goEnv, here, run, work } from "./build.mjs"

const root = join(here, "../..")
const version = /Number = "([^"]+)"/.exec(readFileSync(join(root, "libs/version/version.go"), "utf8"))[1]
const module = "frontdesk.internal/sdk"

/** Files of a folder and below it, by their paths in it. */
const files = (folder) => readdirSync(folder, { recursive: true }).filter((f) => statSync(join(folder, f)).isFile()).sort()

/** An empty folder with copies of these files and folders of another one. */
function stage(name, from, paths) {
  const to = join(work, "stage", name)
  rmSync(to, { recursive: true, force: true })
  for (const path of paths) cpSync(join(from, path), join(to, path), { recursive: true, filter: (f) => !f.includes("__pycache__") })
  return to
}

const replace = (file, change) => writeFileSync(file, change(readFileSync(file, "utf8")))

/** Writes the packages of what is built into a folder, with their sums. The bytes depend on the document and the version alone. */
export async function pack(folder) {
  const to = resolve(root, folder)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })

  const ts = stage("ts", join(here, "ts"), ["package.json", "README.md", "dist/index.js", "dist/index.d.ts"])
  for (const name of ["api.d.ts", "codes.d.ts"]) cpSync(join(here, "ts", name), join(ts, "dist", name))
  replace(join(ts, "package.json"), (text) => text.replace("0.0.0", version))
  const python = stage("python", join(here, "python"), ["pyproject.toml", "README.md", "frontdesk"])
  replace(join(python, "pyproject.toml"), (text) => text.replace("0.0.0", version))
  const go = stage("go", join(here, "go"), ["go.mod", "go.sum", "README.md", "frontdesk.go", "api"])
  await Promise.all([
    run("npm", ["pack", "--pack-destination", to], { cwd: ts }),
    run("python", ["-m", "hatchling", "build", "-d", to], { cwd: python }),
    run("go", ["run", "./deploy/release/module", "-path", module, "-version", "v" + version, "-from", go, "-to", join(to, "go")], { cwd: root }),
  ])
  const sum = (file) => createHash("sha256").update(readFileSync(join(to, file))).digest("hex")
  writeFileSync(join(to, "SHA256SUMS"), files(to).map((file) => `${sum(file)}  ${file}\n`).join(""))
}

/** The program that a package's README begins with, for a client of its own. */
const program = (language) => /```\w+\n([^]*?)```/.exec(readFileSync(join(here, language, "README.md"), "utf8"))[1].replace("ada@", `ada.${language}@`)

/** Installs each package into an empty project, and runs there, one after the other, the program that its README begins with. */
export async function install(folder, env) {
  const from = resolve(root, folder)
  const all = files(from)
  const file = (ending) => join(from, all.find((f) => f.endsWith(ending)))
  const project = () => mkdtempSync(join(tmpdir(), "sdk-"))
  const folders = { ts: project(), wheel: project(), source: project(), go: project() }
  const ts = async (cwd) => {
    writeFileSync(join(cwd, "package.json"), '{ "type": "module" }')
    writeFileSync(join(cwd, "book.js"), program("ts"))
    await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", file(".tgz")], { cwd })
    return () => run(process.execPath, ["book.js"], { cwd, env })
  }
  const python = async (cwd, ending) => {
    writeFileSync(join(cwd, "book.py"), program("python"))
    await run("python3", ["-m", "venv", "venv"], { cwd })
    await run("venv/bin/pip", ["install", "--quiet", "--disable-pip-version-check", file(ending)], { cwd })
    return () => run("venv/bin/python", ["book.py"], { cwd, env })
  }
  const go = async (cwd) => {
    const proxy = (await run("go", ["env", "GOPROXY"])).trim()
    const options = { cwd, env: { ...env, GOWORK: "off", GOFLAGS: "-modcacherw", GOPROXY: `file://${join(from, "go")},${proxy}`, GONOSUMDB: module, GOMODCACHE: join(cwd, "cache") } }
    writeFileSync(join(cwd, "main.go"), program("go"))
    await run("go", ["mod", "init", "example.test/book"], options)
    await run("go", ["get", `${module}@v${version}`], options)
    return () => run("go", ["run", "."], options)
  }
  try {
    const [inTS, inPython, , inGo] = await Promise.all([ts(folders.ts), python(folders.wheel, ".whl"), python(folders.source, ".tar.gz"), go(folders.go)])
    for (const book of [inTS, inPython, inGo]) await book()
  } finally {
    for (const cwd of Object.values(folders)) rmSync(cwd, { recursive: true, force: true })
  }
}
