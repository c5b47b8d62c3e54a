// Runs modules of src in Node, for tests of what is pure: one program, so that modules that both use are there once.
import { fileURLToPath } from "node:url"
import { runnerImport } from "vite"

const src = fileURLToPath(new URL("src", import.meta.url))

/** What the modules export, such as modules("kit/draft", "api/version"). */
export async function modules(...paths) {
  const entry = paths.map((path) => `export * from ${JSON.stringify(`${src}/${path}.ts`)}`).join("\n")
  const tests = { name: "tests", resolveId: (id) => (id === "tests" ? "\0tests" : undefined), load: (id) => (id === "\0tests" ? entry : undefined) }
  return (await runnerImport("tests", { configFile: false, logLevel: "error", resolve: { alias: { "@": src } }, plugins: [tests] })).module
}

/** Makes the page that modules read when they load: what the server writes into it. */
export function page(portal = {}) {
  const content = JSON.stringify({ base: "/team", zone: "Europe/Brussels", locale: "en-GB", language: "en", currency: "EUR", live: "", session: { user_id: 1, idle_hours: 8, capabilities: [], visibility: "all" }, apps: { items: [] }, ...portal })
  globalThis.document = Object.assign(new EventTarget(), { querySelector: () => ({ content }), hidden: false })
  globalThis.localStorage = { getItem: () => null, setItem() {}, removeItem() {} }
}
