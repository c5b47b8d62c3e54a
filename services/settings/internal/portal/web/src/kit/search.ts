/** Filters in the address: the named ones as texts, everything else left out. */
export const filters =
  <const Names extends readonly string[]>(...names: Names) =>
  (search: Record<string, unknown>): { [N in Names[number]]?: string } =>
    Object.fromEntries(names.flatMap((n) => (search[n] === undefined || search[n] === "" ? [] : [[n, String(search[n])]]))) as { [N in Names[number]]?: string }
