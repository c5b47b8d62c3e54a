// The sizes of the widgets: how much a browser loads before one can show.
import { gzipSync } from "node:zlib"

/** The most that a widget may weigh, in bytes, by its service. A phone on Slow 4G loads 17 kB in a tenth of a second. */
export const budgets = { booking: 17_000, forms: 12_000 }

/** The bytes of a service's widget as it is served, each file compressed by gzip -9: its entry with all that the entry imports at once. Languages come beside it, one per visitor. */
export async function weigh(gateway, service) {
  const files = new Map()
  const take = async (name) => {
    if (files.has(name)) return
    files.set(name, 0)
    const answer = await fetch(`${gateway}/_ui/${service}/${name}`)
    if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`)
    const text = await answer.text()
    files.set(name, gzipSync(text, { level: 9 }).length)
    for (const [, next] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) await take(next)
  }
  await take("widget.js")
  return [...files.values()].reduce((sum, size) => sum + size, 0)
}
