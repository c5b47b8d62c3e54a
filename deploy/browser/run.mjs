// Starts the system, runs every *.test.mjs beside this file one after the other, stops the system.
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { start } from "./system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(here).filter((f) => f.endsWith(".test.mjs") && (wanted.length === 0 || wanted.some((w) => f.startsWith(w))))
const stop = await start()
const tests = spawn(process.execPath, ["--test", "--test-concurrency=1", "--test-reporter=spec", ...(process.env.TEST_NAME ? ["--test-name-pattern", process.env.TEST_NAME] : []), ...files.map((f) => join(here, f))], { stdio: "inherit" })
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => tests.kill(signal))
const code = await new Promise((resolve) => tests.once("exit", (c) => resolve(c ?? 1)))
await stop()
process.exit(code)
