/** Minutes in words, by the texts of hours and of minutes: "45 min", "1 h 30 min". The same rule as Reader.Duration in dates.go. */
export function duration(minutes: number, h: (n: number) => string, min: (n: number) => string): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 && h(hours), (rest > 0 || hours === 0) && min(rest)].filter(Boolean).join(" ")
}
