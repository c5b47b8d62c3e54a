/** Filters in the address: the named ones as texts, everything else left out. */
export const filters =
  <const Names extends readonly string[]>(...names: Names) =>
  (search: Record<string, unknown>): { [N in Names[number]]?: string } =>
    Object.fromEntries(names.flatMap((n) => (search[n] === undefined || search[n] === "" ? [] : [[n, String(search[n])]]))) as { [N in Names[number]]?: string }

/** How many filters are set, apart from those that are named. */
export const countFilters = (search: Record<string, string | undefined>, ...except: string[]) => Object.entries(search).filter(([n, v]) => v && !except.includes(n)).length
