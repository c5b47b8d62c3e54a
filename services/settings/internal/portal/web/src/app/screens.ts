// Every screen of the portal, one line each: its address, the folder whose texts it shows, its program, whom it is open to, its place in the
// navigation, and the calls with which it begins. The router, the navigation, the palette and the settings follow from this table; the
// build (vite.config.mjs) writes of it what the server needs for the page, and the browser tests go by that.
import { createRootRouteWithContext, createRoute, lazyRouteComponent, type RouteComponent } from "@tanstack/react-router"
import type { QueryClient } from "@tanstack/react-query"
import { BadgeCheck, Blocks, BriefcaseBusiness, Building2, CalendarDays, CalendarPlus, Clock, FileText, Inbox, LayoutDashboard, ListTodo, PanelTop, ScrollText, Settings, Settings2, Upload, Users, UsersRound, Webhook, type LucideIcon } from "lucide-react"
import { Fault } from "@/api/fault"
import { isOpen, type Group, type Place, type Terms } from "@/kit/place"
import { filters } from "@/kit/search"
import { Closed, NotFound } from "@/kit/states"
import { on } from "@/kit/start"
import type { Key } from "@/kit/text"
import { loadTexts, type Folder } from "./texts"

type About<Filter> = Terms & {
  /** What it is called in the navigation, the palette and the settings; a screen without it is reached from others only. */
  label?: Key
  /** Its heading, where that is not its label. */
  heading?: Key
  icon?: LucideIcon
  /** Its group in the navigation. */
  menu?: Group
  /** The calls with which it begins, below the API's path: the page starts them before the program is there. */
  calls?: string[]
  /** Parameters of its address. */
  filters?: readonly Filter[]
  /** Folders whose texts it shows besides. */
  texts?: Folder[]
}

type Screen = About<string> & { path: string; folder: Folder; load: () => Promise<object> }

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    screen?: Screen
  }
}

export const root = createRootRouteWithContext<{ queries: QueryClient; places: Place[] }>()({ notFoundComponent: NotFound })

/** A screen, which exports a component of some name. Its file and its texts load when it opens. */
function screen<const Path extends string, M extends object, const Filter extends string = never>(path: Path, folder: Folder, load: () => Promise<M>, name: keyof M & string, about: About<Filter> = {}) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: filters(...(about.filters ?? [])),
    beforeLoad: () => {
      if (!isOpen(about)) throw new Closed(on(about.app) ? "forbidden" : "app_off")
    },
    component: lazyRouteComponent(
      () =>
        Promise.all([load(), ...[folder, "parts" as const, ...(about.texts ?? [])].map(loadTexts)]).then(
          ([m]) => m as Record<string, RouteComponent>,
          (e) => {
            // For the browser's own error the router would load the page anew, as main.tsx has done already.
            throw navigator.onLine ? new Error("A part of the program is missing.", { cause: e }) : new Fault("offline", 0)
          },
        ),
      name,
    ),
    staticData: { screen: { ...about, path, folder, load } },
  })
}

