// Builds what the browser runs. Each service's web/src/*.ts(x) becomes an entry of its web/dist, with what entries share
// and languages in chunks whose names carry a hash; libs/web/dist gets the script that sites embed, and the fonts.
import { build } from "esbuild"
import { minify } from "terser"
import { brotli, worthCompressing } from "./brotli.mjs"
import { copyFileSync, globSync, mkdirSync, readdirSync, rmSync } from "./files.mjs"
import { readFile, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, "../..")

function clean(dir) {
  mkdirSync(dir, { recursive: true })
  for (const name of readdirSync(dir)) if (name !== ".gitkeep") rmSync(join(dir, name), { recursive: true })
}

async function bundle(entries, outdir, options) {
  clean(outdir)
  const { outputFiles } = await build({
    absWorkingDir: root,
    write: false,
    entryPoints: entries,
    outdir,
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    target: ["es2022"],
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    // Else the tsconfig.json beside a file counts, which brings the runtime of the automatic JSX along.
    tsconfigRaw: { compilerOptions: { jsx: "react", jsxFactory: "h", jsxFragmentFactory: "Fragment", useDefineForClassFields: false } },
    legalComments: "none",
    plugins: [minifiedCSS, bareSVG, jsx],
    alias: { "@web": join(here, "src") },
    nodePaths: [join(here, "node_modules")],
    logLevel: "warning",
    ...options,
  })
  for (const { path, text, contents } of outputFiles) {
    const content = path.endsWith(".js") ? await shorter(text) : contents
    await writeFile(path, content)
    if (worthCompressing(path, content)) await writeFile(path + ".br", brotli(content))
  }
  console.log("built", relative(root, outdir))
}

// esbuild shortens one expression at a time. Terser also shortens across expressions, in the files that every visitor loads.
async function shorter(text) {
  const { code } = await minify(text, { module: true, ecma: 2022, compress: { passes: 4, keep_fargs: false, inline: 1, unsafe_arrows: true, unsafe_methods: true, unsafe_comps: true } })
  return code
}

// The widgets carry their style sheet as a text. In a shadow root there is nothing but the card, so that no selector has to say so.
const minifiedCSS = {
  name: "minified-css",
  setup(b) {
    b.onLoad({ filter: /\.css$/ }, async (args) => {
      const out = await build({ entryPoints: [args.path], minify: true, write: false, loader: { ".css": "css" }, target: ["chrome123", "firefox120", "safari17.5"] })
      // esbuild shortens neither the values of custom properties nor conditions.
      const short = out.outputFiles[0].text.trim().replaceAll(".svc ", "").replace(/ ?([,:/]) /g, "$1").replace(/#(\w)\1(\w)\2(\w)\3\b/g, "#$1$2$3")
      return { contents: short, loader: "text" }
    })
  },
}

// The shapes of an icon: what all icons share stands in src/icon.tsx and in the style sheet.
const bareSVG = {
  name: "bare-svg",
  setup(b) {
    b.onLoad({ filter: /\.svg$/ }, async (args) => ({ contents: /^<svg[^>]*>(.*)<\/svg>\s*$/s.exec(await readFile(args.path, "utf8"))[1], loader: "text" }))
  },
}

// JSX calls h itself, without the runtime that the automatic way brings along.
const jsx = {
  name: "jsx",
  setup(b) {
    b.onLoad({ filter: /\.tsx$/ }, async (args) => ({ contents: 'import { h, Fragment } from "preact";' + (await readFile(args.path, "utf8")), loader: "tsx" }))
  },
}

await bundle([join(here, "src/svc.ts")], join(here, "dist"))
const fonts = join(here, "dist/font")
mkdirSync(fonts, { recursive: true })
for (const name of ["inter", "lora", "merriweather", "montserrat", "nunito"]) {
  const from = join(here, "node_modules/@fontsource-variable", name)
  copyFileSync(join(from, `files/${name}-latin-wght-normal.woff2`), join(fonts, `${name}.woff2`))
  copyFileSync(join(from, "LICENSE"), join(fonts, `${name}-LICENSE.txt`))
}

for (const web of globSync(root, "services/*/internal/*/web")) {
  const entries = readdirSync(join(web, "src")).filter((f) => /^[a-z-]+\.entry\.tsx?$/.test(f))
  if (entries.length > 0) {
    await bundle(entries.map((f) => ({ in: join(web, "src", f), out: f.replace(/\.entry\.tsx?$/, "") })), join(web, "dist"))
  }
}
