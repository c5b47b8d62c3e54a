import react from "@vitejs/plugin-react"
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"
import { brotli, worthCompressing } from "../../../../../libs/web/brotli.mjs"

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

// Removes what an earlier build made, once the new files are there. Go needs dist/.gitkeep at any moment, so Vite may not empty
// the folder.
const clean = {
  name: "clean",
  writeBundle(_, bundle) {
    for (const e of readdirSync(here("../dist"), { recursive: true, withFileTypes: true })) {
      const path = join(e.parentPath, e.name)
      if (e.isFile() && e.name !== ".gitkeep" && !(relative(here("../dist"), path) in bundle)) rmSync(path)
    }
  },
}

const compress = {
  name: "compress",
  writeBundle(_, bundle) {
    for (const [name, file] of Object.entries(bundle)) {
      const content = file.code ?? file.source
      if (worthCompressing(name, content)) writeFileSync(here("../dist/" + name + ".br"), brotli(content))
    }
  },
}

// The server names the files of a screen in the page, so that they load beside the shell, and the first calls of the API: the screens
// of routes.ts by path, with whom they are open to, and how src/kit/first.json says that they begin.
const screens = {
  name: "screens",
  generateBundle() {
    const found = {}
    const begins = JSON.parse(readFileSync(here("src/kit/first.json"), "utf8"))
    const titles = (key) => Object.fromEntries(["en", "nl", "fr", "de"].map((language) => [language, JSON.parse(readFileSync(here(`src/${key.startsWith("nav.") ? "kit" : key.split(".")[0]}/text/${language}.json`), "utf8"))[key]]))
    for (const { name: folder } of readdirSync(here("src"), { withFileTypes: true }).filter((e) => e.isDirectory())) {
      for (const file of ["routes.ts", "root.tsx"].filter((f) => readdirSync(here("src/" + folder)).includes(f))) {
        const text = readFileSync(here(`src/${folder}/${file}`), "utf8")
        const routes = text.split("= createRoute(").length + text.split(/^  createRoute\(/m).length - 2
        const before = Object.keys(found).length
        for (const [, path, on, may, sees, app, module, , others] of text.matchAll(/path: "([^"]+)",(?:(?!createRoute)[^])*?guard\((?:"(\w+)"|undefined)?(?:, "(\w+)")?(?:, "(\w+)")?\),(?:(?!createRoute)[^])*?screen\("(\w+)", \(\) => import\("(?:\.|@\/\w+)\/([\w-]+)"\), "(\w+)"((?:, "\w+")*)\)/g)) {
          const { title, calls = [] } = begins[path] ?? {}
          found[path] = { screen: `src/${app}/${module}.tsx`, texts: [app, ...(others.match(/\w+/g) ?? [])].map((folder) => `src/${folder}/text/`), app: on, may, sees, calls, titles: title && titles(title) }
        }
        if (Object.keys(found).length - before !== routes) throw new Error(`${folder}/${file} has a route whose screen cannot be read here`)
      }
    }
    for (const path of Object.keys(begins)) if (!found[path]) throw new Error(`src/kit/first.json has ${path}, which is no route`)
    this.emitFile({ type: "asset", fileName: "screens.json", source: JSON.stringify(found, null, 1) })
  },
}

// The modules that every page loads are one file: it compresses better than several. kit/main stays outside: a browser that needs a stack of its
// first calls would read the whole file of the shell once more.
const shell = /node_modules\/(react|react-dom|scheduler|use-sync-external-store|openapi-fetch)\/|@tanstack\/(history|store|router-core|react-store)\/|@tanstack\/react-router\/(?!.*useBlocker)|@tanstack\/query-core\/(?!.*Observer)|QueryClientProvider|src\/(api\/(client|fault|key|version)|kit\/(router|queries|choice|root|shell|start|text|once|late|media|places|states|toast|problem|session|theme|keys|button|app)\.ts)/

// The modules that most screens load are a second file: a request costs a slow phone more than a few bytes that a screen does not need.
// What only records and dialogs need is a third: no list and no calendar waits for it.
const parts = /node_modules\/(lucide-react|@tanstack)\/|src\/(kit\/(dates|list|panel|screens|search)|settings\/documents)\.tsx?/
const edit = /src\/(kit\/(copy|detail|dialog|draft|use-draft|form)|api\/attempts)\.tsx?/

export default defineConfig({
  base: "/_ui/portal/",
  publicDir: false,
  plugins: [react(), screens, clean, compress],
  resolve: { alias: { "@": here("src") } },
  build: {
    outDir: here("../dist"),
    emptyOutDir: false,
    manifest: "manifest.json",
    // A data: address is inline content, which the policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome123", "firefox120", "safari17.5"],
    reportCompressedSize: false,
    rollupOptions: {
      input: [here("src/kit/main.tsx"), here("src/kit/early.ts")],
      // The shell names every file, so names are short.
      output: { chunkFileNames: "assets/[hash:8].js", codeSplitting: { groups: [{ name: "shell", test: shell, priority: 2 }, { name: "parts", test: parts, minShareCount: 3, priority: 1 }, { name: "edit", test: edit, minShareCount: 2, priority: 1 }] } },
    },
  },
})
