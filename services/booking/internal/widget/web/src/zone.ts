// A program of its own, beside pages without a widget: a file shared with the widget would cost that 200 bytes.
/** Puts the visitor's own clock beside times of appointments by phone or online, where it differs. */
export function showVisitorsTime() {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-visitor]")) {
    const at = time.dateTime
    const offset = /([+-]\d\d:\d\d|Z)$/.exec(at)?.[0]
    if (!["phone", "online"].includes(time.dataset["visitor"] ?? "") || !offset) continue
    const moment = new Date(at)
    const business = at.slice(11, 16)
    const mine = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(moment)
    if (mine === business) continue
    const note = document.createElement("small")
    note.className = "soft"
    // Where it is another day, the visitor's is named.
    const local = `${moment.getFullYear()}-${String(moment.getMonth() + 1).padStart(2, "0")}-${String(moment.getDate()).padStart(2, "0")}`
    const day = local === at.slice(0, 10) ? "" : new Intl.DateTimeFormat(document.documentElement.lang || "en", { weekday: "short" }).format(moment) + " "
    note.textContent = ` (${day}${mine} ${Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`
    time.append(note)
  }
}
