import assert from "node:assert/strict"
import { before, describe, test } from "node:test"
import { check, host, visitor } from "./browser.mjs"
import { mailLink, ripe, until } from "./system.mjs"
import { browser, desk } from "./team.mjs"

let form, page, led
before(async () => {
  for (const field of fields) await desk.admin.post("/fields", field).catch((e) => assert.equal(e.status, 409))
  const keys = Object.fromEntries((await desk.admin.get("/fields?entity=submission")).items.map((f) => [f.label, "submission.fields." + f.key]))
  const site = (await desk.admin.get("/fields?entity=contact")).items.find((f) => f.label === "Own site")
  form = await until("the fields", () => desk.admin.post("/forms", { name: "Ask for a plan", status: "publish", definition: definition(keys, "contact.fields." + site.key) }).catch(() => undefined))
  led = await desk.admin.post("/forms", { name: "Led on", status: "publish", definition: { elements: [{ id: "email", type: "field", target: "contact.email", required: true }],
    after_submit: { type: "redirect", url: "https://thanks.example.com/here" } } })
  page = await desk.admin.post("/pages", { title: "Gardens with character", status: "publish", content: `We plant gardens in Ghent.\n\n[svc-form id="${form.id}"]\n\nOr drop by.` })
  await until("the form", async () => (await fetch(address())).ok)
})

const fields = [
  { entity: "submission", label: "Wanted by", type: "date" },
  { entity: "submission", label: "Budget", type: "number" },
  { entity: "submission", label: "Topics", type: "choices", options: ["Garden", "Terrace", "Pond"] },
  { entity: "submission", label: "Plans", type: "long_text" },
  { entity: "submission", label: "Call first", type: "checkbox" },
  { entity: "submission", label: "Where", type: "dropdown", options: ["Ghent", "Antwerp", "Elsewhere"] },
  { entity: "contact", label: "Own site", type: "url" },
]

const definition = (keys, site) => ({
  elements: [
    { id: "head", type: "heading", level: 2, text: "Tell us about your garden" },
    { id: "words", type: "paragraph", text: "A few lines are enough.\nWe come by and look around." },
    { id: "first", type: "field", target: "contact.first_name", label: "First name", required: true, width: "half" },
    { id: "last", type: "field", target: "contact.last_name", label: "Last name", width: "half" },
    { id: "email", type: "field", target: "contact.email", label: "Email", required: true, help: "Only to answer you." },
    { id: "phone", type: "field", target: "contact.phone", label: "Phone", placeholder: "+32 …" },
    { id: "site", type: "field", target: site },
    { id: "by", type: "field", target: keys["Wanted by"], width: "half" },
    { id: "budget", type: "field", target: keys.Budget, width: "half" },
    { id: "where", type: "field", target: keys.Where, required: true },
    { id: "topics", type: "field", target: keys.Topics, label: "What is it about?", required: true },
    { id: "more", type: "heading", level: 3, text: "In your words" },
    { id: "plans", type: "field", target: keys.Plans, label: "What do you have in mind?", required: true },
    { id: "call", type: "field", target: keys["Call first"], label: "Call me before you come" },
    { id: "privacy", type: "consent", text: "You may keep my details to answer this request.", purpose: "privacy", required: true },
    { id: "news", type: "consent", text: "Send me the garden letter, four times a year.", purpose: "newsletter", marketing: true },
  ],
  submit_label: "Send my request",
  after_submit: { type: "message", message: "Thank you.\nWe will call you within two working days." },
  style: { button_icon: "send", button_icon_position: "right" },
})

const address = (id = form.id) => `${desk.gateway}/f/${id}`
const somebody = (name) => `${name}-${Date.now().toString(36)}@example.com`
const ours = () => [new URL(desk.gateway).host]
const snippet = (attributes = "") => `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-form form="${form.id}" ${attributes}><a href="${address()}">Ask for a plan</a></svc-form>`
const sent = (email) => until("the submission of " + email, async () => (await desk.admin.get("/submissions?form=" + form.id)).items.find((s) => s.values.email === email))

// Fills in all but the two that tests leave out.
async function fill(page, email) {
  await page.getByLabel("First name").fill("Ada")
  await page.getByLabel("Email", { exact: true }).fill(email)
  await page.getByLabel("Phone").fill("+32 9 123 45 67")
  await page.getByLabel("Own site").fill("ada.example.com")
  await page.getByLabel("Wanted by").fill("2031-05-04")
  await page.getByLabel("Budget").fill("1250,50")
  await page.getByLabel("Where").selectOption("Ghent")
  await page.getByLabel("Garden", { exact: true }).check()
  await page.getByLabel("Pond").check()
  await page.getByLabel("What do you have in mind?").fill("Roses & <b>thorns</b>")
  await page.getByLabel("You may keep my details").check()
}

