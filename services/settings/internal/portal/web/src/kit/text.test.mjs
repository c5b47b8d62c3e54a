import assert from "node:assert/strict"
import { test } from "node:test"
import { modules, page } from "../../modules.mjs"

page()
const { t } = await modules("kit/text")

test("a value is put into a text as it is, whatever signs it has", () => {
  // A key that has no text stands for itself.
  assert.equal(t("Type {word} to confirm", { word: "A$&B $$5 $'" }), "Type A$&B $$5 $' to confirm")
})
