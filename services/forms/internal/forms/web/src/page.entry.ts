// The page of a form: sends it without leaving the page.
import { enhance } from "./send"

const form = document.querySelector<HTMLFormElement>("form[data-form]")
if (form) enhance(form, document, "")
