// The plugin on a network of two websites: for all, for one, and off again.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { launch } from "../../browser/browser.mjs"
import { setUp } from "../../browser/system.mjs"
import { makeGate, makeSite, password } from "./site.mjs"

const second = "/second/"

let site, gate, key, boss
before(async () => {
  const desk = await setUp()
  gate = await makeGate()
  site = await makeSite({ network: true })
  key = (await desk.person.post("/me/application-passwords", { name: "network", permissions: ["svc_view_contacts"] })).password
  boss = await (await (await launch()).newContext({ locale: "en-GB", reducedMotion: "reduce" })).newPage()
  boss.setDefaultTimeout(20_000)
  await boss.goto(site.url + "/wp-login.php")
  await boss.getByLabel("Username or Email Address").fill("boss")
  await boss.locator("#user_pass").fill(password)
  await boss.getByRole("button", { name: "Log In" }).click()
  await boss.waitForURL(/wp-admin/)
})
after(async () => {
  await site?.stop()
  gate?.close()
})

/** Runs PHP in each of the two websites: what they print. */
const both = (code) => ["/", second].map((path) => site.php(code, "", path))
const settings = (path) => boss.goto(site.url + path + "wp-admin/options-general.php?page=frontdesk")
async function connect(path, address) {
  await settings(path)
  await boss.locator("#url").fill(address)
  await boss.locator("#login").fill("admin")
  await boss.locator("#password").fill(key)
  await boss.getByRole("button", { name: "Connect", exact: true }).click()
  await boss.getByText("Connected, in the name of").waitFor()
}
async function plugins(path, link, said) {
  await boss.goto(site.url + path + "plugins.php")
  await boss.locator(link).click()
  await boss.getByText(said).waitFor()
}
/** The same installation by another name. */
const otherName = () => "http://localhost:" + new URL(gate.url).port

test("switched on for the network, each website has a connection of its own", async () => {
  await plugins("/wp-admin/network/", "#activate-frontdesk", "Plugin activated.")
  await connect("/", gate.url)
  assert.deepEqual(both("echo Frontdesk\\options()['url'];"), [gate.url, ""])
  await connect(second, otherName())
  assert.deepEqual(both("echo Frontdesk\\options()['url'];"), [gate.url, otherName()])
  assert.deepEqual(both("echo do_shortcode( '[svc-booking]' );").map((html) => /<svc-booking[^>]*>/.test(html)), [true, true])
  assert.deepEqual(both("echo count( Frontdesk\\known_abilities() ) > 50;"), ["1", "1"])
})

test("a person's key counts on the website where it was entered", () => {
  const own = "$id = get_user_by( 'login', 'boss' )->ID; echo ( Frontdesk\\user_key( $id ) ?? array( '', 'none' ) )[1];"
  site.php("Frontdesk\\keep_user_key( get_user_by( 'login', 'boss' )->ID, 'admin', 'of the first' );")
  assert.deepEqual(both(own), ["of the first", "none"])
  site.php("Frontdesk\\keep_user_key( get_user_by( 'login', 'boss' )->ID, 'admin', 'of the second' );", "", second)
  assert.deepEqual(both(own), ["of the first", "of the second"])
  site.php("remove_user_from_blog( get_user_by( 'login', 'boss' )->ID, 2 ); add_user_to_blog( 2, get_user_by( 'login', 'boss' )->ID, 'administrator' );")
  assert.deepEqual(both(own), ["of the first", "none"], "who comes back to a website begins anew there")
})

test("one website disconnects, and the other goes on", async () => {
  await settings(second)
  await boss.getByRole("button", { name: "Disconnect" }).click()
  await boss.getByText("Disconnected.").waitFor()
  assert.deepEqual(both("echo do_shortcode( '[svc-booking]' );").map((html) => /<svc-booking[^>]*>/.test(html)), [true, false])
  await connect(second, gate.url)
})

test("switched off for the network, no website asks for the abilities any more", async () => {
  assert.deepEqual(both("echo wp_next_scheduled( 'frontdesk_refresh' ) > 0;"), ["1", "1"])
  await plugins("/wp-admin/network/", "#deactivate-frontdesk", "Plugin deactivated.")
  assert.deepEqual(both("echo (int) wp_next_scheduled( 'frontdesk_refresh' );"), ["0", "0"])
})

test("switched on for one website, the other knows nothing of it", async () => {
  await plugins(second + "wp-admin/", "#activate-frontdesk", "Plugin activated.")
  assert.deepEqual(both("echo (int) shortcode_exists( 'svc-booking' );"), ["0", "1"])
  assert.equal(site.php("echo Frontdesk\\options()['url'];", "", second), gate.url, "what it kept counts again")
  assert.match((await settings("/")).status() + (await boss.content()), /^403|not allowed/)
  await plugins(second + "wp-admin/", "#deactivate-frontdesk", "Plugin deactivated.")
})

test("removing the plugin removes what it kept on every website, and PHP complains about nothing", () => {
  site.php("update_user_meta( 1, 'wp_7_frontdesk_key', 'of a website that is gone' );")
  assert.equal(site.complaints(), "")
  site.php("require_once ABSPATH . 'wp-admin/includes/plugin.php'; uninstall_plugin( 'frontdesk/frontdesk.php' );")
  for (const table of ["wp_options", "wp_2_options"])
    assert.equal(site.sql(`select count(*) from wordpress.${table} where (option_name like '%frontdesk%' and option_name not like '%transient%') or (option_name = 'cron' and option_value like '%frontdesk%')`).trim(), "0", table)
  assert.equal(site.sql("select count(*) from wordpress.wp_usermeta where meta_key like '%frontdesk_key%'").trim(), "0")
  assert.equal(site.sql("select count(*) from wordpress.wp_sitemeta where meta_key like '%frontdesk%'").trim(), "0")
})
