// The token of a link in a mail stands behind the # of the address, so that it reaches no log. This moves it into the form,
// where without script a person copies it.
const token = new URLSearchParams(location.hash.slice(1)).get("token")
const code = document.querySelector<HTMLInputElement>("input[name=token]")
if (token && code && code.value === "") {
  code.value = token
  code.closest<HTMLElement>("[data-code]")!.hidden = true
}
document.querySelector("[data-code]")?.classList.remove("waits")
