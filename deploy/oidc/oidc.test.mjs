// Signing in at a real Keycloak, in a real browser: roles by groups, a fresh sign-in in place of a password, new keys, a second factor, and the end of a session from
// either side.
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { after, before, test } from "node:test"
import { launch, shot } from "../browser/browser.mjs"
import { Client, password as ours, start, state, until } from "../browser/system.mjs"
import { startKeycloak } from "./keycloak.mjs"

const secret = "secret of our client", password = "a password at Contoso", seed = "twenty bytes, as many"

let keycloak, system, browser, home
before(async () => {
  keycloak = await startKeycloak()
  system = await start({ SVC_KAFKA_PARTITIONS: "2", SVC_FETCH_ALLOW: "127.0.0.1", SVC_OIDC_ISSUER: keycloak.url + "/realms/contoso", SVC_OIDC_CLIENT_ID: "frontdesk", SVC_OIDC_CLIENT_SECRET: secret, SVC_OIDC_NAME: "Contoso",
    SVC_OIDC_ROLES: "reception=staff,managers=svc_admin", SVC_OIDC_MFA: "otp" })
  process.env.E2E_DATA_DIR = system.dir
  home = "http://localhost:" + new URL(state().gateway).port
  // As the section "Signing in with the organization's account" of deploy/README.md says.
  await keycloak.admin("POST", "", { realm: "contoso", displayName: "Contoso", enabled: true, groups: [{ name: "reception" }, { name: "managers" }],
    clients: [{ clientId: "frontdesk", secret, redirectUris: [home + "/account/organization/callback"],
      attributes: { "pkce.code.challenge.method": "S256", "post.logout.redirect.uris": home + "/account/sign-in", "backchannel.logout.url": home + "/account/organization/logout", "backchannel.logout.session.required": "true" },
      protocolMappers: [{ name: "groups", protocol: "openid-connect", protocolMapper: "oidc-group-membership-mapper", config: { "claim.name": "groups", "full.path": "false", "id.token.claim": "true" } },
        { name: "amr", protocol: "openid-connect", protocolMapper: "oidc-amr-mapper", config: { "id.token.claim": "true" } }] }],
    users: [["anna", "reception"], ["bert", "reception"], ["carla", "reception"], ["dirk", "reception"], ["frida", "reception"], ["nobody"]].map(([username, ...groups]) => ({ username, email: username + "@contoso.example", emailVerified: true, firstName: username, lastName: "Novak", enabled: true, groups,
      credentials: [{ type: "password", value: password }, ...(username === "frida" ? [{ type: "otp", secretData: JSON.stringify({ value: seed }), credentialData: JSON.stringify({ subType: "totp", digits: 6, period: 30, algorithm: "HmacSHA1" }) }] : [])] })) })
  const code = (await keycloak.admin("GET", "/contoso/authentication/flows/browser/executions")).find((e) => e.providerId === "auth-otp-form")
  await keycloak.admin("POST", `/contoso/authentication/executions/${code.id}/config`, { alias: "otp", config: { "default.reference.value": "otp", "default.reference.maxAge": "3600" } })
  browser = await launch()
})
after(async () => {
  await system?.stop()
  keycloak?.stop()
})

/** A browser of somebody new. */
async function somebody() {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return page
}

/** Fills in Keycloak's page. Who has to sign in anew there need not say their name. */
async function atKeycloak(page, name) {
  await page.waitForURL(keycloak.url + "/**")
  await page.locator("#password").waitFor()
  if (await page.locator("#username").count()) await page.locator("#username").fill(name)
  await page.locator("#password").fill(password)
  await shot(page, "keycloak")
  await page.locator("#kc-login").click()
}

async function signIn(page, name) {
  await page.goto(home + "/team/contacts")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await atKeycloak(page, name)
}

const signedIn = (page) => page.getByRole("heading", { name: "Contacts", level: 1 }).waitFor()
const session = (page) => page.evaluate(async () => (await fetch("/v1/auth/session")).json())
const idOf = async (name) => (await keycloak.admin("GET", `/contoso/users?exact=true&username=${name}`))[0].id
const sessions = async (name) => keycloak.admin("GET", `/contoso/users/${await idOf(name)}/sessions`)
const group = async (name) => (await keycloak.admin("GET", "/contoso/groups?search=" + name))[0].id

