import { createRoute } from "@tanstack/react-router"
import { guard, root, screen } from "@/kit/root"
import { filters } from "@/kit/search"

export const formRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/forms",
    beforeLoad: guard("forms"),
    component: screen("forms", () => import("./forms"), "Forms"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/forms/$id",
    beforeLoad: guard("forms"),
    component: screen("forms", () => import("./form"), "Builder"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/submissions",
    validateSearch: filters("form", "status", "contact", "since", "until"),
    beforeLoad: guard("forms"),
    component: screen("forms", () => import("./submissions"), "Submissions"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/submissions/$id",
    beforeLoad: guard("forms"),
    component: screen("forms", () => import("./submission"), "Submission"),
  }),
] as const
