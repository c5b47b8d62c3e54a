// The page of a form: what the server rendered is there; this lets it send itself.
import { enhance } from "./send"

const form = document.querySelector<HTMLFormElement>("form[data-form]")
if (form) enhance(form, document, "")
