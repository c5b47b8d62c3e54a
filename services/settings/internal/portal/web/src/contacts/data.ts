// What several screens of contacts load, with the keys under which it is cached.
import { queryOptions, useQuery } from "@tanstack/react-query"
import { api, take, type Schema } from "@/api/client"
import { t, tOr } from "@/kit/text"

export type Contact = Schema<"Contact">
export type Organization = Schema<"Organization">
export type CustomField = Schema<"Field">

export const organizationKey = (id: string) => ["organizations", "one", id]

export const organizationQuery = (id: string) => queryOptions({ queryKey: organizationKey(id), queryFn: () => take(api.GET("/organizations/{id}", { params: { path: { id } } })) })

/** One array, so that what depends on it stands still until there is another. */
const none: never[] = []

export const useSources = () => useQuery({ queryKey: ["sources"], queryFn: () => take(api.GET("/contacts/sources")), staleTime: 60_000, select: (l) => l.items }).data ?? none
type Entity = "contact" | "organization"
const fieldsQuery = (entity: Entity) => queryOptions({ queryKey: ["fields", entity], queryFn: () => take(api.GET("/fields", { params: { query: { entity } } })), staleTime: 60_000, select: (l) => l.items })
const groupsQuery = (entity: Entity) => queryOptions({ queryKey: ["field-groups", entity], queryFn: () => take(api.GET("/field-groups", { params: { query: { entity } } })), staleTime: 60_000, select: (l) => l.items })
export const useFields = (entity: Entity) => useQuery(fieldsQuery(entity)).data ?? none
export const useGroups = (entity: Entity) => useQuery(groupsQuery(entity)).data ?? none

/** Whether the custom fields are still on their way: what stands beside them waits, so that it does not move when they come. */
export const useFieldsPending = (entity: Entity) => [useQuery(fieldsQuery(entity)), useQuery(groupsQuery(entity))].some((q) => q.isPending)

/** The name that a value of a record has on the screen: of a custom field its label. */
export function useValueName(entity: Entity) {
  const fields = useFields(entity)
  return (name: string) => tOr("contacts." + name, fields.find((f) => "fields." + f.key === name)?.label ?? name.replace(/^fields\./, ""))
}

/** The orders of contacts and organizations. */
export const orders = () => (["-created_at", "created_at", "name", "-last_activity"] as const).map((value) => ({ value, label: t(`views.sort.${value}`) }))
export const statuses = () => (["lead", "customer", "inactive"] as const).map((value) => ({ value, label: t(`contacts.status.${value}`) }))
export const subscriptions = () => (["none", "pending", "subscribed", "unsubscribed"] as const).map((value) => ({ value, label: t(`contacts.marketing.${value}`) }))

/** The team as options of who owns a record, with nobody. */
export const membersOrNone = (team: Schema<"TeamMember">[]) => [{ value: "", label: t("none") }, ...team.map((m) => ({ value: String(m.user_id), label: m.name }))]

/** A custom field's value as text. */
export const valueText = (v: unknown): string => (v === undefined || v === null ? "" : Array.isArray(v) ? v.join(", ") : v === true ? t("yes") : v === false ? t("no") : String(v))
