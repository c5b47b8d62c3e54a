// The list of contacts with a million of them behind: the longest frame while somebody scrolls, and the times of its keys. It starts
// a system, or fills the one that E2E_DATA_DIR names, which keeps the contacts. CONTACTS is another number. It needs psql. Ends with 1
// when a goal is missed.
import { launch, member } from "../../browser/browser.mjs"
import { setUp, sql as query, start, until } from "../../browser/system.mjs"
import { exit, line, slowestKey, watchKeys } from "./figures.mjs"

const contacts = Number(process.env.CONTACTS ?? 1_000_000)
const { dir, stop } = await start()
process.env.E2E_DATA_DIR = dir
try {
  const desk = await setUp()
  await fill(desk)
  await measure(desk)
} finally {
  await stop()
}
exit()

/** Runs a statement in the schema of contacts, and answers its only value. */
function sql(text) {
  return query("set search_path to contacts, ext", text)
}

/** Adds the contacts that are missing, the newest first, over three years, and waits until contacts lists them. */
async function fill(desk) {
  const begin = Date.now()
  const missing = contacts - Number(sql("select count(*) from contact where deleted_at is null"))
  for (let first = 1; first <= missing; first += 100_000) {
    sql(`insert into contact (id, first_name, last_name, email, email_key, phone, status, source, tags, last_activity, created_at, updated_at)
      select id, (array['Anna','Jan','Marie','Peter','Zoë','Lukas','Sophie','Thomas','Emma','Noah'])[1 + i % 10],
        (array['Peeters','Janssens','Maes','Jacobs','Mertens','Müller','Dupont','de Vries','Bakker','Smit'])[1 + i / 10 % 10] || ' ' || upper(substr(id::text, 1, 6)),
        id || '@mail.example', id || '@mail.example', '+324' || lpad((i * 7919::bigint % 100000000)::text, 8, '0'),
        (array['lead','customer','inactive'])[1 + i % 3], (array['web','fair','phone',''])[1 + i % 4], '{}', t, t, t
      from (select i, gen_random_uuid() id, date_trunc('second', now()) - make_interval(secs => i * 94) t from generate_series(${first}, ${Math.min(first + 99_999, missing)}) i) x`)
  }
  if (missing > 0) sql("vacuum (analyze) contact")
  // While psql ran, this process read nothing: the gateway may have closed its connection.
  const { total } = await until("contacts to list them", () => desk.admin.get("/contacts?per_page=1").then((l) => l.total >= contacts && l, () => undefined), 300)
  console.log(`${"contacts".padEnd(52)} ${String(total).padStart(8)}     ${Math.max(0, missing)} made in ${Math.round((Date.now() - begin) / 1000)} s`)
}

async function measure(desk) {
  const browser = await launch()
  try {
    const { page, end } = await member(browser, desk)
    await watchKeys(page)
    await page.goto(desk.gateway + "/team/contacts")
    await page.getByRole("table", { name: "Contacts" }).waitFor()
    await scroll(page)
    await walk(page)
    await search(page)
    await end()
  } finally {
    await browser.close()
  }
}

/** Down through twenty pages: the wheel turns, and more rows load as they are asked for. */
async function scroll(page) {
  const longest = await frames(page)
  await page.mouse.move(800, 500)
  for (let pages = 1; pages <= 20; pages++) {
    for (let turns = 0; turns < 6; turns++) await page.mouse.wheel(0, 400)
    await page.getByRole("button", { name: "Load more" }).click()
    await page.waitForFunction((n) => document.querySelectorAll("tbody tr").length >= n, (pages + 1) * 50)
  }
  line("scroll through twenty pages: the longest frame", await longest(), 1000, "ms")
  line("more rows: the slowest click", await slowestKey(page), 200, "ms")
}

async function walk(page) {
  const longest = await frames(page)
  for (let i = 0; i < 60; i++) await page.keyboard.press(i < 40 ? "j" : "k", { delay: 30 })
  line("j and k over a thousand rows: the longest frame", await longest(), 1000, "ms")
  line("j and k over a thousand rows: the slowest key", await slowestKey(page), 200, "ms")
}

async function search(page) {
  const longest = await frames(page)
  await page.keyboard.press("/")
  await page.keyboard.type("anna dupont", { delay: 60 })
  const begin = Date.now()
  await page.waitForFunction(() => {
    const names = [...document.querySelectorAll("tbody .row-link")].map((a) => a.textContent)
    return names.length > 0 && !document.querySelector(".list--old") && names.every((name) => /anna dupont/i.test(name))
  })
  line("a search: from its last letter to its rows", Date.now() - begin, 1500, "ms")
  line("a search: the longest frame", await longest(), 1000, "ms")
  line("a search: the slowest key", await slowestKey(page), 200, "ms")
}

/** Begins to measure the page's frames: the function that it answers stops, and answers the milliseconds of the longest. */
async function frames(page) {
  await page.evaluate(() => {
    let last = performance.now()
    globalThis.longest = 0
    const tick = (now) => {
      globalThis.longest = Math.max(globalThis.longest, now - last)
      last = now
      globalThis.watching = requestAnimationFrame(tick)
    }
    globalThis.watching = requestAnimationFrame(tick)
  })
  return () => page.evaluate(() => (cancelAnimationFrame(globalThis.watching), Math.round(globalThis.longest)))
}
