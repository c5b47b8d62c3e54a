import { createRoute } from "@tanstack/react-router"
import { guard, root, screen } from "@/kit/root"
import { filters } from "@/kit/search"

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/webhooks",
    beforeLoad: guard(undefined, "svc_manage_integrations", "all"),
    component: screen("webhooks", () => import("./webhooks"), "Webhooks"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/webhooks/receiver",
    validateSearch: filters("webhook"),
    beforeLoad: guard(undefined, "svc_manage_integrations", "all"),
    component: screen("webhooks", () => import("./receiver"), "Receiver"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/webhooks/$id",
    validateSearch: filters("status", "delivery"),
    beforeLoad: guard(undefined, "svc_manage_integrations", "all"),
    component: screen("webhooks", () => import("./webhook"), "Webhook"),
  }),
] as const
