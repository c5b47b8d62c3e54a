// The plugin in a real WordPress, in a real browser, beside a real system.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { launch, shot } from "../../browser/browser.mjs"
import { setUp, until } from "../../browser/system.mjs"
import { makeGate, makeSite, password } from "./site.mjs"

let site, gate, desk, browser, boss, form, key, booking, contact
before(async () => {
  desk = await setUp()
  gate = await makeGate()
  site = await makeSite()
  browser = await launch()
  key = (await desk.person.post("/me/application-passwords", { name: "website", permissions: ["svc_view_contacts"] })).password
  form = await until("the form", () => desk.admin.post("/forms", { name: "Ask us", status: "publish", definition: { elements: [
    { id: "first", type: "field", target: "contact.first_name", label: "First name" },
    { id: "email", type: "field", target: "contact.email", label: "Email", required: true },
    { id: "message", type: "field", target: "submission.fields.message", label: "Message" }] } }).catch(() => undefined))
})
after(async () => {
  await site?.stop()
  gate?.close()
})

/** A browser of somebody: signed in where a login is given. */
async function somebody(login, options = {}) {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "Europe/Brussels", viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  if (login) {
    await page.goto(site.url + "/wp-login.php")
    await page.getByLabel("Username or Email Address").fill(login)
    await page.locator("#user_pass").fill(password)
    await page.getByRole("button", { name: "Log In" }).click()
    await page.waitForURL(/wp-admin/)
  }
  return page
}

const settings = (page) => page.goto(site.url + "/wp-admin/options-general.php?page=frontdesk")
const notice = (page) => page.locator(".notice").first().textContent()
/** Lets the last question count as asked long ago. */
const aMinuteLater = () => site.php(`$d = get_option( 'frontdesk_desk' ); $d['asked'] = 0; update_option( 'frontdesk_desk', $d, false );`)
const pageWith = (content, title = "A page") => site.php(`echo get_permalink( wp_insert_post( array( 'post_type' => 'page', 'post_status' => 'publish', 'post_title' => '${title}', 'post_content' => '${content}' ) ) );`).trim()
/** Runs an ability as the person of a page that the editor or the dashboard shows: WordPress' own route, cookie and nonce. */
const run = (page, name, input, method = "GET") => page.evaluate(async ({ name, input, method }) => {
  const query = method === "POST" ? {} : { path: undefined }
  const path = `/wp-abilities/v1/abilities/svc/${name}/run`
  try {
    return await wp.apiFetch(method === "POST" ? { path, method, data: { input } } : { ...query, path: wp.url.addQueryArgs(path, { input }), method })
  } catch (e) {
    return e
  }
}, { name, input, method })

test("an administrator connects, and a wrong password, address or scheme is said", async () => {
  boss = await somebody("boss")
  await boss.goto(site.url + "/wp-admin/plugins.php")
  await boss.locator("#activate-frontdesk").click()
  await boss.getByText("Plugin activated.").waitFor()
  await settings(boss)
  const connect = async (address, login, typed) => {
    await boss.locator("#url").fill(address)
    await boss.locator("#login").fill(login)
    await boss.locator("#password").fill(typed)
    await boss.getByRole("button", { name: /Connect|Check and save/ }).click()
    await boss.waitForLoadState()
    return notice(boss)
  }
  assert.match(await connect("http://desk.example.com", "admin", key), /must begin with https/)
  assert.match(await connect(site.url, "admin", key), /is not Frontdesk/)
  assert.match(await connect(gate.url, "admin", "wrong wrong wrong"), /Login or application password is not right/)
  assert.match(await connect(gate.url + "/team/book", "admin", key), /Connected, in the name of/)
  await boss.getByText(`[svc-booking service="${desk.intake.id}"]`).waitFor()
  await boss.getByText(`[svc-form id="${form.id}"]`).waitFor()
  await shot(boss, "wordpress settings")
  assert.match(await connect("http://localhost:" + new URL(gate.url).port, "admin", ""), /asked for anew/, "a password is never sent to another address")
  const kept = site.sql("select group_concat(option_value) from wordpress.wp_options where option_name like 'frontdesk%'")
  assert.ok(!kept.includes(key) && !kept.includes(key.replaceAll(" ", "")), "the password stands in no option in clear")
  assert.equal(site.sql("select count(*) from wordpress.wp_options where option_name like 'frontdesk%' and autoload in ('yes', 'on', 'auto-on', 'auto')").trim(), "0")
})

