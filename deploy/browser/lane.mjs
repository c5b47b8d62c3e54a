// Runs the test files that run.mjs names, one after the other in one process with one browser: what a file has loaded and compiled of Playwright, of the
// portal and of the widgets is there for the next: one and a half seconds of a processor less per file.
import { afterEach, describe } from "node:test"
import { begin, shown } from "./team.mjs"

process.on("message", (file) =>
  describe(file, async () => {
    // What a test has waited for in vain is not there. What is there instead says why, and a failure that came by chance may not come again.
    afterEach(async (t) => t.error && console.error(await shown()))
    await begin()
    await import("./" + file)
  }),
)
// The browser ends with its pipe.
process.on("disconnect", () => process.exit())
