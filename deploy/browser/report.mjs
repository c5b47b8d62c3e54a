// A reporter for lane.mjs. It sends run.mjs each test that has ended, and at the end of a file a message without a name; with the error, if there is one.
import { inspect } from "node:util"

export default async function* report(events) {
  const names = []
  for await (const { type, data } of events) {
    if (type === "test:start") {
      names.length = data.nesting
      names.push(data.name)
    }
    if (type !== "test:pass" && type !== "test:fail") continue
    const { type: kind, duration_ms, error } = data.details
    // A suite that only holds a test that failed has not failed itself.
    const failed = type === "test:fail" && error?.failureType !== "subtestsFailed"
    if (kind === "suite" && data.nesting > 0 && !failed) continue
    const name = data.nesting > 0 ? [...names.slice(1, data.nesting), data.name].join(" > ") : ""
    process.send({ file: names[0], name, seconds: duration_ms / 1000, skipped: data.skip !== undefined, error: failed ? inspect(error?.cause ?? error) : undefined })
  }
}
