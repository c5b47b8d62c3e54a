// What the page begins with: the server writes it into a meta element.
import type { components } from "@/api/schema"

export type AppID = "contacts" | "booking" | "forms" | (string & {})
export type Capability =
  | "svc_manage_crm" | "svc_view_contacts" | "svc_edit_contacts" | "svc_delete_contacts" | "svc_import_contacts"
  | "svc_export_contacts" | "svc_manage_bookings" | "svc_manage_forms" | "svc_manage_integrations"

type Start = {
  /** The path under which the portal stands: "/team", "/admin" or "/". */
  base: string
  language: string
  locale: string
  /** The time zone of the business. */
  zone: string
  business: string
  currency: string
  country: string
  /** The address of the portal. */
  portal: string
  /** Where the logo stands; empty without one. */
  logo: string
  /** Where the stream of changes was before the page has read anything; empty if that is not known. */
  live: string
  session: components["schemas"]["Session"]
  apps: { items: components["schemas"]["AppState"][] | null }
}

export const start: Start = JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="portal"]')!.content)

export const me = start.session

/** Whether the person holds a permission, and sees the records of everybody if sees is "all". Every permission needs svc_view_contacts as well. */
export const can = (capability: Capability = "svc_view_contacts", sees?: "all"): boolean =>
  me.capabilities.includes("svc_view_contacts") && me.capabilities.includes(capability) && (!sees || me.visibility === sees)

/** Whether an app is on. Apps that are not listed are on. */
export const on = (app?: AppID): boolean => !app || (start.apps.items?.find((a) => a.id === app)?.enabled ?? true)

/** What is kept in this browser besides. */
export const kept = {
  get: (name: string) => localStorage.getItem("svc-" + name) ?? "",
  set: (name: string, value: string) => (value ? localStorage.setItem("svc-" + name, value) : localStorage.removeItem("svc-" + name)),
}
