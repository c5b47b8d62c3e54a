// The one script that a site embeds. It loads a widget's own code when its element is on the page, from the place this
// script came from; a link inside the element stays until then, and when that fails.
const origin = new URL(import.meta.url).origin
const widgets: Record<string, string> = { "svc-booking": "booking", "svc-form": "forms" }
const asked = new Set<string>()
/** Milliseconds until a widget that did not load is asked for again, which doubles. */
const waits: Record<string, number> = {}

// The widget's first request is sent now, while its code is loading. api.ts takes the answer over.
const early: Map<string, Promise<Response>> = ((globalThis as any).svcEarly ??= new Map())
function askEarly(url: string) {
  const answer = fetch(url, { credentials: "omit" })
  answer.catch(() => {})
  early.set(url, answer)
}

function look() {
  for (const [tag, service] of Object.entries(widgets)) {
    if (!asked.has(tag) && document.querySelector(tag)) {
      asked.add(tag)
      const one = document.querySelector(tag)
      if (service === "booking") askEarly(`${origin}/_ui/booking/widget.json?service=${one?.getAttribute("service") ?? ""}&staff=${Number(one?.getAttribute("staff")) || ""}`)
      import(`${origin}/_ui/${service}/widget.js`).catch(() => {
        const wait = (waits[tag] = Math.min((waits[tag] ?? 5_000) * 2, 600_000))
        setTimeout(() => (asked.delete(tag), look()), wait)
      })
    }
  }
}

look()
new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true })

export {}