export const screens = [
  screen("/", "contacts", () => import("@/contacts/overview"), "Overview", { label: "nav.overview", heading: "contacts.hello", icon: LayoutDashboard, menu: "day", calls: ["/overview"] }),
  screen("/tasks", "contacts", () => import("@/contacts/tasks"), "TaskList", { label: "nav.tasks", icon: ListTodo, menu: "day", filters: ["owner", "show", "task"] }),
  screen("/contacts", "contacts", () => import("@/contacts/contacts"), "Contacts", { label: "nav.contacts", icon: Users, menu: "people", calls: ["/contacts?per_page=50", "/fields?entity=contact", "/views?entity=contacts"], texts: ["views"], filters: ["tab", "sort", "search", "status", "marketing", "tag", "owner", "source", "organization", "appointment_from", "appointment_to", "no_appointment_since", "created_since", "include_deleted", "deleted"] }),
  screen("/contacts/$id", "contacts", () => import("@/contacts/contact"), "Contact", { calls: ["/contacts/$id", "/contacts/$id/activities?per_page=20", "/fields?entity=contact", "/field-groups?entity=contact"], texts: ["team"] }),
  screen("/organizations", "contacts", () => import("@/contacts/organizations"), "Organizations", { label: "nav.organizations", icon: Building2, menu: "people", calls: ["/organizations?per_page=50", "/views?entity=organizations"], texts: ["views"], filters: ["tab", "sort", "search", "owner", "deleted"] }),
  screen("/organizations/duplicates", "contacts", () => import("@/contacts/duplicates"), "Duplicates", { calls: ["/organizations/possible-duplicates"] }),
  screen("/organizations/$id", "contacts", () => import("@/contacts/organization"), "Organization", { calls: ["/organizations/$id", "/fields?entity=organization", "/field-groups?entity=organization"] }),
  screen("/calendar", "booking", () => import("@/booking/calendar"), "Calendar", { app: "booking", label: "nav.calendar", icon: CalendarDays, menu: "day", calls: ["/staff", "/services?include_archived=false", "/views?entity=appointments"], texts: ["views"], filters: ["view", "date", "staff", "service", "status", "colour", "tab", "search", "contact", "conflict"] }),
  screen("/appointments/$id", "booking", () => import("@/booking/appointment"), "Appointment", { app: "booking", calls: ["/appointments/$id"], texts: ["team"] }),
  screen("/services", "booking", () => import("@/booking/services"), "Services", { app: "booking", label: "nav.services", icon: BriefcaseBusiness, menu: "site", calls: ["/services?include_archived=false"], filters: ["archived"] }),
  screen("/services/$id", "booking", () => import("@/booking/service"), "Service", { app: "booking", calls: ["/services/$id"] }),
  screen("/hours", "team", () => import("@/team/hours"), "Hours", { app: "booking", label: "nav.hours", icon: Clock, menu: "site", calls: ["/staff"], filters: ["staff"] }),
  screen("/submissions", "forms", () => import("@/forms/submissions"), "Submissions", { app: "forms", label: "nav.submissions", icon: Inbox, menu: "people", calls: ["/submissions?per_page=50", "/views?entity=submissions"], texts: ["views"], filters: ["tab", "form", "status", "contact", "since", "until"] }),
  screen("/submissions/$id", "forms", () => import("@/forms/submission"), "Submission", { app: "forms", calls: ["/submissions/$id"] }),
  screen("/forms", "forms", () => import("@/forms/forms"), "Forms", { app: "forms", label: "nav.forms", icon: FileText, menu: "site", calls: ["/forms"], filters: ["deleted"] }),
  screen("/forms/$id", "forms", () => import("@/forms/form"), "Builder", { app: "forms", calls: ["/forms/$id"] }),
  screen("/webhooks", "webhooks", () => import("@/webhooks/webhooks"), "Webhooks", { can: "svc_manage_integrations", sees: "all", label: "nav.webhooks", icon: Webhook, menu: "settings", calls: ["/webhooks"] }),
  screen("/webhooks/receiver", "webhooks", () => import("@/webhooks/receiver"), "Receiver", { can: "svc_manage_integrations", sees: "all", filters: ["webhook"] }),
  screen("/webhooks/$id", "webhooks", () => import("@/webhooks/webhook"), "Webhook", { can: "svc_manage_integrations", sees: "all", filters: ["status", "delivery"] }),
  screen("/pages", "settings", () => import("@/settings/pages"), "Pages", { label: "nav.pages", icon: PanelTop, menu: "site", calls: ["/pages?per_page=50"] }),
  screen("/pages/$id", "settings", () => import("@/settings/page"), "Page", { calls: ["/pages/$id"] }),
  screen("/people", "team", () => import("@/team/people"), "People", { label: "nav.people", icon: UsersRound, menu: "settings", calls: ["/staff"] }),
  screen("/people/$id", "team", () => import("@/team/person"), "Person", { calls: ["/staff"] }),
  screen("/audit", "settings", () => import("@/settings/audit"), "Audit", { can: "svc_manage_integrations", label: "nav.audit", icon: ScrollText, menu: "settings", calls: ["/audit-log?per_page=50"], filters: ["channel", "action", "user", "outcome", "record_type", "record_id", "since", "until"] }),
  screen("/approvals", "settings", () => import("@/settings/approvals"), "Approvals", { label: "nav.approvals", icon: BadgeCheck, menu: "settings", filters: ["state", "approval"] }),
  screen("/apps", "settings", () => import("@/settings/apps"), "Apps", { can: "svc_manage_crm", label: "nav.apps", icon: Blocks, menu: "settings", calls: ["/apps"] }),
  screen("/settings", "settings", () => import("@/settings/hub"), "Hub", { label: "nav.settings", icon: Settings, menu: "settings" }),
  screen("/appointments/new", "booking", () => import("@/booking/new-appointment"), "NewAppointment", { app: "booking", can: "svc_manage_bookings", label: "nav.new_appointment", icon: CalendarPlus, calls: ["/services?include_archived=false"], filters: ["contact", "service", "staff", "at", "until"] }),
  screen("/import", "contacts", () => import("@/contacts/imports"), "Imports", { can: "svc_import_contacts", label: "nav.import", heading: "contacts.import_title", icon: Upload, calls: ["/imports?per_page=20"] }),
  screen("/import/$id", "contacts", () => import("@/contacts/import"), "Import", { can: "svc_import_contacts" }),
  screen("/settings/notifications", "settings", () => import("@/settings/notifications"), "Notifications", { label: "nav.notifications", icon: Settings2, calls: ["/me/notifications"] }),
  screen("/settings/general", "settings", () => import("@/settings/general"), "General", { can: "svc_manage_crm", label: "nav.general", icon: Settings2, calls: ["/settings/general"] }),
  screen("/settings/portal", "settings", () => import("@/settings/portal"), "Portal", { can: "svc_manage_crm", label: "nav.portal", icon: Settings2, calls: ["/settings/portal"] }),
  screen("/settings/booking", "settings", () => import("@/settings/booking"), "Booking", { app: "booking", can: "svc_manage_crm", label: "nav.booking_settings", icon: Settings2, calls: ["/settings/booking"] }),
  screen("/settings/form-style", "settings", () => import("@/settings/form-style"), "FormStyle", { can: "svc_manage_crm", label: "nav.form_style", icon: Settings2, calls: ["/settings/form-style"] }),
  screen("/settings/fields", "settings", () => import("@/settings/fields"), "Fields", { can: "svc_manage_crm", label: "nav.fields", icon: Settings2, filters: ["entity", "archived"] }),
  screen("/settings/tags", "settings", () => import("@/settings/tags"), "Tags", { label: "nav.tags", icon: Settings2, filters: ["search"] }),
  screen("/settings/privacy", "settings", () => import("@/settings/privacy"), "Privacy", { can: "svc_manage_crm", label: "nav.privacy", icon: Settings2, calls: ["/settings/privacy"] }),
  screen("/settings/mails", "settings", () => import("@/settings/mails"), "Mails", { can: "svc_manage_crm", label: "nav.mails", icon: Settings2, calls: ["/mails?per_page=50"], filters: ["status", "mail", "kind", "language"] }),
  screen("/settings/roles", "settings", () => import("@/settings/roles"), "Roles", { can: "svc_manage_crm", label: "nav.roles", icon: Settings2, calls: ["/settings/roles"], texts: ["team"] }),
  screen("/settings/api-access", "settings", () => import("@/settings/api-access"), "APIAccess", { can: "svc_manage_integrations", label: "nav.api_access", icon: Settings2, calls: ["/settings/api-access"] }),
  screen("/settings/assistants", "settings", () => import("@/settings/assistants"), "Assistants", { can: "svc_manage_integrations", label: "nav.assistants", icon: Settings2, calls: ["/integrations/ai"], filters: ["search", "show"] }),
  screen("/settings/telemetry", "settings", () => import("@/settings/telemetry"), "Telemetry", { can: "svc_manage_crm", label: "nav.telemetry", icon: Settings2, calls: ["/settings/telemetry"] }),
  screen("/settings/support", "settings", () => import("@/settings/support"), "Support", { label: "nav.support", icon: Settings2, calls: ["/support"] }),
] as const

/** The screens with a label that this person has, in the order of the table. */
export const places: Place[] = screens.flatMap(({ options: { staticData } }) => {
  const { path: to, label, icon, menu, ...terms } = staticData!.screen!
  return label && icon && isOpen(terms) ? [{ to, label, icon, menu }] : []
})
