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
    note.textContent = ` (${mine} ${Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`
    time.append(note)
  }
}
