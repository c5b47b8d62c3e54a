// Which columns a list has room for, and which of them a person chose.

/** How a column behaves where there is no room for all of them. */
export type Fit = {
  key: string
  /** Its width in rem, 9 if it says nothing. The first column of a list takes what the others leave. */
  width?: number
  /** The order in which columns leave: the highest number first, those without a number last. */
  hides?: number
  /** Where it has no room, what it says stands beneath the text of the first column. */
  under?: boolean
}

/** The first column tells records apart, so it never has less than this, in rem. */
const leastFirst = 16

/** Divides columns into those that fit into so many rem, in their order, and those that move under the first. What is in neither is not shown. */
export function fit<C extends Fit>(columns: C[], room: number, unwanted: ReadonlySet<string> = new Set()): { shown: C[]; under: C[] } {
  const [first, ...others] = columns
  if (!first) return { shown: [], under: [] }
  const wanted = others.filter((c) => !unwanted.has(c.key))
  let left = room - leastFirst
  const fitting = new Set<C>([first])
  for (const c of wanted.toSorted((a, b) => (a.hides ?? 0) - (b.hides ?? 0))) {
    left -= c.width ?? 9
    if (left < 0) break
    fitting.add(c)
  }
  return { shown: columns.filter((c) => fitting.has(c)), under: wanted.filter((c) => c.under && !fitting.has(c)) }
}
