import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { modules } from "../../modules.mjs"

const { differing, Draft, noteVersion, rebase, same, typedNumber, versionOf } = await modules("kit/draft", "api/version")

const base = { name: "Cut", price: "20.00", notice: 30, form_id: null, staff: [1, 2], business: { city: "Gent", phone: "1" } }

describe("rebase", () => {
  const cases = [
    ["what only I changed stays mine", { name: "Mine" }, {}, { name: "Mine" }, []],
    ["what only they changed is theirs", {}, { name: "Theirs" }, { name: "Theirs" }, []],
    ["what both changed clashes, and stays mine", { name: "Mine" }, { name: "Theirs" }, { name: "Mine" }, ["name"]],
    ["what both changed alike is no clash", { notice: "45" }, { notice: 45 }, { notice: 45 }, []],
    ["a value inside a value is one of its own", { business: { city: "Mine", phone: "1" } }, { business: { city: "Gent", phone: "2" } }, { business: { city: "Mine", phone: "2" } }, []],
    ["both changed a value inside a value", { business: { city: "Mine", phone: "1" } }, { business: { city: "Theirs", phone: "1" } }, { business: { city: "Mine", phone: "1" } }, ["business.city"]],
    ["a list is one value", { staff: [1] }, { staff: [1, 2, 3] }, { staff: [1] }, ["staff"]],
    ["blanks around a text are no change", { name: " Cut " }, { name: "Theirs" }, { name: "Theirs" }, []],
    ["cleared here and changed there", { price: "" }, { price: "25.00" }, { price: "" }, ["price"]],
  ]
  for (const [what, mine, theirs, merged, clashes] of cases) {
    test(what, () => {
      const found = rebase(base, { ...base, ...mine }, { ...base, ...theirs })
      assert.deepEqual(found.merged, { ...base, ...merged })
      assert.deepEqual(found.clashes, clashes)
    })
  }
})

test("a number and its digits are the same, nothing and an empty text too, but a number is not another way to write it", () => {
  assert.equal(same(30, "30"), true)
  assert.equal(same(null, ""), true)
  assert.equal(same(undefined, null), true)
  assert.equal(same(30, "30 min"), false)
  assert.equal(same([1], [1, 2]), false)
  assert.deepEqual(differing({ a: null, b: { c: 1 } }, { a: "", b: { c: 2 } }), ["b.c"])
})

test("a number stays as it was typed when it cannot be read, and nothing is null where that is allowed", () => {
  assert.deepEqual(["30", "-5", "0"].map((x) => typedNumber(x)), [30, -5, 0])
  assert.deepEqual(["1.234,50", "12 kg", "12,5", "007", "1e3", "12345678901234567890"].map((x) => typedNumber(x)), ["1.234,50", "12 kg", "12,5", "007", "1e3", "12345678901234567890"])
  assert.deepEqual([typedNumber(" "), typedNumber("", true)], [null, ""])
})

/** An API with one record. A change of another version than its own is refused, as the real one does. */
function server(record) {
  const api = {
    record: { ...record },
    version: 1,
    sent: [],
    answer: () => noteVersion({ ...api.record }, `"${api.version}"`),
    others: (change) => (Object.assign(api.record, change), api.version++, api.answer()),
    /** Runs while the next change is on its way. */
    meanwhile: undefined,
    send: async ({ change, version }) => {
      api.sent.push(change)
      const run = api.meanwhile
      api.meanwhile = undefined
      await run?.()
      if (version !== undefined && version !== `"${api.version}"`) throw Object.assign(new Error("version"), { status: 412 })
      return api.others(change)
    },
    load: async () => api.answer(),
    keep: (after) => (api.kept = after),
  }
  return api
}
const begin = (record = base) => {
  const api = server(record)
  return { api, draft: new Draft(api.answer()) }
}

test("a save sends only what differs, with the version that the draft began with", async () => {
  const { api, draft } = begin()
  draft.set("name", " Cut and wash ")
  await draft.save(api)
  assert.deepEqual(api.sent, [{ name: "Cut and wash" }])
  assert.deepEqual(draft.dirty, [])
  assert.equal(versionOf(draft.state.base), '"2"')
  assert.equal(api.kept, draft.state.base)
})

test("a save without a change asks nobody", async () => {
  const { api, draft } = begin()
  draft.set("notice", "30")
  await draft.save(api)
  assert.deepEqual(api.sent, [])
})

test("a colleague's change of the same value is said while the draft is open, and a save waits until the person has decided", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  draft.see(api.others({ name: "Theirs", price: "30.00" }))
  assert.deepEqual([draft.state.clashes, draft.state.mine.name, draft.state.mine.price], [["name"], "Mine", "30.00"])
  await assert.rejects(draft.save(api), { shown: true })
  assert.deepEqual([api.sent, api.record.name, draft.state.clashes], [[], "Theirs", ["name"]])
  draft.keep(["name"])
  await draft.save(api)
  assert.deepEqual([api.record.name, api.record.price, draft.state.clashes], ["Mine", "30.00", []])
})

test("theirs are taken at one path, or everywhere", () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  draft.set("price", "1")
  draft.see(api.others({ name: "Theirs", price: "2" }))
  draft.drop(["name"])
  assert.deepEqual([draft.state.mine.name, draft.state.mine.price, draft.state.clashes], ["Theirs", "1", ["price"]])
  draft.drop()
  assert.deepEqual([draft.state.mine.price, draft.state.clashes, draft.dirty], ["2", [], []])
})

