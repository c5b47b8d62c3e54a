import assert from "node:assert/strict"
import { test } from "node:test"
import { modules, page } from "../../modules.mjs"

page({ zone: "Europe/Brussels" })
const { addMonths, dayByKey, momentOf, sameMoment, wallOf, weeksOf } = await modules("kit/wall")

test("a moment is written as the API writes it", () => {
  assert.equal(momentOf("2026-11-26T08:00"), "2026-11-26T07:00:00Z")
  assert.equal(momentOf("2026-11-26T08:00:30"), "2026-11-26T07:00:30Z")
})

test("a time that the wall shows twice is the first, and one that it leaves out an hour later", () => {
  assert.equal(momentOf("2026-10-25T02:30"), "2026-10-25T00:30:00Z")
  assert.equal(momentOf("2026-03-29T02:30"), "2026-03-29T01:30:00Z")
  assert.equal(wallOf("2026-03-29T01:30:00Z"), "2026-03-29T03:30:00")
})

test("one moment is the same, however it is written", () => {
  assert.equal(sameMoment("2026-11-26T07:00:00.000Z", "2026-11-26T07:00:00Z"), true)
  assert.equal(sameMoment("2026-11-26T08:00:00+01:00", "2026-11-26T07:00:00Z"), true)
  assert.equal(sameMoment("2026-11-26T07:01:00Z", "2026-11-26T07:00:00Z"), false)
})

test("a month is shown in whole weeks, and keys lead out of it", () => {
  const weeks = weeksOf("2026-11-26")
  assert.deepEqual([weeks.length, weeks[0][0], weeks.at(-1)[6]], [6, "2026-10-26", "2026-12-06"])
  assert.equal(weeksOf("2027-02-10").length, 4)
  assert.equal(addMonths("2027-01-31", 1), "2027-02-28")
  assert.deepEqual(["ArrowLeft", "ArrowDown", "Home", "End", "PageUp", "PageDown", "a"].map((key) => dayByKey("2026-11-01", key)),
    ["2026-10-31", "2026-11-08", "2026-10-26", "2026-11-01", "2026-10-01", "2026-12-01", undefined])
})