test("an editor puts blocks on a page, and sees them as visitors will", async () => {
  await boss.goto(site.url + "/wp-admin/post-new.php?post_type=page")
  await boss.waitForFunction(() => globalThis.wp?.blocks?.getBlockType("frontdesk/booking"))
  await boss.evaluate(([service, id]) => {
    wp.data.dispatch("core/preferences").set("core/edit-post", "welcomeGuide", false)
    wp.data.dispatch("core/preferences").set("core", "enableChoosePatternModal", false)
    wp.data.dispatch("core/block-editor").insertBlocks([wp.blocks.createBlock("frontdesk/booking", { service }), wp.blocks.createBlock("frontdesk/form", { id })])
  }, [desk.intake.id, form.id])
  const canvas = () => boss.frames().find((f) => f.name() === "editor-canvas") ?? boss.mainFrame()
  await until("the preview", () => canvas().evaluate(() => !!document.querySelector("svc-booking")?.shadowRoot?.querySelector(".day--free") && !!document.querySelector("svc-form")?.shadowRoot?.querySelector("form")).catch(() => false), 40)
  await shot(boss, "wordpress editor")
  booking = await boss.evaluate(async () => {
    wp.data.dispatch("core/editor").editPost({ status: "publish", title: "Book with us" })
    await wp.data.dispatch("core/editor").savePost()
    return wp.data.select("core/editor").getPermalink()
  })
  assert.match(booking, /^http/)
})

test("a visitor books and writes, in the colours of the theme, and the campaign goes along", async () => {
  const page = await somebody()
  const problems = []
  page.on("pageerror", (e) => problems.push(e.message))
  await page.goto(booking + (booking.includes("?") ? "&" : "?") + "utm_source=letter&utm_campaign=spring")
  await page.locator("svc-booking .time:visible").first().click()
  await page.getByRole("heading", { name: "Your details" }).waitFor()
  await page.locator("svc-booking").getByLabel("First name").fill("Ada")
  await page.locator("svc-booking").getByLabel("Email address").fill("ada@wordpress.example")
  await shot(page, "wordpress details")
  await page.locator("svc-booking").getByRole("button", { name: "Book" }).click()
  await page.getByRole("heading", { name: "Your appointment is booked" }).waitFor()
  await shot(page, "wordpress booked")
  const found = await until("the appointment", async () => (await desk.admin.get("/appointments?search=Ada&from=" + day(0) + "&to=" + day(60))).items.find((a) => a.service.id === desk.intake.id))
  contact = found.contact.id
  await page.locator("svc-form").getByLabel("Email").fill("grace@wordpress.example")
  await page.locator("svc-form").getByLabel("Message").fill("Good morning")
  await page.locator("svc-form button[type=submit]").click()
  await page.locator("svc-form .badge").waitFor()
  const sent = await until("the submission", async () => (await desk.admin.get("/submissions")).items.find((s) => Object.values(s.values).includes("grace@wordpress.example")))
  assert.match(sent.page, /utm_source=letter&utm_campaign=spring/)
  const button = await page.evaluate(() => getComputedStyle(document.querySelector("svc-booking")).getPropertyValue("--svc-button-background"))
  assert.notEqual(button, "", "the theme's button is the widget's")
  for (const [width, colorScheme] of [[320, "light"], [1280, "light"], [1440, "dark"]]) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await shot(page, `wordpress page ${width} ${colorScheme}`)
  }
  assert.deepEqual(problems, [])
  await page.context().close()
})

test("who is signed in here finds name and address filled in; a shortcode shows one service", async () => {
  site.php(`wp_insert_user( array( 'user_login' => 'reader', 'user_pass' => '${password}', 'user_email' => 'reader@wordpress.example', 'first_name' => 'Rea', 'last_name' => 'O\\'Der</script>', 'role' => 'subscriber' ) );`)
  const address = pageWith(`[svc-booking service="${desk.intake.id}"] [svc-form id="${form.id}"]`)
  const page = await somebody("reader")
  await page.goto(address)
  assert.equal(await page.locator("svc-form").getByLabel("Email").inputValue(), "reader@wordpress.example")
  await page.locator("svc-booking .time:visible").first().click()
  await until("the address", async () => (await page.locator("svc-booking").getByLabel("Email address").inputValue()) === "reader@wordpress.example")
  assert.equal(await page.locator("svc-booking").getByLabel("First name").inputValue(), "Rea")
  await page.context().close()
  assert.ok(!(await (await fetch(address)).text()).includes("application/json\">{\"given"), "others get no name")
})

test("without scripts a link leads to the booking page, with the campaign", async () => {
  const page = await somebody(undefined, { javaScriptEnabled: false })
  await page.goto(booking + (booking.includes("?") ? "&" : "?") + "utm_source=letter")
  const href = await page.getByRole("link", { name: "Book online" }).getAttribute("href")
  assert.equal(new URL(href).pathname + new URL(href).search, `/team/book?service=${desk.intake.id}&utm_source=letter`)
  assert.equal((await fetch(href)).status, 200)
  await page.context().close()
})

