import assert from "node:assert/strict"
import { test } from "node:test"
import { modules, page } from "../../modules.mjs"

page()
const { priceText } = await modules("booking/data")

test("a price has cents where there are any", () => {
  assert.deepEqual(["20.00", "20", "1250.5", "45.50", "0.05", "", null].map(priceText), ["€20", "€20", "€1,250.50", "€45.50", "€0.05", "", ""])
})
