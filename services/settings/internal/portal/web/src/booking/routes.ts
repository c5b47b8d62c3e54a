import { createRoute } from "@tanstack/react-router"
import { guard, root, screen } from "@/kit/root"
import { filters } from "@/kit/search"

export const bookingRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/calendar",
    validateSearch: filters("view", "date", "staff", "status"),
    beforeLoad: guard("booking"),
    component: screen("booking", () => import("./calendar"), "Calendar"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/appointments/new",
    validateSearch: filters("contact", "service", "staff", "at"),
    beforeLoad: guard("booking", "svc_manage_bookings"),
    component: screen("booking", () => import("./new-appointment"), "NewAppointment"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/appointments/$id",
    beforeLoad: guard("booking"),
    component: screen("booking", () => import("./appointment"), "Appointment"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/services",
    validateSearch: filters("archived"),
    beforeLoad: guard("booking"),
    component: screen("booking", () => import("./services"), "Services"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/services/$id",
    beforeLoad: guard("booking"),
    component: screen("booking", () => import("./service"), "Service"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/hours",
    validateSearch: filters("staff"),
    beforeLoad: guard("booking"),
    component: screen("booking", () => import("./hours"), "Hours"),
  }),
] as const
