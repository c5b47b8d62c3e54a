import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { after, before, test } from "node:test"
import { check, launch, visitor } from "./browser.mjs"
import { Client, mailLink, setUp, until } from "./system.mjs"

let browser, desk
before(async () => {
  desk = await setUp()
  browser = await launch()
})
after(() => browser?.close())

const ours = () => [new URL(desk.gateway).host]
const somebody = (name) => `${name}-${Date.now().toString(36)}@example.com`
const invite = (email) => desk.admin.post("/staff", { name: "Bea Maes", email, role: "staff" })

// Ends a browser that signed in: only there may a cookie be.
async function signedIn(v, email) {
  const [cookie, ...others] = await v.context.cookies()
  assert.equal(cookie.name, "svc_session")
  assert.equal(cookie.httpOnly, true)
  assert.deepEqual(others, [])
  const person = new Client({ Cookie: `${cookie.name}=${cookie.value}` })
  const me = await until("the session", () => person.get("/me").catch(() => undefined))
  assert.equal(me.email, email)
  await v.context.clearCookies()
  return person
}

// The six digits of an authenticator.
function totp(secret, at = Date.now()) {
  let bits = ""
  for (const c of secret) bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30000)))
  const mac = createHmac("sha1", key).update(step).digest()
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1000000).padStart(6, "0")
}

const signIn = async (page, email, password) => {
  await page.getByLabel("Login or email address").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
}

test("an invitation is accepted, and its owner signs in, forgets the password and chooses another", async () => {
  const email = somebody("bea")
  await invite(email)
  const v = await visitor(browser, { hosts: ours(), viewport: { width: 320, height: 700 } })
  const link = await mailLink(email, "/account/invitation")
  await v.page.goto(link)
  await check(v.page, "invitation")
  assert.equal(await v.page.getByLabel("Code from the email").isVisible(), false, "the link carries the code")
  await v.page.getByLabel("New password").fill("long enough 1")
  await v.page.getByLabel("Show the password").check()
  assert.equal(await v.page.getByLabel("New password").getAttribute("type"), "text")
  await v.page.getByRole("button", { name: "Accept the invitation" }).click()
  await v.page.getByRole("heading", { name: "You are part of the team" }).waitFor()
  await check(v.page, "invitation accepted")
  await v.page.goto("about:blank") // what differs in the fragment alone is not loaded again
  await v.page.goto(link)
  await v.page.getByLabel("New password").fill("long enough 2")
  await v.page.getByRole("button", { name: "Accept the invitation" }).click()
  await v.page.getByRole("heading", { name: "This link no longer works" }).waitFor()
  await check(v.page, "invitation used")
  await v.page.getByRole("link", { name: "Sign in" }).click()
  await check(v.page, "sign in")
  await signIn(v.page, email, "long enough 9")
  await v.page.getByText("The login or the password is not right.").waitFor()
  await check(v.page, "sign in wrong")
  assert.equal(await v.page.getByLabel("Login or email address").inputValue(), email)
  await signIn(v.page, email, "long enough 1")
  await v.page.waitForURL(/\/account$/)
  await v.page.getByRole("heading", { name: "Bea Maes" }).waitFor()
  await check(v.page, "account")
  await signedIn(v, email)

  await v.page.goto(desk.gateway + "/account/sign-in")
  await v.page.getByRole("link", { name: "Forgot your password?" }).click()
  await check(v.page, "password forgotten")
  await v.page.getByLabel("Email address").fill(email)
  await v.page.getByRole("button", { name: "Send the link" }).click()
  await v.page.getByRole("heading", { name: "Check your mail" }).waitFor()
  await check(v.page, "password mailed")
  await v.page.goto("about:blank")
  await v.page.goto(await mailLink(email, "/account/password"))
  await check(v.page, "password new")
  await v.page.getByLabel("New password").fill("another long one")
  await v.page.getByRole("button", { name: "Save the password" }).click()
  await v.page.getByRole("heading", { name: "Your password has changed" }).waitFor()
  await check(v.page, "password changed")
  await v.end()
})

test("whoever has a second factor is asked for it, without script too", async () => {
  const email = somebody("dora")
  await invite(email)
  const v = await visitor(browser, { hosts: ours(), javaScriptEnabled: false, colorScheme: "dark" })
  const link = await mailLink(email, "/account/invitation")
  await v.page.goto(link)
  await v.page.getByLabel("Code from the email").fill(link)
  await v.page.getByLabel("New password").fill("long enough 1")
  await check(v.page, "invitation plain")
  await v.page.getByRole("button", { name: "Accept the invitation" }).click()
  await v.page.getByRole("heading", { name: "You are part of the team" }).waitFor()
  await v.page.goto(desk.gateway + "/account/sign-in?next=/team/calendar")
  await signIn(v.page, email, "long enough 1")
  await v.page.waitForURL(/\/team\/calendar$/)
  const person = await signedIn(v, email)
  const { secret } = await person.post("/auth/two-factor")
  const { recovery_codes } = await person.post("/auth/two-factor/confirm", { code: totp(secret, Date.now() - 30000) })

  await v.page.goto(desk.gateway + "/account/sign-in?next=/team/calendar")
  await signIn(v.page, email, "long enough 1")
  await v.page.getByRole("heading", { name: "One more step" }).waitFor()
  await check(v.page, "second factor")
  await v.page.getByLabel("Code", { exact: true }).fill("000 000")
  await v.page.getByRole("button", { name: "Continue" }).click()
  await v.page.getByText("This code is not right.").waitFor()
  await check(v.page, "second factor wrong")
  await v.page.getByLabel("Code", { exact: true }).fill(totp(secret))
  await v.page.getByRole("button", { name: "Continue" }).click()
  await v.page.waitForURL(/\/team\/calendar$/)
  await signedIn(v, email)

  await v.page.goto(desk.gateway + "/account/sign-in?lang=de")
  await v.page.getByLabel("Anmeldename oder E-Mail-Adresse").fill(email)
  await v.page.getByLabel("Passwort", { exact: true }).fill("long enough 1")
  await v.page.getByRole("button", { name: "Anmelden" }).click()
  await v.page.getByRole("heading", { name: "Noch ein Schritt" }).waitFor()
  await v.page.getByLabel("Code", { exact: true }).fill(recovery_codes[0])
  await v.page.getByRole("button", { name: "Weiter" }).click()
  await v.page.waitForURL(/\/account\?lang=de$/)
  await v.page.getByText("Beim Anmelden wird ein Code Ihrer Authenticator-App verlangt.").waitFor()
  await check(v.page, "account german dark")
  await signedIn(v, email)
  await v.end()
})

