// What the widgets and the portal share and needs no page.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const contents = ["text", "problem", "fault", "dates", "days", "duration", "price"].map((name) => `export * from "./${name}"`).join("\n")
const { outputFiles } = await build({ stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) }, bundle: true, format: "esm", write: false })
const { reader, localeOf, inWords, why, Fault, refused, shown, clock, dayIn, formats, addMonths, daysBetween, dayByKey, weeksOf, duration, prices } = await import("data:text/javascript," + encodeURIComponent(outputFiles[0].text))

test("a text takes its values as they are, and stands for itself where it is missing", () => {
  const t = reader({ hello: "Hello {name}, {name}!", street: "Straße {n}" }, "de", true, (v) => (typeof v === "number" ? v.toFixed(1) : v))
  assert.equal(t("hello", { name: "A$&B $$5 $' {n}" }), "Hello A$&B $$5 $' {n}, A$&B $$5 $' {n}!")
  assert.equal(t("street", { n: 3 }), "Strasse 3.0")
  assert.equal(t("nowhere", { n: 1 }), "nowhere")
})

test("a number chooses between one and several as its language does", () => {
  const texts = { day_one: "{n} day", day_other: "{n} days" }
  for (const [language, several] of Object.entries({ en: [0, 1.5, 2], nl: [0, 1.5, 2], de: [0, 1.5, 2], fr: [2, 3.5] })) {
    const t = reader(texts, language)
    const rules = new Intl.PluralRules(language)
    for (const n of [0, 1, 1.5, 2, 3.5, 21, 100]) assert.equal(t("day", { n }).endsWith("s"), rules.select(n) !== "one", `${language} ${n}`)
    for (const n of several) assert.equal(t("day", { n }), `${n} days`)
  }
  assert.equal(reader({ ...texts, day: "a day" }, "en")("day", { n: 3 }), "a day", "a text without numbers")
})

test("a problem has the words of the first key that has some", () => {
  const t = reader({ "own.long": "At most {max} of {names}", "problem.long": "Too long", error_tick: "Tick it", error_other: "Try another" }, "en", false, (v) => [v].flat().join(", "))
  const p = { code: "long", max: 3, names: ["a", "b"] }
  assert.equal(inWords(t, p, "own.long", "problem.long"), "At most 3 of a, b")
  assert.equal(inWords(t, p, "other.long", "problem.long"), "Too long")
  assert.equal(inWords(t, p, "other.long"), undefined)
  assert.equal(why({ code: "required" }, "consent", t), "Tick it")
  assert.equal(why({ code: "unheard_of" }, "text", t), "Try another")
})

test("a refusal is what the answer says, or what its status means", () => {
  const of = (status, body) => new Fault(...refused({ status }, body))
  const fault = of(422, { code: "svc_invalid_param", message: "No", data: { details: { name: { code: "required" } } } })
  assert.deepEqual([fault.code, fault.status, fault.message, fault.data.details.name.code], ["svc_invalid_param", 422, "No", "required"])
  assert.deepEqual([502, 503, 404, 405].map((status) => of(status, undefined).code), ["svc_unavailable", "svc_unavailable", "svc_no_route", "svc_no_route"])
  assert.equal(of(502, "<html>").message, "svc_unavailable")
})

test("a moment is on the clock and the calendar of its zone, a day on no clock", () => {
  const late = "2026-11-24T23:30:00Z"
  assert.deepEqual(["Europe/Brussels", "UTC", "America/New_York"].map((zone) => [dayIn(zone)(late), shown("en-GB", zone)(clock)(late)]), [["2026-11-25", "00:30"], ["2026-11-24", "23:30"], ["2026-11-24", "18:30"]])
  // The clocks go back on this day.
  assert.deepEqual(["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map(shown("de-DE", "Europe/Berlin")(clock)), ["02:30", "02:30"])
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    const f = formats("en-GB", zone)
    assert.match(f.day("2026-11-24"), /^Tuesday,? 24 November 2026$/)
    assert.deepEqual(f.weekdays().map((d) => d.short), ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
  }
})

test("days count as a calendar does", () => {
  assert.deepEqual([addMonths("2026-01-31", 1), addMonths("2028-01-31", 1), addMonths("2026-03-31", -1)], ["2026-02-28", "2028-02-29", "2026-02-28"])
  assert.equal(daysBetween("2026-10-20", "2026-11-02").length, 14)
  const weeks = weeksOf("2026-11-24")
  assert.deepEqual([weeks.length, weeks[0][0], weeks.at(-1)[6]], [6, "2026-10-26", "2026-12-06"])
  assert.deepEqual(["ArrowDown", "Home", "End", "PageUp", "x"].map((key) => dayByKey("2026-11-24", key)), ["2026-12-01", "2026-11-23", "2026-11-29", "2026-10-24", undefined])
})

test("minutes are hours and what is left of them", () => {
  assert.deepEqual([0, 45, 60, 90, 1440].map((m) => duration(m, (n) => `${n} h`, (n) => `${n} min`)), ["0 min", "45 min", "1 h", "1 h 30 min", "24 h"])
})

test("a price has the currency of the business, and cents where there are any", () => {
  const price = prices("en-GB", "GBP")
  assert.deepEqual(["20.00", "20", "1250.5", "0.05"].map(price), ["£20", "£20", "£1,250.50", "£0.05"])
  assert.equal(prices("en-GB", "")("20"), "€20", "a business that has not chosen one")
})

test("a language is written as in the country of the business where it is spoken there", () => {
  assert.deepEqual([["de", "CH"], ["fr", "BE"], ["en", "BE"], ["nl", "US"], ["xx", "BE"]].map((p) => localeOf(...p)), ["de-CH", "fr-BE", "en-GB", "nl-NL", "xx-GB"])
})
