// Runs the test files that run.mjs names, one after the other in one process with one browser: what a file has loaded and compiled of Playwright, of the
// portal and of the widgets is there for the next: one and a half seconds of a processor less per file.
import { describe } from "node:test"
import { begin } from "./team.mjs"

process.on("message", (file) =>
  describe(file, async () => {
    await begin()
    await import("./" + file)
  }),
)
// The browser ends with its pipe.
process.on("disconnect", () => process.exit())
