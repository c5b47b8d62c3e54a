import { createRouter } from "@tanstack/react-router"
import { bookingRoutes } from "@/booking/routes"
import { contactRoutes } from "@/contacts/routes"
import { formRoutes } from "@/forms/routes"
import { settingsRoutes } from "@/settings/routes"
import { webhookRoutes } from "@/webhooks/routes"
import { queries } from "./queries"
import { overviewRoute, root } from "./root"
import { start } from "./start"
import { Failed, Skeleton } from "./states"

const tree = root.addChildren([overviewRoute, ...contactRoutes, ...bookingRoutes, ...formRoutes, ...webhookRoutes, ...settingsRoutes])

export const router = createRouter({
  routeTree: tree,
  basepath: start.base,
  context: { queries },
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={() => void router.invalidate().then(reset)} />,
  defaultPendingComponent: () => <Skeleton />,
  defaultPendingMs: 300,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}

// Until the next screen has its heading, the tab has the name of the business.
router.subscribe("onBeforeLoad", ({ fromLocation, pathChanged }) => {
  if (fromLocation && pathChanged) document.title = start.business
})
