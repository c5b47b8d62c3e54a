/** The version of each record that an answer carried as its ETag. A copy of a record has none. */
const versions = new WeakMap<object, string>()

/** The version of a record as If-Match takes it: "7" with its quotes. */
export const versionOf = (record: object): string | undefined => versions.get(record)

/** Notes the version that an answer's ETag names, without what a proxy that compresses puts before it. */
export function noteVersion<T>(record: T, etag: string | null | undefined): T {
  const version = /"\d+"/.exec(etag ?? "")?.[0]
  if (version && typeof record === "object" && record !== null) versions.set(record, version)
  return record
}

/** The ETag of a record that has its version as a number in it, as items of lists do. */
export const tagOf = (version: number) => `"${version}"`

/** The version of an answer as a number, for a record that is kept in a list. */
export const numberOf = (record: object) => Number(versionOf(record)?.slice(1, -1))
