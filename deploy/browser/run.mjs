// Runs every *.test.mjs beside this file, or those whose names begin with an argument. Two systems at once take one file after the
// other, the longest first: most of the time a test waits for its page. A system runs one file at a time, so a file may switch apps off.
// A third system is there for the page for operators, and for signing in at a provider. When it is done one like the two others takes its place,
// because two files alone leave a third of two processors idle.
//
// It ends with a line of seconds per file, the five slowest tests, and a line "FAILED file: test" per test that failed. The status is 0
// if every test passed. --keep-seconds writes what was measured to seconds.json, which orders the files.
import { spawn } from "node:child_process"
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { client, startProvider } from "./provider.mjs"
import { start } from "./system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const { values: options, positionals: wanted } = parseArgs({ allowPositionals: true, options: { "keep-seconds": { type: "boolean" } } })
const measured = JSON.parse(readFileSync(join(here, "seconds.json"), "utf8"))
// The demo waits for other processes most of the time, so it leaves the processors to the file beside it. A new file counts as long.
const seconds = (file) => (file === "demo.test.mjs" ? Infinity : (measured[file] ?? 1e6))
const files = readdirSync(here)
  .filter((f) => f.endsWith(".test.mjs") && (wanted.length === 0 || wanted.some((w) => f.startsWith(w))))
  .sort((a, b) => seconds(b) - seconds(a) || a.localeCompare(b))
if (files.length === 0) {
  console.error("No test file begins with " + wanted.join(" or "))
  process.exit(1)
}
// What a system does while nobody asks it for anything takes a sixteenth of a processor, a little less with the two partitions of a topic that it has
// here than with four. The page for operators waits for what the controller measures, which takes a twentieth each second.
// That system is also the one whose team signs in at a provider.
const apart = (file) => ["operators.test.mjs", "organization.test.mjs"].includes(file)
const others = files.filter((f) => !apart(f))
const provider = files.some(apart) && !process.env.E2E_DATA_DIR && (await startProvider())
const lanes = process.env.E2E_DATA_DIR ? [{ files }]
  : [{ files: others }, { files: files.filter(apart), then: others, variables: { SVC_MEASURE_EVERY: "1s",
    ...(provider && { SVC_OIDC_ISSUER: provider.issuer, SVC_OIDC_CLIENT_ID: client.id, SVC_OIDC_CLIENT_SECRET: client.secret, SVC_OIDC_NAME: "Contoso", SVC_OIDC_ROLES: "desk=staff" }) } }, { files: others }]

const running = new Set()
/** Sends a signal to a lane's process and to those it has started, if it still runs. */
const end = (lane, signal) => lane.exitCode === null && lane.signalCode === null && process.kill(-lane.pid, signal)
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const { files } of lanes) files.length = 0
    for (const lane of running) end(lane, signal)
  })
}

/** Files that have ended: name, seconds, and their tests as report.mjs sends them. What fails outside of them is a test that is called "(the file)". */
const ended = []

/** A file in which no test has ended for so long hangs. The longest test takes a tenth of it. */
const patience = 300_000

/** Runs files against the system of a data folder, and stops it. */
async function follow({ dir, stop }, files) {
  try {
    while (files.length > 0) await together(files, dir)
  } finally {
    await stop()
  }
}

/** What a system has warned of since a time: the lines of its logs. */
const warned = (dir, since) => readdirSync(join(dir, "log")).map((f) => readFileSync(join(dir, "log", f), "utf8")).flatMap((log) => log.split("\n"))
  .filter((line) => /"level":"(warn|error)"/i.test(line) && (/"time":"([^"]+)"/.exec(line)?.[1] ?? "") >= since).map((line) => line + "\n").join("")

