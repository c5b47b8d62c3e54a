import assert from "node:assert/strict"
import { test } from "node:test"
import { runnerImport } from "vite"

const { fit } = (await runnerImport(new URL("columns.ts", import.meta.url).pathname, { configFile: false, logLevel: "error" })).module

/** What the first column always has. */
const leastFirst = 16

const contacts = [
  { key: "name" },
  { key: "email", width: 14, hides: 2 },
  { key: "status", width: 8, under: true },
  { key: "tags", width: 10, hides: 5 },
  { key: "activity", width: 9, hides: 1 },
]
const shown = (room, unwanted = []) => fit(contacts, room, new Set(unwanted)).shown.map((c) => c.key).join(" ")

test("the first column keeps its room, and others leave by their rule", () => {
  assert.equal(shown(leastFirst + 41), "name email status tags activity")
  assert.equal(shown(leastFirst + 40), "name email status activity")
  assert.equal(shown(leastFirst + 30), "name status activity")
  assert.equal(shown(leastFirst + 8), "name status")
  for (const room of [0, 5, leastFirst, leastFirst + 7]) assert.equal(shown(room), "name")
})

test("a column that leaves takes those of higher numbers with it, however narrow they are", () => {
  assert.deepEqual(fit([{ key: "name" }, { key: "wide", width: 20, hides: 1 }, { key: "narrow", width: 2, hides: 2 }], leastFirst + 10).shown.map((c) => c.key), ["name"])
})

test("what says more than its column stands under the first one where it has no room", () => {
  assert.deepEqual(fit(contacts, leastFirst).under.map((c) => c.key), ["status"])
  assert.deepEqual(fit(contacts, leastFirst + 8).under, [])
  assert.deepEqual(fit(contacts, leastFirst, new Set(["status"])).under, [], "not where somebody wants it away")
})

test("columns that somebody does not want leave their room to others, and the first one stays", () => {
  assert.equal(shown(leastFirst + 30, ["activity"]), "name email status")
  assert.equal(shown(leastFirst + 100, ["name", "email", "status", "tags", "activity"]), "name")
})
