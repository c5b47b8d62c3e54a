// What the tests share: the official client, connected as an assistant, and calls of abilities.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { createHash, randomBytes } from "node:crypto"
import { Client as Person, known } from "../browser/system.mjs"

export const url = process.env.MCP_URL
export const key = process.env.MCP_KEY
export const desk = JSON.parse(process.env.MCP_DESK)

/** A client that is connected with a credential, the tools that it lists, and run(): the answer of an ability, or an error with its code. */
export async function connect(query = "?tools=all", authorization = key) {
  const client = new Client({ name: "frontdesk-tests", version: "1.0.0" })
  await client.connect(new StreamableHTTPClientTransport(new URL(url + query), { requestInit: { headers: { Authorization: authorization } } }))
  // From here on the client checks each answer against the output schema of its tool.
  const tools = async () => new Map((await client.listTools()).tools.map((t) => [t.name, t]))
  const listed = await tools()
  const run = async (ability, input = {}) => {
    const one = listed.has("svc-" + ability)
    const r = await client.callTool(one ? { name: "svc-" + ability, arguments: input } : { name: "execute-ability", arguments: { name: "svc/" + ability, input } })
    if (r.isError) throw Object.assign(new Error(`${ability}: ${r.content[0].text}`), r.structuredContent)
    return r.structuredContent ?? r.content[0].text
  }
  return { client, listed, tools, run, close: () => client.close() }
}

/** Posts text to /mcp, with these headers. */
export async function post(body, headers = {}, query = "") {
  const res = await fetch(url + query, { method: "POST", body, headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: key, ...headers } })
  const text = await res.text()
  let json
  try {
    json = JSON.parse(text)
  } catch {}
  return { status: res.status, headers: res.headers, text, json }
}

let count = 0
export const unique = (name) => `${name}-${Date.now().toString(36)}${(count++).toString(36)}`

export const base = url.replace(/\/mcp$/, "")
export const callback = "http://127.0.0.1:9/callback"
/** Posts a form, as programs and browsers do. */
export const form = (path, fields) => fetch(base + path, { method: "POST", body: new URLSearchParams(fields) })

/** Signs the administrator in; answers the cookie. */
export async function signIn() {
  const res = await fetch(base + "/v1/auth/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ login: desk.login, password: desk.password }) })
  const cookie = res.headers.getSetCookie()[0].split(";")[0]
  await known(new Person({ Cookie: cookie }))
  return cookie
}

/** Registers a program. */
export async function register(redirect_uris = [callback]) {
  const res = await fetch(base + "/oauth/register", { method: "POST", body: JSON.stringify({ client_name: "Hostile", redirect_uris }) })
  return { status: res.status, ...(await res.json()) }
}

export const verifier = randomBytes(32).toString("base64url")
/** What a program asks a person for. */
export const asking = (client_id, more = {}) => ({ response_type: "code", client_id, redirect_uri: callback, state: "s", code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256", ...more })

/** Agrees in a browser, with more fields of the page; answers the address that it is led to, if any. */
export async function agree(cookie, query, more = {}) {
  const fields = new URLSearchParams({ ...query, answer: "allow" })
  for (const [name, values] of Object.entries({ permission: ["svc_view_contacts", "svc_edit_contacts"], ...more })) for (const value of [values].flat()) fields.append(name, value)
  const res = await fetch(base + "/account/connect", { method: "POST", body: fields, headers: { Cookie: cookie }, redirect: "manual" })
  const to = /url=(.*)/.exec(res.headers.get("refresh") ?? "")?.[1]
  return to && new URL(to)
}
