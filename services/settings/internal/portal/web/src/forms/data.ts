// Queries of the screens of forms with their cache keys, and the types of a definition.
import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query"
import { api, take, type Schema } from "@/api/client"
import { t, tOr } from "@/kit/text"

export type FormRecord = Schema<"Form">
export type Definition = Schema<"Definition">
export type Element = Schema<"Element">
export type Kind = "field" | "heading" | "paragraph" | "consent"
export type Submission = Schema<"Submission">
export type CustomField = Schema<"Field">

export const formKey = (id: number) => ["forms", "one", String(id)]
export const formQuery = (id: number) => queryOptions({ queryKey: formKey(id), queryFn: () => take(api.GET("/forms/{id}", { params: { path: { id } } })) })
export const submissionKey = (id: string) => ["submissions", "one", id]

/** The custom fields that a question can be about. */
export const useFields = () =>
  useQuery({
    queryKey: ["fields", "forms"],
    queryFn: async () => {
      const [contact, submission] = await Promise.all((["contact", "submission"] as const).map((entity) => take(api.GET("/fields", { params: { query: { entity } } }))))
      return [...contact!.items, ...submission!.items].filter((f) => !f.archived)
    },
    staleTime: 60_000,
  }).data ?? []

/** After a form has changed: its answer is kept, lists load again. */
export function formChanged(queries: QueryClient, after?: FormRecord) {
  if (after) queries.setQueryData(formKey(after.id), after)
  void queries.invalidateQueries({ queryKey: ["forms", "list"] })
}

export const people = ["contact.first_name", "contact.last_name", "contact.email", "contact.phone"]
export const company = ["name", "vat_number", "email", "phone", "website", "address_line", "postal_code", "city"].map((x) => "organization." + x)
export const own = "submission.fields."

export const targetText = (target: string) => tOr("forms.target." + target, "")

/** Whether a question is about something that no custom field describes. */
export const isFree = (target: string, fields: CustomField[]) => target.startsWith(own) && !fields.some((f) => `${f.entity}.fields.${f.key}` === target)

/** The name of a form's part in the builder. */
export function nameOf(e: Element, fields: CustomField[]): string {
  const field = fields.find((f) => `${f.entity}.fields.${f.key}` === e.target)
  return e.label || e.text || field?.label || targetText(e.target ?? "") || humane((e.target ?? "").replace(/^.*\./, "")) || t(`forms.kind.${e.type as Kind}`)
}

/** wanted_by becomes "Wanted by". */
export const humane = (name: string) => name.replace(/[_-]+/g, " ").trim().replace(/^./, (c) => c.toUpperCase())

/** An answer as text. */
export const answerText = (v: unknown): string =>
  v === null || v === undefined ? "" : Array.isArray(v) ? v.map(answerText).join(", ") : v === true ? t("yes") : v === false ? t("no") : typeof v === "object" ? JSON.stringify(v) : String(v)
