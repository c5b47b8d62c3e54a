// A way to the gateway that is unsteady, so that a client's attempts are seen.
import { createServer, request } from "node:http"

/**
 * Listens on a port and passes calls on, except: the answer to the first call of POST /services is lost, the first of PUT /staff/…/hours is
 * refused with 429 for a second, the first of GET /contacts with 503.
 */
export async function unsteady(target) {
  const calls = new Map() // by kind: the time and the key of each
  const { host, hostname, port } = new URL(target)
  const server = createServer(async (req, res) => {
    const parts = []
    for await (const part of req) parts.push(part)
    const kind = `${req.method} ${new URL(req.url, target).pathname.replace(/\/(\d+|[0-9a-f-]{36})(?=\/|$)/g, "/*")}`
    const earlier = calls.get(kind) ?? []
    calls.set(kind, [...earlier, { at: Date.now(), key: req.headers["idempotency-key"] }])
    const refused = earlier.length > 0 ? undefined : { "PUT /v1/staff/*/hours": 429, "GET /v1/contacts": 503 }[kind]
    if (refused) return void res.writeHead(refused, refused === 429 ? { "Retry-After": "1" } : {}).end()
    const lost = earlier.length === 0 && kind === "POST /v1/services"
    request({ hostname, port, method: req.method, path: req.url, headers: { ...req.headers, host } }, (answer) => {
      if (lost) return void answer.resume().once("end", () => req.socket.destroy())
      res.writeHead(answer.statusCode, answer.headers)
      answer.pipe(res)
    }).end(Buffer.concat(parts))
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => (server.closeAllConnections(), server.close()),
    /** Throws unless the calls that were lost or refused came again as they should. */
    check() {
      const [lost, again] = calls.get("POST /v1/services") ?? []
      if (!lost?.key || lost.key !== again?.key) throw new Error("the call without an answer came again without its key")
      const [limited, later] = calls.get("PUT /v1/staff/*/hours") ?? []
      if (!(later?.at - limited?.at >= 990)) throw new Error("Retry-After was not kept")
      if ((calls.get("GET /v1/contacts") ?? []).length < 2) throw new Error("what was refused with 503 did not come again")
    },
  }
}
