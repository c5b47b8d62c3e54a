// A reporter for run.mjs: a line of JSON per test that has ended, with its whole name, seconds, and whether it failed.
export default async function* report(events) {
  const names = []
  for await (const { type, data } of events) {
    if (type === "test:start") {
      names.length = data.nesting
      names.push(data.name)
    }
    if (type !== "test:pass" && type !== "test:fail") continue
    const { type: kind, duration_ms, error } = data.details
    // A suite, or a file, that only holds a test that failed is not named too.
    const itself = type === "test:fail" && error?.failureType !== "subtestsFailed"
    if (kind === "suite" && !itself) continue
    yield JSON.stringify({ name: [...names.slice(0, data.nesting), data.name].join(" > "), seconds: duration_ms / 1000, failed: type === "test:fail" }) + "\n"
  }
}
