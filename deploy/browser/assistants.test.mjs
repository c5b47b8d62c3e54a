import assert from "node:assert/strict"
import { createHash, randomBytes } from "node:crypto"
import { test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { password, state } from "./system.mjs"
import { browser, desk } from "./team.mjs"

const verifier = randomBytes(32).toString("base64url")

/** The address to which an assistant of this name leads a person. */
async function asking(client_name) {
  const res = await fetch(desk.gateway + "/oauth/register", { method: "POST", body: JSON.stringify({ client_name, redirect_uris: ["https://assistant.test/callback"] }) })
  const query = { response_type: "code", client_id: (await res.json()).client_id, redirect_uri: "https://assistant.test/callback", state: "s",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256" }
  return { client: query.client_id, url: desk.gateway + "/account/connect?" + new URLSearchParams(query) }
}

for (const [language, words] of [["en", { connect: "Connect", deny: "Do not connect", remove: "Delete contacts", end: "Disconnect" }], ["de", { deny: "Nicht verbinden", dark: true }], ["nl", { deny: "Niet koppelen" }], ["fr", { deny: "Ne pas connecter" }]]) {
  test(`a person decides on an assistant, in ${language}`, async () => {
    const v = await visitor(browser, words.dark ? { viewport: { width: 1280, height: 900 }, colorScheme: "dark" } : { viewport: { width: 320, height: 700 } })
    let ledTo
    await v.context.route("https://assistant.test/**", (route) => {
      ledTo = new URL(route.request().url())
      return route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Back</title>Back" })
    })
    const { client, url } = await asking("Helper with a rather long name for a small screen")
    await v.page.goto(desk.gateway + "/account/sign-in?lang=en")
    await v.page.getByLabel("Login or email address").fill(state().admin?.login || "admin")
    await v.page.getByLabel("Password", { exact: true }).fill(password)
    await v.page.getByRole("button", { name: "Sign in" }).click()
    await v.page.waitForURL("**/account**")
    await v.page.goto(url + "&lang=" + language)
    await check(v.page, "connect an assistant, " + language)
    // Single abilities stand under the permission that leads to them.
    const contacts = v.page.locator("details").filter({ has: v.page.locator('input[value="svc/find-contacts"]') })
    assert.equal(await contacts.locator('input[value="svc/find-contacts"]').isVisible(), false)
    await contacts.locator("summary").click()
    await contacts.locator('input[value="svc/find-contacts"]').waitFor()
    await check(v.page, "single abilities, " + language)
    if (words.connect) {
      await contacts.locator('input[value="svc/find-contacts"]').uncheck()
      await v.page.getByLabel(words.remove, { exact: true }).uncheck()
      await v.page.getByRole("button", { name: words.connect, exact: true }).click()
      await v.page.waitForURL("https://assistant.test/**")
      const given = await fetch(desk.gateway + "/oauth/token", { method: "POST", body: new URLSearchParams({ grant_type: "authorization_code", client_id: client, code: ledTo.searchParams.get("code"), code_verifier: verifier, redirect_uri: "https://assistant.test/callback" }) })
      const { scope, access_token } = await given.json()
      assert.ok(scope.includes("svc_view_contacts") && !scope.includes("svc_delete_contacts"), scope)
      const headers = { Authorization: "Bearer " + access_token, "Content-Type": "application/json", Accept: "application/json, text/event-stream" }
      const find = await fetch(desk.gateway + "/v1/abilities/svc/find-contacts/run", { headers })
      assert.deepEqual([find.status, (await find.json()).data.reason], [403, "ability"])
      assert.equal((await fetch(desk.gateway + "/v1/abilities/svc/find-organizations/run", { headers })).status, 200)
      const tools = await (await fetch(desk.gateway + "/mcp?tools=contacts", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }) })).text()
      assert.ok(tools.includes('"svc-find-organizations"') && !tools.includes('"svc-find-contacts"'), tools.slice(0, 300))
      await v.page.goto(desk.gateway + "/account/assistants")
      await v.page.getByText("find contacts").waitFor()
      await check(v.page, "assistants")
      await v.page.getByRole("button", { name: words.end }).first().click()
      await v.page.getByText("You have connected none").waitFor()
      await check(v.page, "no assistants")
    } else {
      await v.page.getByRole("button", { name: words.deny, exact: true }).click()
      await v.page.waitForURL("https://assistant.test/**")
      assert.equal(ledTo.searchParams.get("error"), "access_denied")
    }
    await v.context.clearCookies()
    await v.end()
  })
}
