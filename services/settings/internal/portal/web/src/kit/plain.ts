/** A text as it is searched in: without accents, in small letters. */
export const plain = (s: string) => s.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
