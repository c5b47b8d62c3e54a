// What the tests share: the official client, connected as an assistant, and calls of abilities.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"

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
