import assert from "node:assert/strict"
import { test } from "node:test"
import { runnerImport } from "vite"

const { latest } = (await runnerImport(new URL("latest.ts", import.meta.url).pathname, { configFile: false, logLevel: "error" })).module

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
