import "@fontsource-variable/inter/index.css"
import "./css/tokens.css"
import "./css/kit.css"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queries, router } from "./router"
import { Closed } from "./states"
import { loadTexts } from "./text"

// A part of the program that a newer build has replaced: the page loads once more. Without a connection it would be gone instead.
window.addEventListener("vite:preloadError", () => navigator.onLine && location.reload())

// The page's own frame stands until the first screen does. That screen does not wait for what only begins with it.
const unsubscribe = router.subscribe("onRendered", () => {
  document.getElementById("frame")?.remove()
  unsubscribe()
  void import("./after").then(({ begin }) => begin(queries))
})

await loadTexts("kit")
// A screen that is off or forbidden is shown as such, and is no error of the program.
const onCaughtError = (e: unknown) => e instanceof Closed || console.error(e)
createRoot(document.getElementById("portal")!, { onCaughtError }).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