for (const [way, options] of Object.entries({ "with script": {}, "without script": { javaScriptEnabled: false, viewport: { width: 320, height: 700 } } })) test(`${way} a person sees who is signed in, asks for a new password and signs out`, async () => {
  const email = somebody("carl")
  await desk.admin.post("/staff", { name: "Carl Peeters-Vandenbroucke", email, role: "svc_admin" })
  const token = new URL(await mailLink(email, "/account/invitation")).hash.split("token=")[1]
  await new Client().post("/auth/invitation", { token, password: "long enough 1" })
  const v = await visitor(browser, { hosts: ours(), ...options })
  const { page } = v
  await page.goto(desk.gateway + "/account")
  await page.waitForURL(/\/account\/sign-in\?next=%2Faccount$/)
  await signIn(page, email, "long enough 1")
  await page.waitForURL(/\/account$/)
  const text = await page.locator("main").innerText()
  for (const part of ["Carl Peeters-Vandenbroucke", email, "Manager", "Off"]) assert.ok(text.includes(part), `${part} in ${text}`)
  await check(page, `account ${way}`)

  // Who is signed in is not asked again.
  await page.goto(desk.gateway + "/account/sign-in")
  await page.waitForURL(/\/account$/)
  await page.getByRole("link", { name: "Change your password" }).click()
  assert.equal(await page.getByLabel("Email address").inputValue(), email)
  await check(page, `account password ${way}`)
  await page.getByRole("link", { name: "Your account" }).click()
  const [{ name, value }] = await v.context.cookies()
  await page.getByRole("button", { name: "Sign out" }).click()
  await page.getByRole("heading", { name: "You are signed out" }).waitFor()
  await check(page, `account signed out ${way}`)
  assert.deepEqual(await v.context.cookies(), [])
  const before = new Client({ Cookie: `${name}=${value}` })
  await until("the end of the session", () => before.get("/me").then(() => false, (e) => e.status === 401))
  await page.getByRole("link", { name: "Sign in" }).click()
  await page.getByLabel("Login or email address").waitFor()
  await v.end()
})

test("whoever a company profile names confirms it by the mail's link, once", async () => {
  const email = somebody("boss")
  const agree = (data) => desk.person.patch("/settings/telemetry", { profile: true, profile_data: { company: "Linde", name: "Boss", ...data } })
  await agree({ email })
  const v = await visitor(browser, { hosts: ours(), viewport: { width: 320, height: 700 } })
  const { page } = v
  const link = await mailLink(email, "/account/telemetry")
  const press = (page) => page.getByRole("button", { name: "Yes, that is my address" }).click()
  await page.goto(link)
  await check(page, "telemetry")
  assert.equal(await page.getByLabel("Code from the email").isVisible(), false, "the link carries the code")
  await press(page)
  await page.getByRole("heading", { name: "Thank you, your profile is confirmed" }).waitFor()
  await check(page, "telemetry confirmed")
  await page.goto("about:blank") // what differs in the fragment alone is not loaded again
  await page.goto(link)
  await press(page)
  await page.getByRole("heading", { name: "This link no longer works" }).waitFor()
  await page.getByText("enter the address in the settings once more").waitFor()
  await check(page, "telemetry used")
  await v.end()

  const other = somebody("chef")
  await agree({ email: other })
  const plain = await visitor(browser, { hosts: ours(), javaScriptEnabled: false, colorScheme: "dark" })
  const second = await mailLink(other, "/account/telemetry")
  await plain.page.goto(second)
  await press(plain.page)
  assert.equal(await plain.page.getByLabel("Code from the email").evaluate((input) => input.validity.valueMissing), true)
  await plain.page.getByLabel("Code from the email").fill("something else")
  await press(plain.page)
  await plain.page.getByText("This code is not right.").waitFor()
  await check(plain.page, "telemetry plain wrong")
  await plain.page.getByLabel("Code from the email").fill(second)
  await press(plain.page)
  await plain.page.getByRole("heading", { name: "Thank you, your profile is confirmed" }).waitFor()
  await check(plain.page, "telemetry plain confirmed")
  await plain.end()
  await desk.person.patch("/settings/telemetry", { profile: false })
})
