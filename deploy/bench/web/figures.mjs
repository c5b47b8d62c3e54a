// The figures of the browser: a line for each, and the times of keys and clicks.
let missed = 0

/** Prints a figure with the most that it may be. */
export function line(what, value, goal, unit) {
  const ok = value <= goal
  if (!ok) missed++
  console.log(`${what.padEnd(52)} ${String(value).padStart(8)} ${unit.padEnd(3)} goal ${goal}${ok ? "" : "   MISSED"}`)
}

/** Ends the process: with 1 if a goal was missed. */
export const exit = () => process.exit(missed > 0 ? 1 : 0)

/** Makes the page measure keys and clicks. Call it before the page opens. */
export const watchKeys = (page) =>
  page.addInitScript(() => {
    globalThis.slowest = 0
    new PerformanceObserver((l) => l.getEntries().forEach((e) => e.interactionId && (globalThis.slowest = Math.max(globalThis.slowest, e.duration)))).observe({ type: "event", durationThreshold: 16, buffered: true })
  })

/** Milliseconds from a key or a click to the next paint: the longest since watchKeys, or since the call before. */
export async function slowestKey(page) {
  await page.waitForTimeout(500) // the browser reports an event some time after its paint
  return page.evaluate(() => [globalThis.slowest, (globalThis.slowest = 0)][0])
}
