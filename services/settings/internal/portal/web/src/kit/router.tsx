import { createRouter } from "@tanstack/react-router"
import { notifyManager, QueryClient } from "@tanstack/react-query"
import { bookingRoutes } from "@/booking/routes"
import { contactRoutes } from "@/contacts/routes"
import { formRoutes } from "@/forms/routes"
import { settingsRoutes } from "@/settings/routes"
import { webhookRoutes } from "@/webhooks/routes"
import { asFault } from "@/api/fault"
import { overviewRoute, root } from "./root"
import { start } from "./start"
import { Failed, Skeleton } from "./states"

// A changed value is drawn before the next event: a box that was ticked stays so while its change is sent.
notifyManager.setScheduler(queueMicrotask)
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 30 * 60_000,
      // Without a connection a screen says so, instead of waiting for one.
      networkMode: "always",
      refetchOnReconnect: true,
      retry: (count, e) => count < 2 && asFault(e).passing,
      retryDelay: (count, e) => Math.max(asFault(e).wait * 1000, 500 * 2 ** count),
    },
  },
})

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
