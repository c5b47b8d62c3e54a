import assert from "node:assert/strict"
import { after, test } from "node:test"
import { modules, page } from "../../modules.mjs"

page()
globalThis.Request = class extends Request {
  constructor(path, init) {
    super("http://desk.example" + path, init)
  }
}
const { queries, staffQuery, teamSources, webhookSources, webhooksQuery } = await modules("kit/queries", "team/data", "team/palette", "webhooks/data", "webhooks/palette")

after(() => queries.clear())

test("people and webhooks are found without their accents, among those that there are by now", async () => {
  for (const [query, [source], old, now] of [
    [staffQuery, teamSources, { user_id: 1, name: "Gone" }, { user_id: 2, name: "Zoë Maes" }],
    [webhooksQuery, webhookSources, { id: "1", name: "Gone", url: "" }, { id: "2", name: "Zoë Maes", url: "" }],
  ]) {
    queries.setQueryData(query.queryKey, [old], { updatedAt: 1 })
    globalThis.fetch = async () => Response.json({ items: [now], next_cursor: null, total: 1 })
    const titles = async (words) => (await source.find(words, new AbortController().signal)).map((h) => h.title)
    assert.deepEqual([await titles("gone"), await titles("zoe")], [[], ["Zoë Maes"]])
  }
})
