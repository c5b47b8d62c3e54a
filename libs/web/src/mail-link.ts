// The token of a link in a mail stands behind the # of the address, so that it reaches no log. This moves it into the forms of
// the page, where without script a person copies it. Parts for visitors with a token, or without one, are
// marked data-with-token and data-without-token.
export function takeToken(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? ""
  for (const field of document.querySelectorAll<HTMLElement>("[data-code]")) {
    const input = field.querySelector("input")!
    if (token && input.value === "") input.value = token
    field.hidden = input.value !== "" && input.getAttribute("aria-invalid") !== "true"
    field.classList.remove("waits")
  }
  for (const part of document.querySelectorAll<HTMLElement>("[data-with-token]")) {
    part.hidden = !token
    part.classList.remove("waits")
  }
  for (const part of document.querySelectorAll<HTMLElement>("[data-without-token]")) part.hidden = !!token
  return token !== ""
}
