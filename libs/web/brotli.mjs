// Compresses once, at the build, what is served to every browser: smaller than a gateway can make it while somebody waits.
import { brotliCompressSync, constants } from "node:zlib"

export const worthCompressing = (path, content) => /\.(js|css)$/.test(path) && content.length > 1000
export const brotli = (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length } })
