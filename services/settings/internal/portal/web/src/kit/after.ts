import type { QueryClient } from "@tanstack/react-query"
import { keepFocus } from "./focus"
import { watchIdle } from "./idle"
import { follow } from "./live"

/** Begins what the first screen does not wait for, and what lasts as long as the page. */
export function begin(queries: QueryClient) {
  follow(queries)
  watchIdle()
  keepFocus()
}
