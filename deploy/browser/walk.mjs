// Pictures of every screen of the team, at six widths, light and dark, to be looked at: E2E_DATA_DIR=.run node deploy/browser/walk.mjs <folder>
// [widths] [colours], such as walk.mjs /tmp/screens 320,1280 dark. It says which screens are wider than their window, and where text is cut.
import { mkdirSync } from "node:fs"
import { gone } from "./browser.mjs"
import { begin, browser, desk, go, member, screens, team } from "./team.mjs"

const [out, widths = "320,768,1024,1280,1440,1920", colours = "light,dark"] = process.argv.slice(2)
mkdirSync(out, { recursive: true })
await begin()

// The first record of each list; a screen without one is named and left out.
const ids = { "/people/$id": desk.user }
for (const list of ["/contacts", "/organizations", "/services", "/forms", "/submissions", "/webhooks", "/pages", "/appointments"]) ids[list + "/$id"] = (await desk.admin.get(list)).items[0]?.id
ids["/import/$id"] = (await desk.admin.get("/imports")).items[0]?.id

for (const colorScheme of colours.split(",")) {
  const v = await member({ colorScheme })
  await v.page.goto(team())
  for (const [path] of screens) {
    if (path.includes("$id") && !ids[path]) {
      console.log(`${path}: nothing to show`)
      continue
    }
    await go(v, path.replace("$id", ids[path]))
    await v.page.locator("main h1").waitFor()
    await gone(v.page, ".skeleton")
    for (const width of widths.split(",").map(Number)) {
      await v.page.setViewportSize({ width, height: 900 })
      const { wide, cut } = await v.page.evaluate(async () => {
        for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)
        const hides = (e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "hidden" && getComputedStyle(e).textOverflow !== "ellipsis"
        const texts = [...document.querySelectorAll("#main *")].filter((e) => e.children.length === 0 && e.textContent.trim() && !e.closest(".sr, .list--old"))
        return { wide: document.documentElement.scrollWidth - innerWidth, cut: texts.filter(hides).map((e) => e.textContent.trim().slice(0, 40)) }
      })
      if (wide > 0) console.log(`${path} at ${width}: ${wide} pixels too wide`)
      if (cut.length > 0) console.log(`${path} at ${width}: cut: ${cut.slice(0, 5).join(" | ")}`)
      await v.page.screenshot({ path: `${out}/${path.replaceAll(/[^a-z]+/gi, "-").replace(/^-|-$/g, "") || "overview"}-${width}-${colorScheme}.png` })
    }
  }
  await v.end()
}
await browser.close()
process.exit()
