// Takes the icons that pages and form styles use out of lucide-static. What it writes is committed, so that
// pages have their icons without npm.
import { mkdirSync, readFileSync, writeFileSync, copyFileSync, rmSync } from "node:fs"

// Names of the form style that lucide spells differently.
const renamed = { message: "message-square", "check-circle": "circle-check" }

const style = ["arrow-right", "chevron-right", "send", "check", "check-circle", "calendar", "clock", "mail", "phone", "message",
  "user", "users", "download", "heart", "star", "sparkles", "gift", "ticket", "lock", "plus"]
const pages = ["arrow-left", "chevron-left", "map-pin", "video", "circle-alert", "info", "globe", "x", "calendar-x", "calendar-clock",
  "house", "rotate-cw", "log-in", "log-out", "key-round", "shield-check", "mail-check", "mail-x", "search-x", "link-2-off", "loader-circle", "external-link"]

const from = new URL("node_modules/lucide-static/", import.meta.url)
rmSync("icon", { recursive: true, force: true })
mkdirSync("icon")
for (const name of [...style, ...pages]) {
  const svg = readFileSync(new URL(`icons/${renamed[name] ?? name}.svg`, from), "utf8")
  const inner = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.indexOf("</svg>")).replace(/\s*\n\s*/g, "").replaceAll(" />", "/>")
  writeFileSync(`icon/${name}.svg`, `<svg class="icon" aria-hidden="true" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${inner}</svg>`)
}
copyFileSync(new URL("LICENSE", from), "icon/LICENSE")
