// "Try it" on the page of an operation: sends the request of the form and shows the answer. The session goes along, as in the
// portal; with a key nothing of the session does. The key stands in the page's memory only.
const form = document.querySelector<HTMLFormElement>("#try-form")
const part = <E extends HTMLElement = HTMLElement>(id: string) => document.getElementById("try-" + id) as E

if (form) {
  form.hidden = false
  document.querySelector<HTMLElement>(".try-off")!.hidden = true
  form.addEventListener("submit", (e) => {
    e.preventDefault()
    const call = read(form)
    if (!call) return
    const sure = part<HTMLDialogElement>("sure")
    if (!("endangers" in form.dataset)) return void send(form, call)
    sure.returnValue = ""
    sure.addEventListener("close", () => sure.returnValue === "send" && void send(form, call), { once: true })
    sure.showModal()
  })
}

interface Call { method: string; path: string; body?: string; key: string }

/** The call that the form describes, or undefined if its body is no JSON. */
function read(form: HTMLFormElement): Call | undefined {
  let path = form.dataset.path!
  const query = new URLSearchParams()
  for (const input of form.querySelectorAll<HTMLInputElement>("input[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value))
    else if (input.dataset.in === "query" && input.value) query.append(input.name, input.value)
  }
  const area = part<HTMLTextAreaElement>("body") as HTMLTextAreaElement | null
  const call: Call = { method: form.dataset.method!, path: "/v1" + path + (query.size ? "?" + query : ""), key: part<HTMLInputElement>("key").value.trim() }
  if (area && area.value.trim()) {
    const wrong = part("body-error")
    try {
      call.body = JSON.stringify(JSON.parse(area.value))
      wrong.hidden = true
      area.removeAttribute("aria-invalid")
      area.removeAttribute("aria-describedby")
    } catch (e) {
      wrong.textContent = "The body is no JSON: " + (e as Error).message
      wrong.hidden = false
      area.setAttribute("aria-invalid", "true")
      area.setAttribute("aria-describedby", wrong.id)
      area.focus()
      return
    }
  }
  return call
}

async function send(form: HTMLFormElement, call: Call) {
  const button = form.querySelector<HTMLButtonElement>("[type=submit]")!
  const headers: Record<string, string> = { Accept: "application/json" }
  for (const input of form.querySelectorAll<HTMLInputElement>("input[data-in=header]")) if (input.value) headers[input.name] = input.value
  if (call.body !== undefined) headers["Content-Type"] = "application/json"
  if (call.key) headers.Authorization = "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(call.key)))
  button.disabled = true
  try {
    const answer = await fetch(call.path, { method: call.method, headers, body: call.body, credentials: call.key ? "omit" : "same-origin", redirect: "manual" })
    const text = await answer.text()
    part("status").textContent = `${answer.status} ${answer.statusText}`.trim()
    part("headers").textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n")
    part("text").textContent = pretty(text) || "The answer has no body."
  } catch {
    part("status").textContent = "No answer"
    part("headers").textContent = "–"
    part("text").textContent = "The installation could not be reached."
  }
  part("curl").textContent = curl(call, headers)
  button.disabled = false
  part("answer").hidden = false
  part("answer").focus()
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The call for a shell. The key stays out of it. */
function curl(call: Call, headers: Record<string, string>): string {
  const quoted = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`
  const parts = [`curl -i -u "$LOGIN:$KEY"`, ...(call.method === "GET" ? [] : ["-X " + call.method])]
  for (const [name, value] of Object.entries(headers)) if (name !== "Authorization" && name !== "Accept") parts.push("-H " + quoted(`${name}: ${value}`))
  parts.push(quoted(location.origin + call.path))
  if (call.body !== undefined) parts.push("-d " + quoted(call.body))
  return parts.join(" \\\n  ")
}
