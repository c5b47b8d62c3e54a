import assert from "node:assert/strict"
import { test } from "node:test"
import { modules, page } from "../../modules.mjs"

page()
const { blocksOf } = await modules("booking/blocks")

const day = "2026-11-24"
const person = (user_id, name) => ({ user_id, name, days: [{ date: day, hours: [["09:00", "17:00"]] }], busy: [] })
const calendar = { staff: [person(1, "An"), person(2, "Bram")], appointments: [] }
const off = { id: "x", type: "off", user_id: 1, date_from: day, date_to: day, start: null, end: null, label: "" }
const wholeDays = (view, staff, exception) => blocksOf(view, { ...calendar, staff }, [exception], day, day).blocks.filter((b) => b.look.includes("away--day")).map((b) => b.staff)

test("a day off of one of several people hatches their day, and not the week of all", () => {
  assert.deepEqual(wholeDays("day", calendar.staff, off), [1])
  assert.deepEqual(wholeDays("week", calendar.staff, off), [])
  assert.deepEqual(wholeDays("week", [calendar.staff[0]], off), [1])
  assert.deepEqual(wholeDays("week", calendar.staff, { ...off, user_id: null }), [1], "a closure hatches the week once")
})

test("some hours off of one of several people stand in the week with the name", () => {
  const [block] = blocksOf("week", calendar, [{ ...off, start: "10:00", end: "11:00", label: "Dentist" }], day, day).blocks.filter((b) => b.look === "away")
  assert.deepEqual([block.label, block.start, block.end], ["An: Dentist", day + "T10:00:00", day + "T11:00:00"])
})
