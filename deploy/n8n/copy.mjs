// Copies the pictures, which the compiler leaves behind.
import { cpSync } from "node:fs"
for (const folder of ["credentials", "nodes"]) cpSync(folder, "dist/" + folder, { recursive: true, filter: (f) => !f.endsWith(".ts") })
