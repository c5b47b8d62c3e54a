// The text of a chosen file, in the encoding that it seems to have.

/** The encodings that programs of our countries write, as TextDecoder calls them. */
export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252", "windows-1250", "macintosh"] as const
export type Encoding = (typeof encodings)[number]

/** Letters beyond ASCII that are common in the languages for which an encoding is used. */
const letters: [Encoding, RegExp][] = [
  ["windows-1252", /[àâäáãåçèéêëìíîïñòóôöõøùúûüßæœÀÂÄÁÇÈÉÊËÎÏÖÔÜÛØÅÆŒ’€]/g],
  ["windows-1250", /[ąćęłńóśźżáäčďéěíľňôŕřšťúůýžăâîșşţőűöüßĄĆĘŁŃÓŚŹŻČĎĚŘŠŤŮŽŐŰ’€]/g],
  ["macintosh", /[àâäáãåçèéêëìíîïñòóôöõøùúûüßæœÀÂÄÁÇÈÉÊËÎÏÖÔÜÛØÅÆŒ’€]/g],
]

/** The encoding of a file. It is sure if the bytes can be nothing else; of the others the one that makes the most of its own letters. */
export function guessEncoding(bytes: Uint8Array): { encoding: Encoding; sure: boolean } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le", sure: true }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", sure: true }
  const head = bytes.subarray(0, 2000)
  const zeros = (odd: number) => head.filter((b, i) => b === 0 && i % 2 === odd).length
  if (zeros(1) > head.length / 4) return { encoding: "utf-16le", sure: false }
  if (zeros(0) > head.length / 4) return { encoding: "utf-16be", sure: false }
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return { encoding: "utf-8", sure: true }
  } catch {
    const scores = letters.map(([encoding, known]) => ({ encoding, n: decode(bytes, encoding).match(known)?.length ?? 0 }))
    const best = scores.reduce((a, b) => (b.n > a.n ? b : a))
    return { encoding: best.encoding, sure: false }
  }
}

/** The text of bytes, without NUL, which no cell can hold. */
export const decode = (bytes: Uint8Array, encoding: Encoding) => new TextDecoder(encoding).decode(bytes).replaceAll("\0", "")

/** Lines of a text by which a person sees whether its encoding is right: the first, and five with letters beyond ASCII. */
export function telling(text: string) {
  const [first = "", ...lines] = text.split(/\r\n|\r|\n/)
  return [first, ...lines.filter((line) => /[^\0-\x7f]/.test(line)).slice(0, 5)].join("\n")
}