test("a group gives a role at each sign-in, and no group lets nobody in", async () => {
  const page = await somebody()
  await signIn(page, "anna")
  await signedIn(page)
  const who = await session(page)
  assert.deepEqual([who.role, who.name, who.email, who.signs_in_by], ["staff", "anna Novak", "anna@contoso.example", ["organization"]])

  await keycloak.admin("PUT", `/contoso/users/${await idOf("anna")}/groups/${await group("managers")}`)
  const other = await somebody()
  await signIn(other, "anna")
  await signedIn(other)
  assert.equal((await session(other)).role, "svc_admin")

  const nobody = await somebody()
  await signIn(nobody, "nobody")
  await nobody.getByRole("heading", { name: "You have no access yet" }).waitFor()
  for (const p of [page, other, nobody]) await p.context().close()
})

test("a fresh sign-in stands in for a password, by the time that the provider says", async () => {
  const page = await somebody()
  await signIn(page, "bert")
  await signedIn(page)
  await page.goto(home + "/account/confirm?next=/account/keys")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await atKeycloak(page, "bert")
  await page.waitForURL("**/account/keys")
  await page.getByLabel("Name").fill("shell")
  await page.getByRole("button", { name: "Make", exact: false }).click()
  await page.locator(".key").waitFor()
  await page.context().close()
})

test("who signs out here is signed out there, and asked for the password again", async () => {
  const page = await somebody()
  await signIn(page, "carla")
  await signedIn(page)
  await page.goto(home + "/account")
  await page.getByRole("button", { name: "Sign out" }).click()
  // Without a question of Keycloak, because the ID token goes along, and back to our page.
  await page.waitForURL(home + "/account/sign-in*")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await page.locator("#password").waitFor()
  assert.deepEqual(await sessions("carla"), [])
  await page.context().close()
})

test("who is signed out there is signed out here", async () => {
  const [here, elsewhere, anna] = [await somebody(), await somebody(), await somebody()]
  await signIn(here, "dirk")
  await signedIn(here)
  const before = (await sessions("dirk")).map((s) => s.id)
  await signIn(elsewhere, "dirk")
  await signedIn(elsewhere)
  await signIn(anna, "anna")
  await signedIn(anna)
  const status = (page) => page.evaluate(async () => (await fetch("/v1/me")).status)
  const signedOut = (page) => until("the end of the session", async () => (await status(page)) === 401)

  // One of two sessions ends alone.
  const own = await sessions("dirk")
  assert.equal(own.length, 2)
  await keycloak.admin("DELETE", `/contoso/sessions/${own.find((s) => !before.includes(s.id)).id}`)
  await signedOut(elsewhere)
  assert.equal(await status(here), 200)

  await keycloak.admin("POST", `/contoso/users/${await idOf("dirk")}/logout`)
  await signedOut(here)
  assert.equal(await status(anna), 200)
  for (const page of [here, elsewhere, anna]) await page.context().close()
})

test("new keys of the provider are fetched when a signature names one", async () => {
  const { id } = await keycloak.admin("GET", "/contoso")
  await keycloak.admin("POST", "/contoso/components", { name: "newer", providerId: "rsa-generated", providerType: "org.keycloak.keys.KeyProvider", parentId: id, config: { priority: ["500"], algorithm: ["PS256"], keySize: ["2048"] } })
  await keycloak.admin("POST", "/contoso/components", { name: "newest", providerId: "rsa-generated", providerType: "org.keycloak.keys.KeyProvider", parentId: id, config: { priority: ["501"], algorithm: ["RS256"], keySize: ["2048"] } })
  const page = await somebody()
  await signIn(page, "bert")
  await signedIn(page)
  await page.context().close()
})

/** The code of now, RFC 6238. */
function code() {
  const moment = Buffer.alloc(8)
  moment.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const sum = createHmac("sha1", seed).update(moment).digest()
  return String((sum.readUInt32BE(sum[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}

test("a second factor there counts as one here, where all need one", async () => {
  const login = await new Client().call("POST", "/auth/login", { login: "admin", password: ours })
  const admin = new Client({ Cookie: login.headers.getSetCookie()[0].split(";")[0] })
  await until("the session", () => admin.get("/me").catch(() => undefined))
  await admin.patch("/settings/portal", { require_2fa: true })

  const frida = await somebody()
  await signIn(frida, "frida")
  await frida.locator("#otp").fill(code())
  await frida.locator("#kc-login").click()
  await signedIn(frida)
  assert.equal((await session(frida)).two_factor_missing, false)

  const bert = await somebody()
  await signIn(bert, "bert")
  await bert.waitForURL(home + "/**")
  await until("the question for a second factor", async () => (await session(bert).catch(() => ({}))).two_factor_missing)
  for (const p of [frida, bert]) await p.context().close()
})
