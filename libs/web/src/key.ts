/** A key that makes a repeated call harmless. crypto.randomUUID is missing on plain http. */
export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")
