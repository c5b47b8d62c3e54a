// The business that `make demo` fills in: twice without doubling, looked at, and taken back.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { check } from "./browser.mjs"
import { password, until } from "./system.mjs"
import { desk, member, team } from "./team.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)
const demo = (...args) => run("go", ["run", "./deploy/demo", "-data", process.env.E2E_DATA_DIR, "-months", "1", "-people", "60", ...args], { cwd: root, env: { SVC_ADMIN_PASSWORD: password, ...process.env } })

const counted = async () => {
  const of = async (path) => (await desk.admin.get(path)).total
  return [await of("/contacts?tag=demo"), await of("/organizations?search=linde"), await of("/appointments?per_page=1&from=" + day(-50) + "&to=" + day(10))]
}
const day = (n) => new Date(Date.now() + n * 864e5).toISOString().slice(0, 10)

test("a demo fills the portal, a second one adds nothing, and all of it can be taken back", async () => {
  const before = await counted()
  await demo()
  await until("60 people and the four who wrote", async () => (await counted())[0] === 64)
  const filled = await counted()
  assert.ok(filled[1] > before[1] && filled[2] > before[2] + 20, String(filled))
  await demo()
  assert.deepEqual(await counted(), filled)

  const v = await member()
  for (const screen of ["", "/contacts", "/organizations", "/calendar", "/calendar?view=week"]) {
    await v.page.goto(team() + screen)
    await v.page.getByRole("heading", { level: 1 }).waitFor()
    await check(v.page, "demo " + (screen || "overview"))
  }
  await v.end()

  await demo("-remove")
  const left = await counted()
  assert.equal(left[0], 0)
  assert.equal(left[1], before[1])
  const used = new Set((await desk.admin.get("/contacts?deleted=true&per_page=100")).items.flatMap((c) => c.tags))
  const tags = (await desk.admin.get("/tags")).items.map((t) => t.name)
  assert.deepEqual(["demo", "back", "knee", "shoulder", "running", "neck"].filter((t) => tags.includes(t) && !used.has(t)), [])
})
