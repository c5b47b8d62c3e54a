// Builds the SDKs from an OpenAPI document: what is generated goes into the folders of the languages, beside what is written by hand.
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const here = dirname(fileURLToPath(import.meta.url))
export const work = join(here, "../../.run/clients")
export const samples = join(here, "../../services/settings/internal/settings/web/sample")
export const bin = (name) => join(here, "node_modules/.bin", name)
mkdirSync(work, { recursive: true })

/** Runs a command to its end: its output. It throws the output if the command fails, unless fails is allowed. */
export const run = (command, args, { cwd = here, env = {}, fails = false } = {}) =>
  new Promise((resolve, reject) => {
    let out = ""
    const p = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", fails ? "ignore" : "pipe"] })
    p.stdout.on("data", (d) => (out += d))
    p.stderr?.on("data", (d) => (out += d))
    p.once("error", reject)
    p.once("close", (code) => (code === 0 || fails ? resolve(out) : reject(new Error(`${command} ${args.join(" ")}\n${out}`))))
  })

/** The modules are outside go.work, and what they need stands in their go.sum. */
export const goEnv = { GOWORK: "off", GOFLAGS: "-mod=readonly -buildvcs=false -trimpath" }

/**
 * The document as a caller of an SDK sees it: errors are thrown, and so is a call that waits for a person, so no operation answers with them; and a parameter of a query is left
 * out or has a value, while the API also takes an empty one.
 */
function described(doc) {
  doc = structuredClone(doc)
  for (const operation of Object.values(doc.paths).flatMap((methods) => Object.values(methods))) {
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([status, { $ref }]) => !/^[45]/.test(status) && !$ref?.endsWith("/ApprovalNeeded")))
    for (const parameter of operation.parameters ?? []) {
      const [value, empty] = parameter.schema?.anyOf ?? []
      if (empty?.maxLength === 0) parameter.schema = value
      delete parameter.schema?.description // it stands at the parameter
    }
  }
  return doc
}

/** Every code of an error, as a type that admits the codes of later versions. */
function codes(doc) {
  const found = new Set()
  const look = (value) => {
    for (const { code } of value?.["x-codes"] ?? []) found.add(code)
    if (value && typeof value === "object") Object.values(value).forEach(look)
  }
  look(doc)
  return `/** The code of an error. Later versions have more. */\nexport type Code = ${[...found].sort().map((c) => JSON.stringify(c)).join(" | ")} | (string & {})\n`
}

/** Builds all three at once: a promise for each. */
export function build(doc) {
  const document = join(work, "sdk.json")
  writeFileSync(document, JSON.stringify(described(doc)))
  return { ts: ts(document, codes(doc)), go: go(document), python: python(document) }
}

async function ts(document, codes) {
  rmSync(join(here, "ts/dist"), { recursive: true, force: true })
  writeFileSync(join(here, "ts/codes.d.ts"), codes)
  copyFileSync(join(samples, "sdk/desk.ts"), join(here, "ts/sample.ts"))
  await run(bin("openapi-typescript"), [document, "-o", "ts/api.d.ts"])
  await run(bin("tsc"), ["-p", "ts/tsconfig.json"])
}

async function go(document) {
  const folder = join(here, "go")
  for (const name of ["api", "sample"]) mkdirSync(join(folder, name), { recursive: true })
  copyFileSync(join(samples, "sdk/desk.go"), join(folder, "sample/desk.go"))
  await run(process.env.OAPI_CODEGEN, ["-generate", "types,client", "-package", "api", "-o", "go/api/api.go", document])
  for (const [name, source] of [["story", "./story"], ["sample", "sample/desk.go"]]) await run("go", ["build", "-o", join(work, name), source], { cwd: folder, env: goEnv })
}

async function python(document) {
  const folder = join(here, "python/frontdesk")
  rmSync(folder, { recursive: true, force: true })
  const said = await run("openapi-python-client", ["generate", "--path", document, "--output-path", folder, "--meta", "none", "--config", join(here, "python/generator.yml")])
  // The generator knows no bodies of pictures, and takes the form with a file that stands beside them.
  const pictures = /WARNING parsing POST \/media within pictures\.\s+Unsupported content type image\/\w+/g
  const rest = said.replaceAll(pictures, "").replace("Warning(s) encountered while generating.", "")
  if (/warning|unable|error/i.test(rest)) throw new Error(said)
  for (const file of readdirSync(join(here, "python/layer"))) copyFileSync(join(here, "python/layer", file), join(folder, file))
}
