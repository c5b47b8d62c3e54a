import { clock, dayOf, shown } from "@web/dates"

/** Puts the visitor's own clock beside times of appointments by phone or online, where it differs. */
export function showVisitorsTime() {
  const time24 = shown("en-GB", undefined)(clock)
  const weekday = shown(document.documentElement.lang || "en", undefined)({ weekday: "short" })
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-visitor]")) {
    const at = time.dateTime
    const offset = /([+-]\d\d:\d\d|Z)$/.exec(at)?.[0]
    if (!["phone", "online"].includes(time.dataset["visitor"] ?? "") || !offset) continue
    const business = at.slice(11, 16)
    const mine = time24(at)
    if (mine === business) continue
    const note = document.createElement("small")
    note.className = "soft"
    // Where it is another day, the visitor's is named.
    const day = dayOf(at, undefined) === at.slice(0, 10) ? "" : weekday(at) + " "
    note.textContent = ` (${day}${mine} ${Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`
    time.append(note)
  }
}
