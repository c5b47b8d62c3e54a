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
