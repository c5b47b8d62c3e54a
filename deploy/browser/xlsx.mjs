// A workbook with one sheet of texts, as small as programs take it.

const crc32 = (bytes) => {
  let c = ~0
  for (const b of bytes) {
    c ^= b
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0)
  }
  return ~c >>> 0
}

/** A zip archive of files that are not compressed. */
function zip(files) {
  const parts = []
  const directory = []
  let at = 0
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(0x21, 8)
    about.writeUInt32LE(crc32(data), 10)
    about.writeUInt32LE(data.length, 14)
    about.writeUInt32LE(data.length, 18)
    about.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    parts.push(Buffer.from("PK\x03\x04"), about, Buffer.from(name), data)
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), about, place, Buffer.from(name))
    at += 30 + name.length + data.length
  }
  const whole = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06")
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(whole.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, whole, end])
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const packages = "http://schemas.openxmlformats.org/package/2006"
const documents = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

/** The bytes of a workbook with rows of texts, which hold nothing that XML escapes. */
export const workbook = (rows) => zip({
  "[Content_Types].xml": `${head}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>`,
  "_rels/.rels": `${head}<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${documents}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml": `${head}<workbook xmlns="${sheets}" xmlns:r="${documents}"><sheets><sheet name="People" sheetId="1" r:id="r1"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `${head}<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${documents}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
  "xl/worksheets/sheet1.xml": `${head}<worksheet xmlns="${sheets}"><sheetData>${rows.map((row, r) => `<row r="${r + 1}">${row.map((cell, c) => `<c r="${String.fromCharCode(65 + c)}${r + 1}" t="inlineStr"><is><t>${cell}</t></is></c>`).join("")}</row>`).join("")}</sheetData></worksheet>`,
})
