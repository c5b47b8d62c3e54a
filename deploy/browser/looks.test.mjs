// What makes a page another one to look at.
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { look } from "./looks.mjs"
import { state } from "./system.mjs"
import { browser } from "./team.mjs"

/** A page that nobody has looked at, because of its mark. */
const mark = randomUUID()
const html = (body, css = "button { color: #222; background: #fff }") => `<!doctype html><html lang="en"><head><title>Looks</title><style>${css}</style></head><body class="m-${mark}"><main><h1>Looks</h1>${body}</main></body></html>`
const row = (name) => `<li><label for="${name}">${name}</label> <input id="${name}"></li>`

test("a page is looked at again when anything but its texts and the length of its lists is another", async () => {
  const { page, end } = await visitor(browser)
  await page.goto(state().gateway + "/robots.txt")
  const known = async (content) => {
    await page.setContent(content)
    return (await look(page, "all", "1")).known
  }
  const first = html(`<ul>${row("Ann")}${row("Bea")}</ul><button>Save</button>`)
  assert.equal(await known(first), false)
  await check(page, "looks")
  ;(await look(page, "all", "1")).passed()
  assert.equal(await known(first), true)
  const wide = (width, light) => html(`<ul>${row("Ann")}</ul><button style="width: ${width}; color: hsl(0 0% ${light})">Save</button>`)
  assert.equal(await known(wide("9px", "10%")), false)
  ;(await look(page, "all", "1")).passed()
  assert.deepEqual([await known(wide("12.5%", "10%")), await known(wide("9px", "80%"))], [true, false])
  assert.equal(await known(html(`<ul>${row("Cas")}${row("Dan")}${row("Eva")}</ul><button>Send</button>`)), true)
  const others = {
    "a button without a name": html(`<ul>${row("Ann")}</ul><button></button>`),
    "a label of nobody": html(`<ul>${row("Ann").replace('for="Ann"', 'for="Bob"')}</ul><button>Save</button>`),
    "an id twice": html(`<ul>${row("Ann")}${row("Ann")}</ul><button>Save</button>`),
    "another style": html(`<ul>${row("Ann")}</ul><button>Save</button>`, "button { color: #ddd; background: #fff }"),
    "another state": html(`<ul>${row("Ann")}</ul><button autofocus>Save</button>`),
    "one row that is not like the others": html(`<ul>${row("Ann")}<li>Bea</li></ul><button>Save</button>`),
  }
  for (const [what, content] of Object.entries(others)) assert.equal(await known(content), false, what)
  await page.setContent(others["another style"])
  await assert.rejects(check(page, "pale"), /color-contrast/)
  await page.setContent(others["a button without a name"])
  await assert.rejects(check(page, "nameless"), /button-name/)
  await page.setContent(first)
  await page.setViewportSize({ width: 320, height: 720 })
  assert.equal((await look(page, "all", "1")).known, false, "another width")
  assert.equal((await look(page, "some", "1")).known, false, "other rules")
  await end()
})
