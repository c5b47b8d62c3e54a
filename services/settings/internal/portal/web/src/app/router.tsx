import { createRouter } from "@tanstack/react-router"
import { queries } from "@/kit/queries"
import { start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { places, root, screens } from "./screens"
import { Shell } from "./shell"

root.update({ component: Shell })

export const router = createRouter({
  routeTree: root.addChildren(screens),
  basepath: start.base,
  context: { queries, places },
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
