// What the browser code is held to beside the compiler: faults that the types show, and no matter of taste. See the portal's README.
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import tseslint from "typescript-eslint"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")

export default tseslint.config({
  files: ["**/*.ts", "**/*.tsx"],
  ignores: ["**/*.d.ts"],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: { project: ["libs/web/tsconfig.json", "services/settings/internal/portal/web/tsconfig.json"], tsconfigRootDir: root },
  },
  plugins: { "@typescript-eslint": tseslint.plugin },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "@typescript-eslint/no-unnecessary-condition": "error",
    "@typescript-eslint/no-floating-promises": "error",
    "require-atomic-updates": "error",
  },
})