/** Runs files in one process until one of them hangs or breaks it, and prints what came of each at its end. */
async function together(files, dir) {
  const args = ["--test-reporter=" + join(here, "report.mjs"), ...(process.env.TEST_NAME ? ["--test-name-pattern", process.env.TEST_NAME] : []), join(here, "lane.mjs")]
  const lane = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"], env: { ...process.env, E2E_DATA_DIR: dir } })
  running.add(lane)
  // Node.js tells of the end of its output ("close") no more after disconnect(), so what it has said last gets a moment.
  const gone = new Promise((resolve) => lane.once("exit", (code, signal) => setTimeout(resolve, 100, `its process ended with ${signal ?? "status " + code}`)))
  let said = ""
  for (const stream of [lane.stdout, lane.stderr]) stream.on("data", (text) => (said += text))
  for (let file; lane.connected && (file = files.shift()); ) {
    said = file + "\n"
    const tests = []
    const [began, since] = [performance.now(), new Date().toISOString()]
    let hangs
    const over = new Promise((resolve) => {
      hangs = setTimeout(() => {
        resolve(`no test of it has ended for ${patience / 1000} s`)
        end(lane, "SIGKILL")
      }, patience)
      lane.removeAllListeners("message").on("message", (test) => {
        hangs.refresh()
        if (!test.name) return resolve(test.error)
        tests.push(test)
        said += `${test.error ? "✖" : test.skipped ? "﹣" : "✔"} ${test.name} (${(test.seconds * 1000).toFixed(1)}ms)\n${test.error ? test.error + "\n" : ""}`
      })
      void gone.then(resolve)
    })
    lane.send(file, () => {}) // one that is not sent has lost its process
    // A process may end by what the last test has left behind.
    const error = (await over) ?? (lane.connected ? undefined : await gone)
    clearTimeout(hangs)
    if (error) {
      said += `✖ (the file)\n${error}\n`
      tests.push({ name: "(the file)", seconds: 0, error })
    }
    process.stdout.write(said + (tests.some((t) => t.error) ? warned(dir, since) : ""))
    ended.push({ file, seconds: (performance.now() - began) / 1000, tests })
  }
  if (lane.connected) lane.disconnect()
  await gone
  running.delete(lane)
}

/** Prints what took how long and what failed. */
function sum() {
  const round = (s) => s.toFixed(1).padStart(6)
  console.log("\nseconds of each file")
  for (const { file, seconds } of ended.toSorted((a, b) => b.seconds - a.seconds)) console.log(round(seconds), file)
  console.log("\nthe five slowest tests")
  const all = ended.flatMap(({ file, tests }) => tests.map((t) => ({ file, ...t })))
  for (const t of all.toSorted((a, b) => b.seconds - a.seconds).slice(0, 5)) console.log(round(t.seconds), `${t.file}: ${t.name}`)
  const failed = all.filter((t) => t.error)
  if (failed.length > 0) console.log()
  for (const t of failed) console.log(`FAILED ${t.file}: ${t.name}`)
}

// One start after the other: each looks for free ports. If one fails the lanes before it still stop what they have.
let broken = false
const failed = (e) => {
  console.error(e.message)
  broken = true
}
const begin = (variables) => start({ SVC_KAFKA_PARTITIONS: "2", SVC_FETCH_ALLOW: "127.0.0.1", ...variables })
const following = []
for (const { files, variables, then = [] } of lanes) {
  if (files.length === 0) continue
  const system = await begin(variables).catch(failed)
  if (system) following.push(follow(system, files).then(() => then.length > 0 && begin().then((next) => follow(next, then))).catch(failed))
}
await Promise.all(following)
sum()
if (options["keep-seconds"]) {
  for (const { file, seconds, tests } of ended) if (!tests.some((t) => t.error)) measured[file] = Math.round(seconds)
  const sorted = Object.entries(measured).filter(([file]) => readdirSync(here).includes(file)).sort(([, a], [, b]) => b - a)
  writeFileSync(join(here, "seconds.json"), JSON.stringify(Object.fromEntries(sorted), null, 2) + "\n")
}
// Files that were left are those of a lane whose system did not start, or of a run that was interrupted.
process.exit(broken || lanes.some(({ files }) => files.length > 0) || ended.some(({ tests }) => tests.some((t) => t.error)) ? 1 : 0)
