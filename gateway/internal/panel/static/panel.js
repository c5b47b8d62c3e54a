// Keeps the parts of the page that are marked with data-live up to date: it asks for the same page again and carries over what differs.
// What has the focus, is selected or is open stays so.
const every = 5000
const button = document.getElementById("pause")
const said = document.getElementById("said")
let paused = false

button.hidden = false
button.addEventListener("click", () => {
  paused = !paused
  button.setAttribute("aria-pressed", String(paused))
  said.textContent = paused ? "Updates are paused." : ""
  if (!paused) update()
})

/** Makes before like after, node by node, so that elements that both have stay the same. */
function carry(before, after) {
  if (before.nodeType !== after.nodeType || before.nodeName !== after.nodeName) return before.replaceWith(after.cloneNode(true))
  if (before.nodeType === Node.TEXT_NODE) {
    if (before.data !== after.data) before.data = after.data
    return
  }
  if (before.nodeType !== Node.ELEMENT_NODE) return
  for (const { name } of [...before.attributes]) if (!after.hasAttribute(name) && name !== "open") before.removeAttribute(name)
  for (const { name, value } of after.attributes) if (before.getAttribute(name) !== value) before.setAttribute(name, value)
  const [old, fresh] = [[...before.childNodes], [...after.childNodes]]
  for (let i = 0; i < Math.max(old.length, fresh.length); i++) {
    if (!fresh[i]) old[i].remove()
    else if (!old[i]) before.append(fresh[i].cloneNode(true))
    else carry(old[i], fresh[i])
  }
}

async function update() {
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(every) })
    if (!answer.ok) throw new Error(String(answer.status))
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html")
    if (paused) return
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = fresh.getElementById(part.id)
      if (now) carry(part, now)
    }
    if (said.textContent !== "") said.textContent = ""
  } catch {
    said.textContent = "The controller does not answer; the figures are old."
  }
}

setInterval(() => {
  if (!paused && !document.hidden) update()
}, every)