test("a clash lasts through more changes of theirs, and ends when both agree", () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  draft.see(api.others({ name: "Theirs" }))
  draft.see(api.others({ price: "3" }))
  assert.deepEqual(draft.state.clashes, ["name"])
  draft.see(api.others({ name: "Mine" }))
  assert.deepEqual([draft.state.clashes, draft.dirty], [[], []])
})

test("a change that the screen has not heard of is merged, and sent again", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  api.others({ price: "30.00" })
  await draft.save(api)
  assert.deepEqual([api.record.name, api.record.price, api.sent.length], ["Mine", "30.00", 2])
})

test("a change of the same value that the screen has not heard of is refused, said, and replaced only then", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  api.others({ name: "Theirs" })
  await assert.rejects(draft.save(api), { status: 412, shown: true })
  assert.deepEqual([draft.state.clashes, draft.state.mine.name, draft.state.base.name], [["name"], "Mine", "Theirs"])
  await assert.rejects(draft.save(api), { shown: true })
  draft.keep(["name"])
  await draft.save(api)
  assert.equal(api.record.name, "Mine")
})

test("a new change of theirs after the person decided for mine is said again", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  draft.see(api.others({ name: "Theirs" }))
  draft.keep(["name"])
  api.others({ name: "Theirs again" })
  await assert.rejects(draft.save(api), { status: 412 })
  assert.deepEqual([draft.state.clashes, draft.state.base.name], [["name"], "Theirs again"])
})

test("what is typed during a save stays, and is not saved by it", async () => {
  const { api, draft } = begin()
  draft.set("name", "First")
  api.meanwhile = () => (draft.set("name", "First and second"), draft.set("price", "9"))
  await draft.save(api)
  assert.deepEqual([api.record.name, draft.state.mine.name, draft.state.mine.price], ["First", "First and second", "9"])
  assert.deepEqual([draft.dirty, draft.state.clashes], [["name", "price"], []])
})

test("the message of one's own change, which comes before the answer, is no clash", async () => {
  const { api, draft } = begin()
  draft.set("business.phone", "0470")
  const send = api.send
  api.send = async (s) => {
    const after = await send({ ...s, change: { business: { ...s.whole.business, phone: "+32 470" } } })
    draft.see(api.answer())
    return after
  }
  await draft.save(api)
  assert.deepEqual([draft.state.mine.business.phone, draft.state.clashes, draft.dirty], ["+32 470", [], []])
})

test("a colleague's change that came during a save shows after it", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  const send = api.send
  api.send = async (s) => {
    const after = await send(s)
    draft.see(api.others({ price: "5" }))
    return after
  }
  await draft.save(api)
  assert.deepEqual([draft.state.mine.name, draft.state.mine.price], ["Mine", "5"])
})

test("a refusal keeps what was typed, and the next save goes on", async () => {
  const { api, draft } = begin()
  draft.set("notice", "45 min")
  api.meanwhile = () => { throw Object.assign(new Error("not a number"), { status: 400 }) }
  await assert.rejects(draft.save(api), { status: 400 })
  assert.deepEqual([draft.state.mine.notice, draft.state.sending, await draft.left()], ["45 min", false, true])
  draft.set("notice", "45")
  await draft.save(api)
  assert.equal(await draft.left(), false)
})

test("saves of one record go one after the other, each with the version that the one before made", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  const first = draft.save(api, ["name"])
  draft.set("price", "7")
  const second = draft.save(api, ["price"])
  assert.equal(draft.state.sending, true)
  await Promise.all([first, second])
  assert.deepEqual(api.sent, [{ name: "Mine" }, { price: "7" }])
  assert.equal(draft.state.sending, false)
})

test("what is older than what is known changes nothing", async () => {
  const { api, draft } = begin()
  const before = draft.state.base
  draft.set("name", "Mine")
  await draft.save(api)
  draft.see(before)
  assert.deepEqual([draft.state.mine.name, draft.state.clashes, draft.dirty], ["Mine", [], []])
})

test("of two choices that are both refused neither stays, and of two of which the first is refused the second", async () => {
  const { api, draft } = begin()
  const refuse = { ...api, send: async () => Promise.reject(Object.assign(new Error("offline"), { status: 0 })) }
  const both = [draft.change(refuse, "name", "First"), draft.change(refuse, "name", "Second")]
  assert.deepEqual((await Promise.allSettled(both)).map((x) => x.status), ["rejected", "rejected"])
  assert.deepEqual([draft.state.mine.name, draft.dirty], [base.name, []])
  const one = [draft.change(refuse, "name", "First"), draft.change(api, "name", "Second")]
  assert.deepEqual((await Promise.allSettled(one)).map((x) => x.status), ["rejected", "fulfilled"])
  assert.deepEqual([draft.state.mine.name, api.record.name, draft.dirty], ["Second", "Second", []])
})

test("a choice that waits behind one that clashes is not sent either", async () => {
  const { api, draft } = begin()
  api.others({ name: "Theirs" })
  const both = await Promise.allSettled([draft.change(api, "name", "First"), draft.change(api, "name", "Second")])
  assert.deepEqual(both.map((x) => x.reason?.status), [412, 412])
  assert.deepEqual([api.record.name, draft.state.mine.name, draft.state.clashes, api.sent.length], ["Theirs", "Theirs", [], 1])
})

test("a save of one value leaves the others as they are typed", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  draft.set("price", "7")
  await draft.save(api, ["price"])
  assert.deepEqual([api.record.name, draft.dirty], ["Cut", ["name"]])
})

test("an API that answers nothing has what was sent", async () => {
  const { api, draft } = begin()
  draft.set("name", "Mine")
  await draft.save({ ...api, send: async () => undefined })
  assert.deepEqual([draft.state.base.name, draft.dirty], ["Mine", []])
})
