// Calls that wait for a person, by the official client in JavaScript: asked for by a key and by a connected assistant, and heard of by a resource.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { Client, known, mailLink, until } from "../browser/system.mjs"
import { agree, asking, base, callback, connect, desk, form, post, register, signIn, unique, verifier } from "./desk.mjs"

const uriOf = (answer) => "frontdesk://approvals/" + answer.data.approval.id
const read = async (client, uri) => JSON.parse((await client.readResource({ uri })).contents[0].text)

/** The administrator in a browser. */
const admin = async () => new Client({ Cookie: await signIn() })

/** A client that remembers which resources it was told of, until the end of the test. */
async function listening(t, authorization) {
  const assistant = await connect("?tools=all", authorization)
  t.after(assistant.close)
  const told = []
  assistant.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri))
  return { ...assistant, told, hears: (uri) => until("the end of " + uri, () => told.includes(uri)) }
}

/** Another administrator in a browser: nobody approves a call of their own key. */
async function colleague(person) {
  const [email, secret] = [unique("boss") + "@example.com", "several words 1"]
  await person.post("/staff", { name: "Boss", email, role: "svc_admin" })
  const token = new URL(await mailLink(email, "/account/invitation")).hash.split("token=")[1]
  await new Client().post("/auth/invitation", { token, password: secret })
  const login = await new Client().call("POST", "/auth/login", { login: email, password: secret })
  return known(new Client({ Cookie: login.headers.getSetCookie()[0].split(";")[0] }))
}

/** Approves a call with the effects that it has by now: tests beside this one come and go with their webhooks. */
async function approve(person, { id, hash }) {
  for (;;) {
    const res = await fetch(`${base}/v1/approvals/${id}/approve`, { method: "POST", headers: { ...person.headers, "Content-Type": "application/json" }, body: JSON.stringify({ hash }) })
    const answer = await res.json()
    if (res.status === 200) return answer
    assert.equal(answer.code, "svc_effects_changed", JSON.stringify(answer))
    hash = answer.data.hash
  }
}

test("a key asks, hears of the decision, and reads what became of its call", async (t) => {
  const person = await admin()
  const made = await person.post("/me/application-passwords", { name: unique("asking"), assistant: true, approval: "writes" })
  const authorization = "Basic " + Buffer.from(`${desk.login}:${made.password}`).toString("base64")
  await known(new Client({ Authorization: authorization }))
  const { client, run, told, hears } = await listening(t, authorization)
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate), ["frontdesk://approvals/{id}"])

  const email = unique("ann") + "@example.com"
  const asked = await run("create-contact", { first_name: "Ann", email })
  assert.equal(asked.code, "svc_approval_needed")
  const uri = uriOf(asked)
  await client.subscribeResource({ uri })
  assert.equal((await read(client, uri)).state, "waiting")
  const refused = uriOf(await run("create-contact", { first_name: "Bo", email: unique("bo") + "@example.com" }))
  await client.subscribeResource({ uri: refused })
  const unheard = uriOf(await run("create-contact", { first_name: "Cas", email: unique("cas") + "@example.com" }))
  await client.subscribeResource({ uri: unheard })
  await client.unsubscribeResource({ uri: unheard })
  const other = await colleague(person)
  await other.post(`/approvals/${unheard.split("/").pop()}/refuse`, {})
  await approve(other, asked.data.approval)
  await hears(uri)
  const done = await read(client, uri)
  assert.deepEqual([done.state, done.answer.email], ["approved", email])
  await other.post(`/approvals/${refused.split("/").pop()}/refuse`, { reason: "We know Bo." })
  await hears(refused)
  assert.deepEqual([(await read(client, refused)).state, (await read(client, refused)).reason], ["refused", "We know Bo."])
  assert.ok(!told.includes(unheard))
  assert.ok((await client.listResources()).resources.some((r) => r.uri === uri))

  const stranger = await connect("?tools=all&readonly=1")
  t.after(stranger.close)
  await assert.rejects(stranger.client.readResource({ uri }), /not found/)
  await assert.rejects(stranger.client.subscribeResource({ uri }), /not found/)
})

test("a person who connects an assistant chooses what it asks for, changes it, and approves it", async (t) => {
  const cookie = await signIn()
  const person = new Client({ Cookie: cookie })
  const program = await register()
  const code = (await agree(cookie, asking(program.client_id), { approval: "writes", ability: ["svc/create-contact", "svc/add-note", "svc/get-approval", "svc/list-approvals"] })).searchParams.get("code")
  const given = await (await form("/oauth/token", { grant_type: "authorization_code", client_id: program.client_id, code, code_verifier: verifier, redirect_uri: callback })).json()
  const bearer = "Bearer " + given.access_token
  await until("the token", async () => (await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }), { Authorization: bearer })).status === 200)
  const { client, run, hears } = await listening(t, bearer)
  const email = unique("dea") + "@example.com"
  const asked = await run("create-contact", { first_name: "Dea", email })
  assert.deepEqual([asked.code, asked.data.approval.asked_by.kind], ["svc_approval_needed", "connection"])
  await client.subscribeResource({ uri: uriOf(asked) })
  const connection = (await person.get("/me/connections")).items.findLast((c) => c.approval === "writes")
  const changes = (headers) => fetch(`${base}/v1/me/connections/${connection.id}`, { method: "PATCH", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify({ approval: "never" }) })
  assert.equal((await changes({ Authorization: bearer })).status, 403, "the assistant does not choose itself")
  await until("the approval", async () => (await person.get("/approvals?state=waiting")).items.some((a) => a.id === asked.data.approval.id))
  assert.equal((await approve(person, asked.data.approval)).state, "approved", "by the person of the assistant")
  await hears(uriOf(asked))

  const id = (await read(client, uriOf(asked))).answer.id
  await person.patch("/me/connections/" + connection.id, { approval: "destructive" })
  await until("the choice", async () => (await run("add-note", { id, body: "Rings." })).code === undefined)
  await person.call("DELETE", "/me/connections/" + connection.id)
})