test("an app that is off leaves a line, and comes back", async () => {
  await desk.admin.patch("/apps/booking", { enabled: false })
  try {
    await until("booking to be off", async () => !(await desk.admin.get("/apps")).items.find((a) => a.id === "booking").enabled)
    aMinuteLater()
    const html = await (await fetch(booking)).text()
    assert.match(html, /Online booking is not possible at the moment/)
    assert.ok(!html.includes("<svc-booking") && !html.includes("switched off in Frontdesk"), "visitors are told no inner matters")
    assert.match(html, /<svc-form/)
  } finally {
    await desk.admin.patch("/apps/booking", { enabled: true })
  }
  await until("booking", () => desk.admin.get("/booking-widget/embed").catch(() => undefined))
  aMinuteLater()
  assert.match(await (await fetch(booking)).text(), /<svc-booking[^>]* service=/)
})

test("an address that answers nothing holds a page up for three seconds at most, once a minute; the last known counts", async () => {
  const timed = async () => {
    const begin = performance.now()
    const html = await (await fetch(booking)).text()
    return { html, seconds: (performance.now() - begin) / 1000 }
  }
  const plain = Math.min((await timed()).seconds, (await timed()).seconds)
  for (const mode of ["silent", "refuses"]) {
    gate.set(mode)
    aMinuteLater()
    const first = await timed()
    assert.match(first.html, /<svc-booking/)
    // The machine is busy: what the page takes by itself counts twice.
    assert.ok(first.seconds < 3.2 + 2 * plain, `${mode}: ${first.seconds} s, ${plain} s by itself`)
    const second = await timed()
    assert.ok(second.seconds < 1 + 2 * plain, `${mode}: the next page waits for nothing`)
  }
  site.php(`delete_option( 'frontdesk_desk' );`)
  assert.match((await timed()).html, /Online booking is not possible at the moment/)
  gate.set("open")
  aMinuteLater()
  assert.match((await timed()).html, /<svc-booking/)
})

test("abilities run in the name of the person, with what that person may do", async () => {
  await boss.goto(site.url + "/wp-admin/profile.php")
  const own = (await desk.person.post("/me/application-passwords", { name: "at the website", assistant: true })).password
  await until("the key", async () => {
    await boss.locator("#frontdesk_login").fill("admin")
    await boss.locator("#frontdesk_password").fill(own)
    await boss.locator("#submit").click()
    await boss.waitForLoadState()
    return !(await boss.locator(".notice-error").count())
  })
  assert.ok(!site.sql("select group_concat(meta_value) from wordpress.wp_usermeta where meta_key = 'frontdesk_key'").includes(own))
  await boss.goto(site.url + "/wp-admin/post-new.php")
  await boss.waitForFunction(() => globalThis.wp?.apiFetch && globalThis.wp?.url)
  const all = await boss.evaluate(async () => {
    const found = []
    for (let page = 1; ; page++) {
      const some = await wp.apiFetch({ path: `/wp-abilities/v1/abilities?per_page=100&page=${page}` })
      found.push(...some)
      if (some.length < 100) return found
    }
  })
  const find = all.find((a) => a.name === "svc/find-contacts")
  assert.equal(find.meta.annotations.readonly, true)
  assert.equal(find.input_schema.properties.search.type.toString(), "string")
  const listed = (await desk.admin.get("/integrations/ai")).abilities.filter((a) => a.mcp).map((a) => a.name)
  assert.deepEqual(all.map((a) => a.name).filter((n) => n.startsWith("svc/")).sort(), listed.sort(), "each ability that is exposed, and no other")
  const ada = await run(boss, "find-contacts", { search: "ada@wordpress.example" })
  assert.equal(ada.items?.[0]?.id, contact, JSON.stringify(ada))
  const made = await run(boss, "create-contact", { first_name: "Made by an ability", fields: {} }, "POST")
  assert.equal(made.first_name, "Made by an ability", JSON.stringify(made))
  const wrong = await run(boss, "create-contact", { first_name: "Two", email: "ada@wordpress.example" }, "POST")
  assert.equal(wrong.code, "svc_duplicate", JSON.stringify(wrong))
  assert.ok((await run(boss, "create-contact", { nothing: "x" }, "POST")).code, "an input that the schema refuses")

  site.php(`wp_insert_user( array( 'user_login' => 'editor', 'user_pass' => '${password}', 'user_email' => 'editor@wordpress.example', 'role' => 'editor' ) );`)
  const editor = await somebody("editor")
  await editor.goto(site.url + "/wp-admin/post-new.php")
  await editor.waitForFunction(() => globalThis.wp?.apiFetch && globalThis.wp?.url)
  assert.equal((await run(editor, "find-contacts", {})).code, "frontdesk_no_own_key")
  assert.equal((await run(editor, "create-service", { name: "x", duration_min: 5 }, "POST")).code, "rest_ability_cannot_execute", "the table asks for more than an editor has")
  // A credential that may only read: our system decides, whatever the table says.
  site.php(`Frontdesk\\keep_user_key( get_user_by( 'login', 'editor' )->ID, 'admin', '${key}' );`)
  assert.equal((await run(editor, "create-contact", { first_name: "No" }, "POST")).code, "svc_forbidden")
  assert.ok((await run(editor, "find-contacts", {})).items)
  await settings(boss)
  await boss.getByLabel("svc_view_contacts").selectOption("manage_options")
  await boss.getByLabel(/Keep the campaign/).check()
  await boss.getByRole("button", { name: "Save", exact: true }).click()
  await boss.getByText("Saved.").waitFor()
  assert.equal((await run(editor, "find-contacts", {})).code, "rest_ability_cannot_execute", "the table was changed")
  await editor.context().close()
})

