/** Makes a value when it is first asked for. The first date or number format of a page takes a slow phone a tenth of a second: no module makes one as it loads. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