const values = (email) => ({ first: "Ada", email, phone: "+32 9 123 45 67", site: "ada.example.com", by: "2031-05-04", budget: "1250.50", where: "Ghent", topics: ["Garden", "Pond"], plans: "Roses & <b>thorns</b>", privacy: true })

const said = (page) => page.getByText("We will call you within two working days.")
const field = (page) => page.evaluate(() => {
  let e = document.activeElement
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
  return e?.id || e?.className || e?.tagName
})

// Each has a browser and an address of its own; what changes something for all visitors stands behind them.
describe("visitors who come at once", { concurrency: 4 }, () => {
  test("a form is sent without script, and asks again for what is wrong", async () => {
    const v = await visitor(browser, { javaScriptEnabled: false, hosts: ours(), viewport: { width: 320, height: 700 } })
    const email = somebody("plain")
    await v.page.goto(address())
    let shown = Date.now()
    await check(v.page, "form plain")
    await fill(v.page, "ada@somewhere")
    await ripe(shown)
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await v.page.getByText("Enter an email address such as name@example.com.").first().waitFor()
    shown = Date.now()
    await check(v.page, "form plain error")
    assert.equal(await v.page.getByLabel("What do you have in mind?").inputValue(), "Roses & <b>thorns</b>")
    assert.equal(await v.page.getByLabel("Pond").isChecked(), true)
    await v.page.getByLabel("Email", { exact: true }).fill(email)
    await ripe(shown)
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await said(v.page).waitFor()
    await check(v.page, "form plain sent")
    assert.deepEqual((await sent(email)).values, values(email))
    await v.end()
  })

  test("with script the page stays, and points at what is missing", async () => {
    const v = await visitor(browser, { hosts: ours(), delays: true, colorScheme: "dark" })
    const email = somebody("scripted")
    await v.page.goto(address())
    await check(v.page, "form")
    assert.equal(await field(v.page), "BODY", "nothing takes focus by itself")
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await v.page.getByText("answers need your attention").waitFor()
    assert.match(await field(v.page), /summary/)
    await check(v.page, "form errors")
    await v.page.getByRole("link", { name: "Where: Please choose an answer." }).click()
    assert.equal(await field(v.page), "svc-where")

    await fill(v.page, "ada@somewhere")
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await v.page.getByText("Enter an email address such as name@example.com.").first().waitFor()
    await until("focus on the only wrong answer", async () => (await field(v.page)) === "svc-email")
    await check(v.page, "form error")
    await v.page.keyboard.press("Control+A")
    await v.page.keyboard.type(email)
    await v.page.keyboard.press("Enter")
    await said(v.page).waitFor()
    await check(v.page, "form sent")
    assert.deepEqual((await sent(email)).values, values(email))
    await v.end()
  })

  test("what stands in the way of sending is said, and nothing that was typed is lost", async () => {
    const site = await host(desk.gateway, snippet())
    const v = await visitor(browser, { hosts: [...ours(), new URL(site.url).host] })
    const email = somebody("unlucky")
    const answers = []
    const keys = []
    await v.page.route("**/v1/forms/*/submit", async (route) => {
      if (route.request().method() === "POST") keys.push(route.request().headers()["idempotency-key"])
      const next = route.request().method() === "POST" ? answers.shift() : undefined
      if (next === "cut") return route.abort()
      if (!next) return route.continue()
      await route.fulfill({ status: next.status, headers: { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After", ...next.headers }, contentType: "application/json", body: JSON.stringify({ code: next.code, message: "", data: next.data ?? {} }) })
    })
    const press = () => v.page.getByRole("button", { name: "Send my request" }).click()
    const kept = async () => assert.equal(await v.page.getByLabel("What do you have in mind?").inputValue(), "Roses & <b>thorns</b>")
    await v.page.goto(site.url)
    await v.page.getByRole("button", { name: "Send my request" }).waitFor()
    await fill(v.page, email)

    answers.push({ status: 429, code: "svc_rate_limited", headers: { "Retry-After": "40" } })
    await press()
    await v.page.getByText("please wait 40 seconds and send again").waitFor()
    await check(v.page, "form widget limited")
    await kept()

    answers.push("cut", { status: 503, code: "svc_unavailable" })
    await press()
    await v.page.getByText("please check your connection and try again").waitFor()
    await check(v.page, "form widget offline")
    await press()
    await until("a second try", () => answers.length === 0)
    await v.page.getByText("please check your connection and try again").waitFor()
    assert.equal(keys[1], keys[2], "the same answers are sent again under the same key")
    await kept()

    answers.push({ status: 400, code: "svc_invalid_param", data: { details: { "values.email": { code: "email" } } } })
    await press()
    await until("focus on the email", async () => (await field(v.page)) === "svc-email")

    // The widget replaces a token that is too old, and says nothing.
    answers.push({ status: 400, code: "svc_invalid_token" })
    await press()
    await said(v.page).waitFor()
    assert.deepEqual((await sent(email)).values, values(email))
    site.close()
    await v.end()
  })

  // The three ways to a form: the page with and without script, and the widget on somebody else's site.
  const ways = [
    { name: "without script", options: { javaScriptEnabled: false } },
    { name: "with script", options: {} },
    { name: "in the widget", widget: true, options: {} },
  ]

  async function open(way, id, lang) {
    const site = way.widget && (await host(desk.gateway, `<script type="module" src="${desk.gateway}/_ui/w/v1/svc.js"></script><svc-form form="${id}" lang="${lang}"><a href="/">form</a></svc-form>`))
    const v = await visitor(browser, { ...way.options, hosts: site ? [...ours(), new URL(site.url).host] : ours() })
    await v.page.goto(site ? site.url : `${address(id)}?lang=${lang}`)
    await v.page.getByRole("button", { name: "Go" }).waitFor()
    return { ...v, end: async () => (site?.close(), v.end()) }
  }

  for (const [i, way] of ways.entries()) {
    test(`new words of a consent are shown before it is given, ${way.name}`, async () => {
      const lang = ["nl", "fr", "de"][i]
      const definition = (words) => ({ submit_label: "Go", after_submit: { type: "message", message: "Taken." }, elements: [
        { id: "head", type: "heading", text: "Call me" },
        { id: "email", type: "field", target: "contact.email", label: "Mail", required: true },
        { id: "topics", type: "field", target: "submission.fields.topic", label: "Topic", options: ["Roses", "Oaks"] },
        { id: "message", type: "field", target: "submission.fields.message", label: "Words" },
        { id: "ok", type: "consent", text: words, required: true },
      ] })
      const made = await desk.admin.post("/forms", { name: "Consent", status: "publish", definition: definition("You may call me by day.") })
      const v = await open(way, made.id, lang)
      let shown = Date.now()
      const email = somebody("consent" + i)
      await v.page.getByLabel("Mail").fill(email)
      await v.page.getByLabel("Topic").selectOption("Oaks")
      await v.page.getByLabel("Words").fill("Twelve <oaks>")
      await v.page.getByLabel("by day").check()
      await desk.admin.patch("/forms/" + made.id, { definition: definition("You may call me by day and by night.") })
      await ripe(shown)
      await v.page.getByRole("button", { name: "Go" }).click()
      await v.page.getByText(["Het formulier is veranderd", "Le formulaire a changé", "Das Formular hat sich geändert"][i]).waitFor()
      shown = Date.now()
      await check(v.page, "form consent changed " + way.name)
      assert.equal(await v.page.getByRole("heading", { name: "Call me" }).count(), 1)
      assert.equal(await v.page.getByLabel("Mail").inputValue(), email)
      assert.equal(await v.page.getByLabel("Topic").inputValue(), "Oaks")
      assert.equal(await v.page.getByLabel("Words").inputValue(), "Twelve <oaks>")
      assert.equal(await v.page.getByLabel("by night").isChecked(), false)
      assert.equal((await desk.admin.get("/submissions?form=" + made.id)).total, 0)
      await v.page.getByLabel("by night").check()
      await ripe(shown)
      await v.page.getByRole("button", { name: "Go" }).click()
      await v.page.getByText("Taken.").waitFor()
      const submission = (await desk.admin.get("/submissions?form=" + made.id)).items[0]
      assert.deepEqual(submission.values, { email, topics: "Oaks", message: "Twelve <oaks>", ok: true })
      await v.end()
    })

    test(`what the server refuses is said in the visitor's language, and nothing typed is lost, ${way.name}`, async () => {
      const made = await desk.admin.post("/forms", { name: "Refusals", status: "publish", definition: { submit_label: "Go", elements: [
        { id: "first", type: "field", target: "contact.first_name", label: "Name" },
        { id: "email", type: "field", target: "contact.email" },
        { id: "phone", type: "field", target: "contact.phone", label: "Number" },
        { id: "site", type: "field", target: "organization.website" },
        { id: "org", type: "field", target: "organization.name" },
        { id: "news", type: "consent", text: "Mail me.", marketing: true },
      ] } })
      const v = await open(way, made.id, "nl")
      let shown = Date.now()
      const press = async () => {
        await ripe(shown)
        await v.page.getByRole("button", { name: "Go" }).click()
      }
      await press()
      await v.page.getByText("Beantwoord minstens één vraag.").waitFor()
      shown = Date.now()
      await check(v.page, "form empty " + way.name)

      await v.page.getByLabel("Name").fill("Ann")
      await v.page.getByLabel("Number").fill("call me")
      await v.page.getByLabel("Website").fill("javascript:alert(1)")
      await v.page.getByLabel("Bedrijf", { exact: false }).first().fill("Acme & Sons")
      await v.page.getByLabel("Mail me.").check()
      await press()
      await v.page.getByText("Geef een telefoonnummer in, zoals").first().waitFor()
      await v.page.getByText("Geef een webadres in, zoals").first().waitFor()
      await v.page.getByText("Geef uw e-mailadres in, zodat we u om bevestiging kunnen vragen.").first().waitFor()
      await v.page.getByText("3 antwoorden vragen uw aandacht").waitFor()
      shown = Date.now()
      await check(v.page, "form refused " + way.name)
      assert.equal(await v.page.getByLabel("Name").inputValue(), "Ann")
      assert.equal(await v.page.getByLabel("Number").inputValue(), "call me")
      assert.equal(await v.page.getByLabel("Bedrijf").first().inputValue(), "Acme & Sons")
      assert.equal(await v.page.getByLabel("Mail me.").isChecked(), true)

      await v.page.getByLabel("Number").fill("+32 9 123 45 67")
      await v.page.getByLabel("Website").fill("acme.example.com")
      await v.page.getByLabel("E-mailadres").fill(somebody("refused" + i))
      await press()
      await v.page.getByText("Bedankt. We hebben uw antwoorden ontvangen.").waitFor()
      await v.end()
    })
  }

  test("a page of the site shows the form, or without script the way to it", async () => {
    const v = await visitor(browser, { hosts: ours() })
    await v.page.goto(`${desk.gateway}/${page.slug}`)
    await v.page.getByRole("button", { name: "Send my request" }).waitFor()
    await check(v.page, "site page")
    await v.end()
    const plain = await visitor(browser, { javaScriptEnabled: false, hosts: ours() })
    await plain.page.goto(`${desk.gateway}/${page.slug}?lang=nl`)
    await check(plain.page, "site page plain")
    await plain.page.getByRole("link", { name: "Formulier openen" }).click()
    await plain.page.getByText("optioneel").first().waitFor()
    await plain.page.goto(`${desk.gateway}/nowhere-at-all`)
    await plain.page.getByRole("heading", { name: "This page does not exist" }).waitFor()
    await check(plain.page, "site not found")
    await plain.end()
  })

  test("a form leads on to another site", async () => {
    const v = await visitor(browser, { javaScriptEnabled: false })
    await v.page.route("https://thanks.example.com/**", (route) => route.fulfill({ contentType: "text/html", body: "<title>Thanks</title>elsewhere" }))
    await v.page.goto(address(led.id))
    const shown = Date.now()
    await v.page.getByLabel("Email").fill(somebody("led"))
    await ripe(shown)
    await v.page.getByRole("button", { name: "Send" }).click()
    await v.page.waitForURL("https://thanks.example.com/here")
    await v.end()
  })

  test("without a connection a widget's link stays, and the form comes with the connection", async () => {
    const site = await host(desk.gateway, snippet())
    const v = await visitor(browser, { hosts: [...ours(), new URL(site.url).host] })
    const { page } = v
    await page.route("**/_ui/forms/form/**", (route) => route.abort())
    const asked = page.waitForEvent("requestfailed")
    await page.goto(site.url)
    await asked
    await page.getByRole("link", { name: "Ask for a plan" }).waitFor()
    await check(page, "form widget without connection")
    await page.unroute("**/_ui/forms/form/**")
    await v.context.setOffline(true)
    await v.context.setOffline(false)
    await page.getByRole("button", { name: "Send my request" }).waitFor()
    assert.equal(await page.getByRole("link", { name: "Ask for a plan" }).isVisible(), false)
    site.close()
    await v.end()
  })
})

test("the widget takes the place of its link on somebody else's site, in the site's language and our style", async () => {
  const site = await host(desk.gateway, snippet(`lang="fr"`))
  await desk.admin.patch("/settings/form-style", { font: "svc:nunito", button_background: "#7c2d12", button_width: "full", button_radius: 30, field_radius: 2, container: "plain" })
  const v = await visitor(browser, { hosts: [...ours(), new URL(site.url).host], viewport: { width: 320, height: 700 }, delays: true, reducedMotion: "no-preference" })
  try {
    const email = somebody("widget")
    await v.page.goto(site.url)
    await v.page.getByRole("button", { name: "Send my request" }).waitFor()
    assert.equal(await v.page.getByRole("link", { name: "Ask for a plan" }).isVisible(), false)
    await check(v.page, "form widget")
    const style = await v.page.evaluate(() => {
      const b = getComputedStyle(document.querySelector("svc-form").shadowRoot.querySelector("button"))
      return [b.backgroundColor, b.borderRadius, b.fontFamily.includes("svc-nunito")]
    })
    assert.deepEqual(style, ["rgb(124, 45, 18)", "30px", true])
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await v.page.getByText("réponses demandent votre attention").waitFor()
    assert.match(await field(v.page), /summary/)
    await check(v.page, "form widget errors")
    await v.page.getByRole("link", { name: /^First name/ }).click()
    assert.equal(await field(v.page), "svc-first")
    await fill(v.page, email)
    await v.page.getByLabel("Send me the garden letter").check()
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await said(v.page).waitFor()
    await check(v.page, "form widget sent")
    const submission = await sent(email)
    assert.deepEqual(submission.values, { ...values(email), news: true })
    assert.equal(submission.page, site.url)
    await mailLink(email, "/marketing/confirm")
    await v.end()
  } finally {
    site.close()
    await desk.admin.patch("/settings/form-style", { font: null, button_background: null, button_width: null, button_radius: null, field_radius: null, container: null })
  }
})

test("while the app is off there is no form, and the widget says so in one line", async () => {
  const site = await host(desk.gateway, snippet())
  const v = await visitor(browser, { hosts: [...ours(), new URL(site.url).host] })
  const plain = await visitor(browser, { javaScriptEnabled: false, hosts: ours() })
  const email = somebody("late")
  await v.page.goto(site.url)
  await fill(v.page, email)
  await plain.page.goto(address(led.id))
  const shown = Date.now()
  await plain.page.getByLabel("Email").fill(email)
  await desk.admin.patch("/apps/forms", { enabled: false })
  try {
    await until("the page to go", async () => (await fetch(address())).status === 404)
    // A visitor who was typing is told, and can still copy the text.
    await v.page.getByRole("button", { name: "Send my request" }).click()
    await v.page.getByRole("alert").filter({ hasText: "not available" }).or(v.page.getByText("no longer")).first().waitFor()
    assert.equal(await v.page.getByLabel("What do you have in mind?").inputValue(), "Roses & <b>thorns</b>")
    await check(v.page, "form widget off meanwhile")
    await ripe(shown)
    await plain.page.getByRole("button", { name: "Send" }).click()
    await plain.page.getByRole("heading", { name: "This page does not exist" }).waitFor()

    assert.equal((await v.page.goto(address())).status(), 404)
    await check(v.page, "form off")
    await v.page.goto(site.url)
    await v.page.getByText("This form is not available at the moment.").waitFor()
    assert.equal(await v.page.getByRole("link", { name: "Ask for a plan" }).isVisible(), false)
    await check(v.page, "form widget off")
    for (const one of [v.page, plain.page]) {
      assert.equal((await one.goto(`${desk.gateway}/${page.slug}`)).status(), 200)
      await one.getByText("This form is not available at the moment.").waitFor()
      await one.getByText("Or drop by.").waitFor()
      await check(one, one === v.page ? "site page form off" : "site page form off plain")
    }
    await v.end()
    await plain.end()
  } finally {
    site.close()
    await desk.admin.patch("/apps/forms", { enabled: true })
    await until("the page to come back", async () => (await fetch(address())).ok)
  }
})
