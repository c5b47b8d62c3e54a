// The portal of a running system with the screens of this folder: builds at each change, and passes everything else on.
//   node dev.mjs http://localhost:8080 [port]
import { readFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { build } from "vite"

const [gateway = "http://localhost:8080", port = "5173"] = process.argv.slice(2)
const to = new URL(gateway)
const dist = new URL("../dist/", import.meta.url)
const prefix = "/_ui/portal/"
const kinds = { js: "text/javascript", css: "text/css", woff2: "font/woff2", svg: "image/svg+xml" }

await build({ logLevel: "warn", build: { watch: {} } })

/** The page with the names of the files that were built last. */
function current(page) {
  const chunks = JSON.parse(readFileSync(new URL("manifest.json", dist)))
  const main = chunks["src/app/main.tsx"]
  const styles = [...(main.imports ?? []).flatMap((i) => chunks[i].css ?? []), ...(main.css ?? [])]
  return page
    .replace(/<link rel="(stylesheet|modulepreload)"[^>]*>\s*/g, "")
    .replace(/<script type="module" src="[^"]*">/, styles.map((s) => `<link rel="stylesheet" href="${prefix}${s}">`).join("") + `<script type="module" src="${prefix}${main.file}">`)
}

createServer((q, a) => {
  if (q.url.startsWith(prefix)) {
    try {
      const name = q.url.slice(prefix.length).replace(/\?.*/, "")
      const body = readFileSync(new URL(name, dist))
      return a.writeHead(200, { "Content-Type": kinds[name.split(".").pop()] ?? "application/octet-stream" }).end(body)
    } catch {
      // The system has it, such as the icon.
    }
  }
  const up = request({ host: to.hostname, port: to.port, method: q.method, path: q.url, headers: { ...q.headers, "accept-encoding": "identity" } }, (r) => {
    const html = /text\/html/.test(r.headers["content-type"] ?? "")
    if (!html) return a.writeHead(r.statusCode, r.headers), r.pipe(a)
    let page = ""
    r.setEncoding("utf8").on("data", (t) => (page += t)).on("end", () => {
      const { "content-length": _, ...headers } = r.headers
      a.writeHead(r.statusCode, headers).end(page.includes('name="portal"') ? current(page) : page)
    })
  })
  up.on("error", () => a.writeHead(502).end())
  q.pipe(up)
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/team shows this folder's screens with the data of ${gateway}`))
