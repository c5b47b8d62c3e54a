import assert from "node:assert/strict"
import { test } from "node:test"
import { modules } from "../../modules.mjs"

const { decode, guessEncoding, telling } = await modules("contacts/import-file")

const bytes = (...list) => Uint8Array.from(list.flatMap((x) => (typeof x === "string" ? [...x].map((c) => c.charCodeAt(0)) : x)))

test("an encoding is guessed by the letters that it makes", () => {
  for (const [name, content, encoding, text] of [
    ["UTF-8", new TextEncoder().encode("Zoë;Łukasz"), "utf-8", "Zoë;Łukasz"],
    ["Windows-1252", bytes("Zo", 0xeb, ";Ren", 0xe9, "e"), "windows-1252", "Zoë;Renée"],
    ["Windows-1250", bytes(0xa3, "ukasz;", 0x8e, "i", 0x9e, "ka;Ji", 0xf8, 0xed), "windows-1250", "Łukasz;Žižka;Jiří"],
    ["Mac Roman", bytes("Zo", 0x91, ";Ren", 0x8e, "e"), "macintosh", "Zoë;Renée"],
    ["UTF-8 with NUL", bytes("Jan", 0, ";x"), "utf-8", "Jan;x"],
    ["UTF-16 without a mark", bytes("Z", 0, "o", 0, 0xeb, 0), "utf-16le", "Zoë"],
  ]) {
    const guess = guessEncoding(content)
    assert.equal(guess.encoding, encoding, name)
    assert.equal(decode(content, guess.encoding), text, name)
    assert.equal(guess.sure, name.startsWith("UTF-8"), name)
  }
})

test("the lines that tell an encoding are the first and those with letters beyond ASCII", () => {
  const plain = "Bram\r\n".repeat(40)
  assert.equal(telling(`Name\r\n${plain}Zoë\rRenée\n${plain}`), "Name\nZoë\nRenée")
  assert.equal(telling("Ł\n".repeat(20)), "Ł\n".repeat(6).trim())
  assert.equal(telling(""), "")
})
