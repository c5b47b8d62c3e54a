// Files of the tree, for Node versions whose fs has no glob.
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

export { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs"

// globSync lists the folders that fit a pattern whose segments are names or *.
export function globSync(root, pattern) {
  let found = [root]
  for (const segment of pattern.split("/")) {
    found = found.flatMap((dir) => (segment === "*" ? readdirSync(dir, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => join(dir, e.name)) : [join(dir, segment)])).filter((dir) => existsSync(dir))
  }
  return found
}
