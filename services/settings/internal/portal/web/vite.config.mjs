import react from "@vitejs/plugin-react"
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { defineConfig } from "vite"
import { modules, page } from "./modules.mjs"
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
// of src/app/screens.ts by path, with whom they are open to, and how they begin.
const screens = {
  name: "screens",
  enforce: "pre",
  // The server alone needs how a screen begins.
  transform: (code, id) => (id.endsWith("/src/app/screens.ts") ? code.replace(/ (calls: \[[^\]]*\]|heading: "[^"]*"),?/g, "") : undefined),
  async generateBundle() {
    page()
    const text = (key, language) => JSON.parse(readFileSync(here(`src/${key.startsWith("nav.") ? "kit" : key.split(".")[0]}/text/${language}.json`), "utf8"))[key]
    const titles = (key) => Object.fromEntries(["en", "nl", "fr", "de"].map((language) => [language, text(key, language)]))
    const found = (await modules("app/screens")).screens.map(({ options: { staticData: { screen } } }) => {
      const { path, app, can: may, sees, calls = [], label, heading = label, folder, texts = [] } = screen
      // The program of a screen is known by its import.
      const [, program] = /"[^"]*?(\w+\/[\w-]+)(?:\.tsx)?"/.exec(screen.load)
      return [path, { screen: `src/${program}.tsx`, texts: ["parts", folder, ...texts].map((f) => `src/${f}/text/`), app, may, sees, calls, titles: heading && titles(heading) }]
    })
    this.emitFile({ type: "asset", fileName: "screens.json", source: JSON.stringify(Object.fromEntries(found), null, 1) })
  },
}

// An icon of lucide's is drawn by kit/icon. Its file gives a name, its shapes as [element, attributes], and aliases.
const icons = {
  name: "icons",
  transform: {
    filter: { id: /lucide-react\/dist\/esm\/icons\// },
    handler(code) {
      const data = /__iconData = ({[^]*?\n});/.exec(code)?.[1]
      if (!data) return undefined // an alias
      const markup = runInNewContext(`(${data})`).node.map(([element, { key: _, ...a }]) => `<${element} ${Object.entries(a).map(([n, v]) => `${n}="${v}"`).join(" ")}/>`)
      return `import { icon } from "@/kit/icon"\nexport default /*#__PURE__*/ icon(${JSON.stringify(markup.join(""))})`
    },
  },
}

// The modules that every page loads are one file: it compresses better than several. app/main stays outside: a browser that needs a stack of its
// first calls would read the whole file of the shell once more.
const shell = /node_modules\/(react|react-dom|scheduler|use-sync-external-store)\/|@tanstack\/(history|store|router-core|react-store)\/|@tanstack\/react-router\/(?!.*useBlocker)|@tanstack\/query-core\/(?!.*Observer)|QueryClientProvider|libs\/web\/src\/(fault|key|text)\.ts|src\/(api\/(client|fault|version)|app\/(router|screens|session|shell|texts)|kit\/(button|head|icon|keys|late|media|once|place|problem|queries|search|start|states|text)\.ts)/

// The modules that most screens load are a second file: a request costs a slow phone more than a few bytes that a screen does not need.
// What only records and dialogs need is a third: no list and no calendar waits for it.
const parts = /node_modules\/(lucide-react|@tanstack|clsx)\/|src\/(kit\/(dates|list|panel|records|toast|why)|team\/data)\.tsx?|libs\/web\/src\/(dates|days|problem)/
const edit = /src\/(kit\/(copy|detail|dialog|draft|use-draft|form)|api\/(attempts|limits))\.tsx?/
// What lists and the first screen share beside the second file is a fourth: in files of their own, each would be a request for a few hundred bytes.
const lists = /src\/(api\/download|kit\/(answer|ask|bulk|checks|record-filter|restore|view|views)|contacts\/(call-many|data|marks|task-lines|timeline)|(booking|forms|webhooks)\/(data|marks))\.tsx?/

export default defineConfig({
  base: "/_ui/portal/",
  publicDir: false,
  plugins: [react(), icons, screens, clean, compress],
  // React has it by now, so that the store of TanStack needs no replacement for older ones.
  resolve: { alias: { "@": here("src"), "use-sync-external-store/shim/with-selector": "use-sync-external-store/with-selector" } },
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
      input: [here("src/app/main.tsx"), here("src/app/early.ts")],
      // The shell names every file, so names are short.
      output: { chunkFileNames: "assets/[hash:7].js", assetFileNames: "assets/[hash:7][extname]", codeSplitting: { groups: [{ name: "shell", test: shell, priority: 2 }, { name: "parts", test: parts, minShareCount: 2, priority: 1 }, { name: "edit", test: edit, minShareCount: 2, priority: 1 }, { name: "lists", test: lists, minShareCount: 2, priority: 1 }] } },
    },
  },
})
