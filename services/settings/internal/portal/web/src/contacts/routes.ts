import { createRoute } from "@tanstack/react-router"
import { guard, root, screen } from "@/kit/root"
import { filters } from "@/kit/search"

export const contactRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/contacts",
    validateSearch: filters("search", "status", "marketing", "tag", "owner", "source", "organization", "appointment_from", "appointment_to", "no_appointment_since", "created_since", "include_deleted", "deleted"),
    beforeLoad: guard(),
    component: screen("contacts", () => import("./contacts"), "Contacts"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/contacts/$id",
    beforeLoad: guard(),
    component: screen("contacts", () => import("./contact"), "Contact"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/import",
    beforeLoad: guard(undefined, "svc_import_contacts"),
    component: screen("contacts", () => import("./imports"), "Imports"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/import/$id",
    beforeLoad: guard(undefined, "svc_import_contacts"),
    component: screen("contacts", () => import("./import"), "Import"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/organizations",
    validateSearch: filters("search", "owner", "deleted"),
    beforeLoad: guard(),
    component: screen("contacts", () => import("./organizations"), "Organizations"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/organizations/duplicates",
    beforeLoad: guard(),
    component: screen("contacts", () => import("./duplicates"), "Duplicates"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/organizations/$id",
    beforeLoad: guard(),
    component: screen("contacts", () => import("./organization"), "Organization"),
  }),
] as const
