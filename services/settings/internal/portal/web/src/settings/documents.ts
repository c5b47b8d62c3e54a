import { Settings2 } from "lucide-react"
import type { Place } from "@/kit/app"

const document = (to: string, label: Place["label"], more: Partial<Place> = {}): Place => ({ to: "/settings/" + to, label, icon: Settings2, can: "svc_manage_crm", group: "settings", ...more })

/** The sections of the settings. */
export const documents: Place[] = [
  document("general", "nav.general"),
  document("portal", "nav.portal"),
  document("booking", "nav.booking_settings", { app: "booking" }),
  document("form-style", "nav.form_style"),
  document("fields", "nav.fields"),
  document("tags", "nav.tags", { can: "svc_view_contacts" }),
  document("privacy", "nav.privacy"),
  document("mails", "nav.mails"),
  document("roles", "nav.roles"),
  document("api-access", "nav.api_access", { can: "svc_manage_integrations" }),
  document("assistants", "nav.assistants", { can: "svc_manage_integrations" }),
  document("telemetry", "nav.telemetry"),
  document("support", "nav.support", { can: "svc_view_contacts" }),
]
