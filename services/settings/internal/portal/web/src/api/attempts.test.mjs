import assert from "node:assert/strict"
import { test } from "node:test"
import { modules } from "../../modules.mjs"

const { Keys } = await modules("api/attempts")

test("attempts with the same words have one key, other words another", () => {
  const keys = new Keys()
  const first = keys.of("a")
  assert.match(first, /^[0-9a-f]{32}$/)
  assert.equal(keys.of("a"), first)
  assert.notEqual(keys.of("b"), first)
})

test("words that are settled are a new act when they come again", () => {
  const keys = new Keys()
  const first = keys.of("a")
  keys.settle("a")
  assert.notEqual(keys.of("a"), first)
})

test("a late answer leaves the key of the words that were sent after it", () => {
  const keys = new Keys()
  keys.of("a")
  const second = keys.of("b")
  keys.settle("a")
  assert.equal(keys.of("b"), second)
})

test("no words at all have a key too", () => {
  const keys = new Keys()
  assert.equal(keys.of("").length, 32)
})
