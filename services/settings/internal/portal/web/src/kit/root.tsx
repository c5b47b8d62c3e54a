import { createRootRouteWithContext, createRoute, lazyRouteComponent, type RouteComponent } from "@tanstack/react-router"
import type { QueryClient } from "@tanstack/react-query"
import { Fault } from "@/api/fault"
import { Shell } from "./shell"
import { can, on, type AppID, type Capability } from "./start"
import { Closed, NotFound } from "./states"
import { loadTexts, type Folder } from "./text"

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Shell, notFoundComponent: NotFound })

/** Refuses a screen whose app is off, or that the person may not see. */
export const guard = (app?: AppID, capability?: Capability, sees?: "all") => () => {
  if (!on(app)) throw new Closed("app_off")
  if (!can(capability, sees)) throw new Closed("forbidden")
}

/** A screen in a file of its own: the file, the folder's texts and those of others load when the screen opens. vite.config.mjs reads these calls. */
export const screen = <M extends object>(folder: Folder, load: () => Promise<M>, name: keyof M & string, ...others: Folder[]) =>
  lazyRouteComponent(
    () =>
      Promise.all([load(), ...[folder, ...others].map(loadTexts)]).then(
        ([m]) => m as Record<string, RouteComponent>,
        (e) => {
          throw navigator.onLine ? e : new Fault("offline", 0)
        },
      ),
    name,
  )

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: guard(),
  component: screen("contacts", () => import("@/contacts/overview"), "Overview"),
})
