import { createRoute } from "@tanstack/react-router"
import { guard, root, screen } from "@/kit/root"
import { filters } from "@/kit/search"

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/people",
    beforeLoad: guard(),
    component: screen("settings", () => import("./people"), "People", "booking"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/people/$id",
    beforeLoad: guard(),
    component: screen("settings", () => import("./person"), "Person", "booking"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/pages",
    beforeLoad: guard(),
    component: screen("settings", () => import("./pages"), "Pages"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/pages/$id",
    beforeLoad: guard(),
    component: screen("settings", () => import("./page"), "Page"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: filters("channel", "action"),
    beforeLoad: guard(undefined, "svc_manage_integrations"),
    component: screen("settings", () => import("./audit"), "Audit"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    beforeLoad: guard(),
    component: screen("settings", () => import("./hub"), "Hub"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/apps",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./apps"), "Apps"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/general",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./general"), "General"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/portal",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./portal"), "Portal"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/booking",
    beforeLoad: guard("booking", "svc_manage_crm"),
    component: screen("settings", () => import("./booking"), "Booking"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/form-style",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./form-style"), "FormStyle"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/fields",
    validateSearch: filters("entity", "archived"),
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./fields"), "Fields"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/tags",
    validateSearch: filters("search"),
    beforeLoad: guard(),
    component: screen("settings", () => import("./tags"), "Tags"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/privacy",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./privacy"), "Privacy"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/mails",
    validateSearch: filters("status"),
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./mails"), "Mails"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/roles",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./roles"), "Roles"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/api-access",
    beforeLoad: guard(undefined, "svc_manage_integrations"),
    component: screen("settings", () => import("./api-access"), "APIAccess"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/assistants",
    validateSearch: filters("search", "show"),
    beforeLoad: guard(undefined, "svc_manage_integrations"),
    component: screen("settings", () => import("./assistants"), "Assistants"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/telemetry",
    beforeLoad: guard(undefined, "svc_manage_crm"),
    component: screen("settings", () => import("./telemetry"), "Telemetry"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/support",
    beforeLoad: guard(),
    component: screen("settings", () => import("./support"), "Support"),
  }),
] as const
