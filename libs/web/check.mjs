// Holds the browser code to the compiler and to the rules of eslint.config.mjs. Both ask the same programs: to read all of it and to find its
// types is most of the work of each.
import { ESLint } from "eslint"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")
const stop = (fault) => {
  throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, "\n"))
}
const programs = ["libs/web", "services/settings/internal/portal/web"].map((folder) => {
  const { fileNames: rootNames, options, errors } = ts.getParsedCommandLineOfConfigFile(join(root, folder, "tsconfig.json"), {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: stop })
  return ts.createProgram({ rootNames, options, configFileParsingDiagnostics: errors })
})
const faults = programs.flatMap((program) => [...ts.getPreEmitDiagnostics(program)])
if (faults.length > 0) console.error(ts.formatDiagnostics(faults, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => "\n" }))

const eslint = new ESLint({ cwd: root, overrideConfigFile: join(root, "libs/web/eslint.config.mjs"), overrideConfig: { languageOptions: { parserOptions: { programs } } } })
const found = await eslint.lintFiles(["libs/web/src", "services/*/internal/*/web/src/**/*.{ts,tsx}"])
const text = await (await eslint.loadFormatter("stylish")).format(found)
if (text) console.error(text)
process.exitCode = faults.length > 0 || found.some((f) => f.errorCount + f.fatalErrorCount > 0) ? 1 : 0
