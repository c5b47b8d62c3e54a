import assert from "node:assert/strict"
import { test } from "node:test"
import { modules } from "../../modules.mjs"

const { latest } = await modules("kit/latest")

test("a choice is the last one until another begins", () => {
  const choose = latest()
  const first = choose()
  assert.equal(first(), true)
  const second = choose()
  assert.equal(first(), false)
  assert.equal(second(), true)
})

test("two places that choose do not disturb each other", () => {
  const first = latest()()
  latest()()
  assert.equal(first(), true)
})
