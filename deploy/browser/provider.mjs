// An OpenID Connect provider for the tests, on a port of this machine: it asks for an address, and signs whoever has it in. Its groups are the
// words of the address before the +: "desk+anna@example.com" is in the group desk.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto"
import { createServer } from "node:http"

export const client = { id: "frontdesk", secret: "secret of the browser tests" }

const json = (res, body, status = 200) => res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body))
const base64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url")
const page = (res, text) => res.writeHead(200, { "Content-Type": "text/html" }).end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Contoso</title><h1>Contoso</h1>${text}`)

/** Starts it; the answer has its issuer and a function that stops it. */
export async function startProvider() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const codes = new Map()
  const signed = (claims) => {
    const text = base64({ alg: "RS256", kid: "1", typ: "JWT" }) + "." + base64(claims)
    return text + "." + sign("sha256", Buffer.from(text), privateKey).toString("base64url")
  }
  const server = createServer(async (req, res) => {
    const url = new URL(req.url, issuer)
    let body = ""
    for await (const part of req) body += part
    const form = new URLSearchParams(body)
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return json(res, { issuer, authorization_endpoint: issuer + "/authorize", token_endpoint: issuer + "/token", jwks_uri: issuer + "/keys", end_session_endpoint: issuer + "/end", id_token_signing_alg_values_supported: ["RS256"] })
      case "/keys":
        return json(res, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }] })
      case "/authorize": {
        if (req.method === "GET") return page(res, `<form method="post"><label>Address <input name="email" type="email" required></label> <button>Go on</button> <button name="no" value="1" formnovalidate>Cancel</button></form>`)
        const back = new URL(url.searchParams.get("redirect_uri"))
        back.searchParams.set("state", url.searchParams.get("state"))
        if (form.get("no")) back.searchParams.set("error", "access_denied")
        else {
          const code = randomUUID()
          codes.set(code, { email: form.get("email"), nonce: url.searchParams.get("nonce"), challenge: url.searchParams.get("code_challenge") })
          back.searchParams.set("code", code)
        }
        return res.writeHead(303, { Location: back.href }).end()
      }
      case "/token": {
        const asked = codes.get(form.get("code"))
        codes.delete(form.get("code"))
        const known = req.headers.authorization === "Basic " + Buffer.from(`${client.id}:${encodeURIComponent(client.secret).replaceAll("%20", "+")}`).toString("base64")
        if (!known || !asked || createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url") !== asked.challenge) return json(res, { error: known ? "invalid_grant" : "invalid_client" }, 400)
        const [groups, rest] = asked.email.split("+")
        const now = Math.floor(Date.now() / 1000)
        return json(res, { access_token: randomUUID(), token_type: "Bearer", id_token: signed({
          iss: issuer, aud: client.id, sub: asked.email, nonce: asked.nonce, iat: now, exp: now + 60, auth_time: now, email: asked.email, email_verified: true, name: "Anna Novak", groups: rest ? [groups] : [],
        }) })
      }
      case "/end":
        return page(res, "<p>Signed out of Contoso.</p>")
    }
    res.writeHead(404).end()
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${server.address().port}`
  return { issuer, stop: () => server.close() }
}
