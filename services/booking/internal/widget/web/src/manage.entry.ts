// The mail's link carries its token in the fragment: it is taken out of the address at once and handed in as the page's form.
import { showVisitorsTime } from "./zone"

const token = new URLSearchParams(location.hash.slice(1)).get("token")
const form = document.querySelector<HTMLFormElement>("form[data-token]")
const input = form?.elements.namedItem("token")
if (token && form && input instanceof HTMLInputElement) {
  history.replaceState(null, "", location.pathname + location.search)
  input.value = token
  form.submit()
}
showVisitorsTime()
