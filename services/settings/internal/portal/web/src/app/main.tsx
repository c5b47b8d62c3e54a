import "@fontsource-variable/inter/index.css"
import "@/kit/css/tokens.css"
import "@/kit/css/kit.css"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queries } from "@/kit/queries"
import { router } from "./router"
import { Closed } from "@/kit/states"
import { loadTexts } from "./texts"

// A part of the program that a newer build has replaced: the page loads once more, and asks where something is not saved. Without a connection
// it would be gone instead. A part that is missing after that is missing: the screen says so.
let loads = false
window.addEventListener("vite:preloadError", ({ payload }) => {
  const missing = "svc-missing " + payload.message
  if (loads || !navigator.onLine || sessionStorage.getItem(missing)) return
  loads = true
  sessionStorage.setItem(missing, "1")
  location.reload()
})

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
