import { given } from "./client"

/** The address of a download, which the browser fetches with its session. Exports have the separator that spreadsheets in the person's language expect. */
export function download(path: string, query: Record<string, string | string[] | undefined>): string {
  const q = new URLSearchParams(given(query))
  if (path.startsWith("/exports/") && document.documentElement.lang !== "en") q.set("separator", ";")
  return `/v1${path}?${q}`
}
