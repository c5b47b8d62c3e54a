// A Keycloak of its own, on a port that it takes itself, with its database in memory.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { until } from "../browser/system.mjs"

const administrator = "operator", password = "the operator's password"

/** Starts it: its address, admin(method, path, body) for its administration, and stop(). */
export async function startKeycloak() {
  let said = "", ended = false
  const process_ = spawn("bash", [join(process.env.KEYCLOAK, "bin/kc.sh"), "start", "--optimized", "--cache=local", "--http-enabled=true", "--http-host=127.0.0.1", "--http-port=0", "--hostname-strict=false"],
    { env: { ...process.env, KC_BOOTSTRAP_ADMIN_USERNAME: administrator, KC_BOOTSTRAP_ADMIN_PASSWORD: password, JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m" }, detached: true, stdio: ["ignore", "pipe", "pipe"] })
  process_.once("exit", () => (ended = true))
  for (const stream of [process_.stdout, process_.stderr]) stream.on("data", (text) => (said += text))
  const url = await until("Keycloak", () => {
    if (ended) throw new Error("Keycloak ended:\n" + said)
    return said.match(/Listening on: (http:\/\/127\.0\.0\.1:\d+)/)?.[1]
  }, 180)
  /** Calls the administration as its own programs do, with a new token each time: one lasts a minute. */
  const admin = async (method, path, body) => {
    const { access_token } = await (await fetch(url + "/realms/master/protocol/openid-connect/token", { method: "POST", body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username: administrator, password }) })).json()
    const answer = await fetch(url + "/admin/realms" + path, { method, headers: { Authorization: "Bearer " + access_token, ...(body && { "Content-Type": "application/json" }) }, body: body && JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}\n${said.slice(-2000)}`)
    return text ? JSON.parse(text) : undefined
  }
  return { url, admin, stop: () => process.kill(-process_.pid, "SIGKILL") }
}