test("a campaign is kept for the visit, once that is switched on", async () => {
  const page = await somebody()
  await page.goto(site.url + "/?utm_source=letter&other=1")
  await page.goto(booking)
  assert.equal(new URL(page.url()).searchParams.get("utm_source"), "letter")
  assert.equal(new URL(page.url()).searchParams.get("other"), null)
  await page.context().close()
})

test("a subscriber reaches nothing of what an editor or an administrator may", async () => {
  const page = await somebody("reader")
  const status = async (path, options) => page.evaluate(async ([path, options]) => {
    const answer = await fetch(path, { redirect: "manual", ...options })
    return { status: answer.status, text: await answer.text() }
  }, [path, options])
  assert.equal((await status("/wp-admin/options-general.php?page=frontdesk")).status, 403)
  const post = (body) => ({ method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body })
  for (const action of ["frontdesk_connect", "frontdesk_choose", "frontdesk_disconnect"]) {
    assert.equal((await status("/wp-admin/admin-post.php", post(`action=${action}&url=https://evil.example&login=a&password=b`))).status, 403, action)
    // An administrator whom another site sends here has no nonce.
    const forged = await boss.evaluate(async (action) => (await fetch("/wp-admin/admin-post.php", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: `action=${action}&url=https://evil.example&login=a&password=b` })).status, action)
    assert.equal(forged, 403, action)
  }
  await page.goto(site.url + "/wp-admin/profile.php")
  assert.equal(await page.locator("#frontdesk_login").count(), 0)
  const nonce = /"nonce":"([0-9a-f]+)"|createNonceMiddleware\( "([0-9a-f]+)" \)/.exec((await status("/wp-admin/profile.php")).text)
  const headers = nonce ? { "X-WP-Nonce": nonce[1] ?? nonce[2] } : {}
  for (const path of ["/wp-abilities/v1/abilities/svc/find-contacts/run", "/wp/v2/block-renderer/frontdesk/booking&context=edit"]) {
    const answer = await status("/index.php?rest_route=" + path, { headers })
    assert.ok([401, 403].includes(answer.status), `${path}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }
  // Who may write no pages sees no hints either.
  assert.equal(JSON.parse(site.php("echo wp_json_encode( get_option( 'frontdesk' ) );")).url, gate.url)
  await page.context().close()
})

test("texts are there in the languages of our countries", async () => {
  for (const [locale, line] of [["nl_BE", "Online een afspraak maken"], ["fr_FR", "Prendre rendez-vous en ligne"], ["de_AT", "Online buchen"]]) {
    const said = site.php("Frontdesk\\load_texts(); echo __( 'Book online', 'frontdesk' );", `$GLOBALS['locale'] = '${locale}';`)
    assert.equal(said, line, locale)
  }
})

test("PHP complains about nothing, and removing the plugin removes all that it kept", async () => {
  assert.equal(site.complaints(), "")
  await boss.goto(site.url + "/wp-admin/plugins.php")
  await boss.locator("#deactivate-frontdesk").click()
  await boss.getByText("Plugin deactivated.").waitFor()
  assert.equal(site.php("echo (int) wp_next_scheduled( 'frontdesk_refresh' );"), "0")
  site.php(`require_once ABSPATH . 'wp-admin/includes/plugin.php'; uninstall_plugin( 'frontdesk/frontdesk.php' );`)
  assert.equal(site.sql("select count(*) from wordpress.wp_options where option_name like '%frontdesk%' and option_name not like '%transient%'").trim(), "0")
  assert.equal(site.sql("select count(*) from wordpress.wp_usermeta where meta_key like '%frontdesk%'").trim(), "0")
})

/** A day so many days from now, as the API takes it. */
const day = (n) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10)
