// Signing in with the organization's account, in a real browser: the button, the provider's page, the portal, a question that a fresh sign-in answers, and out again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { check, visitor } from "./browser.mjs"
import { browser, team, unique } from "./team.mjs"

const atProvider = async (page, email) => {
  await page.getByRole("heading", { name: "Contoso" }).waitFor()
  await page.getByLabel("Address").fill(email)
  await page.getByRole("button", { name: "Go on" }).click()
}

test("somebody signs in by the organization's account, makes a key with a fresh sign-in, and signs out there too", async () => {
  const anna = `desk+anna${unique().toLowerCase().replaceAll(/[^a-z0-9]/g, "")}@example.com`
  const v = await visitor(browser)
  const { page } = v
  await page.goto(team() + "/contacts")
  await page.getByRole("link", { name: "Sign in with Contoso" }).waitFor()
  await check(page, "sign in by the organization")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await page.getByRole("button", { name: "Cancel" }).click()
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor()
  await check(page, "not signed in by the organization")

  await page.goto(team() + "/contacts")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await atProvider(page, anna)
  await page.getByRole("heading", { name: "Contacts", level: 1 }).waitFor()
  // The provider leads back to the public address of the site.
  const site = new URL(page.url()).origin
  assert.equal(page.url(), site + "/team/contacts")

  // Who has no password is asked for a fresh sign-in in its place.
  await page.goto(site + "/account")
  await page.getByText("Contoso", { exact: true }).waitFor()
  assert.equal(await page.getByRole("link", { name: "Change your password" }).count(), 0)
  await check(page, "account of the organization")
  await page.goto(site + "/account/confirm?next=/account/keys")
  await check(page, "confirm by the organization")
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await atProvider(page, anna)
  await page.waitForURL("**/account/keys")

  await page.goto(site + "/account")
  await page.getByRole("button", { name: "Sign out" }).click()
  await page.getByText("Signed out of Contoso.").waitFor()
  await page.goto(site + "/account")
  await page.getByRole("heading", { name: "Sign in" }).waitFor()

  // Whom no group gives a role.
  await page.getByRole("link", { name: "Sign in with Contoso" }).click()
  await atProvider(page, "nobody@example.com")
  await page.getByRole("heading", { name: "You have no access yet" }).waitFor()
  await v.context.clearCookies()
  await v.end()
})
