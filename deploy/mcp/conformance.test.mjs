// The official conformance suite, as far as it is about what this server has: it has tools, and none of the suite's own.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { createServer, request } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath } from "node:url"
import { key, url } from "./desk.mjs"

const suite = join(dirname(fileURLToPath(import.meta.url)), "node_modules/@modelcontextprotocol/conformance/dist/index.js")
let proxy, dir

// The suite has no option for a credential, so a proxy adds it and passes everything else on.
before(async () => {
  dir = mkdtempSync(join(tmpdir(), "frontdesk-conformance-"))
  const to = new URL(url)
  proxy = createServer((req, res) => {
    // For the suite the proxy is the public address.
    if (req.headers.origin?.endsWith(":" + proxy.address().port)) req.headers.origin = to.origin
    const on = request({ host: "127.0.0.1", port: to.port, path: to.pathname, method: req.method, headers: { ...req.headers, authorization: key } }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers)
      answer.pipe(res)
    })
    on.on("error", () => res.destroy())
    res.on("close", () => on.destroy())
    req.pipe(on)
  })
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve))
})
after(() => {
  proxy.closeAllConnections()
  proxy.close()
  rmSync(dir, { recursive: true, force: true })
})

for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
  test(scenario, async () => {
    const run = spawn(process.execPath, [suite, "server", "--url", `http://127.0.0.1:${proxy.address().port}/mcp`, "--scenario", scenario, "-o", dir], { cwd: dir })
    let said = ""
    for (const stream of [run.stdout, run.stderr]) stream.on("data", (text) => (said += text))
    const code = await new Promise((resolve) => run.once("close", resolve))
    assert.equal(code, 0, said)
    assert.match(said, /passed/i)
  })
}
