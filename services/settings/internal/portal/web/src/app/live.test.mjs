import assert from "node:assert/strict"
import { beforeEach, mock, test } from "node:test"
import { modules, page } from "../../modules.mjs"

page({ live: "a.1" })
const sent = []
globalThis.BroadcastChannel = class {
  postMessage(m) {
    sent.push(m)
  }
}
let streams = []
globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2
  readyState = 0
  constructor(url) {
    super()
    this.url = url
    streams.push(this)
  }
  say = (type, data, lastEventId = "") => this.dispatchEvent(Object.assign(new Event(type), { data: JSON.stringify(data), lastEventId }))
  refuse() {
    this.readyState = 2
    this.onerror()
  }
}
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true })
const { answerSignIn, follow, onSignedIn } = await modules("app/live", "app/session")

/** What was asked to load anew, and how often the person was told of other rights. */
let loads, told
beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1e9 })
  streams = []
  sent.length = 0
  loads = []
  told = 0
  onSignedIn.clear()
  follow({ invalidateQueries: (what) => loads.push(what) }, () => told++)
})
const wait = (ms) => mock.timers.tick(ms)

test("a stream that was refused is asked for again, at longer and longer intervals", () => {
  for (const [ms, n] of [[1000, 2], [2000, 3], [4000, 4], [8000, 5], [16_000, 6], [30_000, 7], [30_000, 8]]) {
    streams.at(-1).refuse()
    wait(ms - 1)
    assert.equal(streams.length, n - 1)
    wait(1)
    assert.equal(streams.length, n)
  }
  streams.at(-1).say("ready", {})
  streams.at(-1).refuse()
  wait(1000)
  assert.equal(streams.length, 9, "after a stream that worked the interval is the first again")
})

test("a stream that comes back loads everything, in the other tabs too", () => {
  streams[0].say("ready", {})
  streams[0].refuse()
  wait(1000)
  assert.deepEqual(sent, [])
  streams[1].say("ready", {})
  assert.deepEqual(sent, ["all"])
})

test("a stream that goes on where the page was made, or where the stream before it ended, loads nothing", () => {
  assert.equal(streams[0].url, "/v1/live?after=a.1")
  streams[0].say("ready", { continued: true }, "a.2")
  streams[0].say("change", { type: "contact", id: "1" }, "a.3")
  wait(250)
  assert.equal(loads.length, 1, "what changed meanwhile")
  streams[0].refuse()
  wait(1000)
  assert.equal(streams[1].url, "/v1/live?after=a.3")
  streams[1].say("ready", { continued: true }, "a.4")
  assert.deepEqual([loads.length, sent.length], [1, 1])
  streams[1].refuse()
  wait(1000)
  streams[2].say("ready", { continued: false }, "b.0")
  assert.deepEqual([loads.length, sent.at(-1)], [2, "all"])
})

test("without a stream everything loads from time to time, in all tabs", () => {
  for (const ms of [1000, 2000, 4000, 8000, 16_000]) {
    streams.at(-1).refuse()
    wait(ms)
  }
  assert.deepEqual([loads.length, sent], [0, []])
  streams.at(-1).refuse()
  assert.deepEqual([loads.length, sent], [1, ["all"]])
})

test("signing in again asks for the stream at once", () => {
  for (const ms of [1000, 2000]) {
    streams.at(-1).refuse()
    wait(ms)
  }
  streams.at(-1).refuse()
  answerSignIn(true)
  assert.equal(streams.length, 4)
  wait(60_000)
  assert.equal(streams.length, 4)
})

const change = () => streams[0].say("change", { type: "contact", id: "1" })

test("as long as changes keep coming the pauses between two loads grow, and a hidden page loads nothing", () => {
  change()
  wait(250)
  assert.equal(loads.length, 1)
  change()
  wait(499)
  assert.equal(loads.length, 1)
  wait(1)
  assert.equal(loads.length, 2)
  for (const [seconds, n] of [[1, 3], [2, 4], [4, 5], [5, 6], [5, 7]]) {
    for (let i = 0; i < seconds * 10; i++) {
      change()
      wait(100)
    }
    assert.equal(loads.length, n, `${seconds} seconds of changes`)
  }
  document.hidden = true
  change()
  wait(5000)
  document.hidden = false
  assert.deepEqual(loads.slice(-2).map((l) => l.refetchType), ["active", "none"])
  wait(10_000)
  change()
  wait(250)
  assert.equal(loads.length, 9, "after a calm the first pause again")
})

test("a change now and then loads at once, however many there were", () => {
  for (let n = 1; n < 40; n++) {
    change()
    wait(250)
    assert.equal(loads.length, n)
    wait(750)
  }
})

test("a change of a role reaches the screen of roles, and other rights are told", () => {
  streams[0].say("change", { type: "role", id: "staff" })
  wait(250)
  assert.equal(loads[0].predicate({ queryKey: ["settings", "roles"] }), true)
  assert.equal(loads[0].predicate({ queryKey: ["contacts", "list"] }), false)
  streams[0].say("end", { reason: "rights" })
  streams[0].say("end", { reason: "stopping" })
  assert.equal(told, 1)
})
