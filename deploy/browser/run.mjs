// Runs every *.test.mjs beside this file. Two systems at once take one file after the other, the longest first: most of the
// time a test waits for its page. A system runs one file at a time, so a file may switch apps off.
import { spawn } from "node:child_process"
import { readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { start } from "./system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(here)
  .filter((f) => f.endsWith(".test.mjs") && (wanted.length === 0 || wanted.some((w) => f.startsWith(w))))
  .sort((a, b) => statSync(join(here, b)).size - statSync(join(here, a)).size)
const systems = Math.min(files.length, process.env.E2E_DATA_DIR ? 1 : 2)

const running = new Set()
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    files.length = 0
    for (const tests of running) tests.kill(signal)
  })
}

/** Runs one file against the system of a data folder, prints its report at the end, and answers its exit code. */
async function run(file, dir) {
  // A test that fails leaves its page open, and the browser would keep the file from its end.
  const args = ["--test", "--test-force-exit", "--test-reporter=spec", ...(process.env.TEST_NAME ? ["--test-name-pattern", process.env.TEST_NAME] : []), join(here, file)]
  const tests = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, E2E_DATA_DIR: dir } })
  running.add(tests)
  let said = `${file}\n`
  for (const stream of [tests.stdout, tests.stderr]) stream.on("data", (text) => (said += text))
  const code = await new Promise((resolve) => tests.once("close", (c) => resolve(c ?? 1)))
  running.delete(tests)
  process.stdout.write(said)
  return code
}

/** Runs files until there are none left, and stops the system: 0, or the last exit code that was not 0. */
async function lane({ dir, stop }) {
  let code = 0
  try {
    for (let file; (file = files.shift()); ) code = (await run(file, dir)) || code
  } finally {
    await stop()
  }
  return code
}

// One start after the other: each looks for free ports. If one fails the lanes before it still stop what they have.
const failed = (e) => (console.error(e.message), 1)
const lanes = []
for (let i = 0; i < systems; i++) lanes.push(await start().then((system) => [lane(system).catch(failed)], (e) => [failed(e)]))
process.exit(Math.max(0, ...(await Promise.all(lanes.flat()))))
