import { takeToken } from "@web/mail-link"

takeToken()

// A password can be looked at while it is typed.
for (const box of document.querySelectorAll<HTMLInputElement>("[data-show] input")) {
  box.closest<HTMLElement>("[data-show]")!.hidden = false
  box.addEventListener("change", () => {
    for (const input of box.form!.querySelectorAll<HTMLInputElement>("[data-password]")) input.type = box.checked ? "text" : "password"
  })
}
for (const form of document.querySelectorAll("form")) {
  // What password managers store has to be in a password field again.
  form.addEventListener("submit", () => form.querySelectorAll<HTMLInputElement>("[data-password]").forEach((i) => { i.type = "password" }))
}

// A form with a passkey: the browser makes or uses one for the options that came with the page, and the form takes its answer
// along. The types of TypeScript do not know the JSON forms yet.
type JSONForms = {
  parseCreationOptionsFromJSON(o: unknown): PublicKeyCredentialCreationOptions
  parseRequestOptionsFromJSON(o: unknown): PublicKeyCredentialRequestOptions
}
const forms = window.PublicKeyCredential as unknown as JSONForms | undefined
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
  if (!forms?.parseCreationOptionsFromJSON) continue
  form.hidden = false
  const answer = form.elements.namedItem("passkey") as HTMLInputElement
  const ask = async () => {
    const options = JSON.parse(form.dataset.options!)
    const credential = form.dataset.passkey == "create"
      ? await navigator.credentials.create({ publicKey: forms.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: forms.parseRequestOptionsFromJSON(options) })
    answer.value = JSON.stringify((credential as unknown as { toJSON(): unknown }).toJSON())
    form.submit()
  }
  let asking = false
  form.addEventListener("submit", (e) => {
    if (answer.value) return
    e.preventDefault()
    // The browser refuses a second request while its window for the first is open.
    if (asking) return
    asking = true
    const failed = form.querySelector<HTMLElement>("[data-failed]")!
    failed.hidden = true
    // It fails when the person closes the browser's window, or when the device has no passkey for this site.
    void ask().catch(() => { failed.hidden = false }).finally(() => { asking = false })
  })
}
