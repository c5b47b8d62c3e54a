import type { QueryClient } from "@tanstack/react-query"
import { keepFocus } from "./focus"
import { watchIdle } from "./idle"
import { follow } from "./live"
import { watchPerson } from "./person"
import { loadFrame } from "./texts"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"

/** Begins what the first screen does not wait for, and what lasts as long as the page. */
export function begin(queries: QueryClient) {
  follow(queries, () => toast(t("live.rights"), { act: { label: "live.reload", run: () => location.reload() } }))
  watchPerson()
  // Its dialog is minutes away.
  void loadFrame().catch(() => {})
  watchIdle()
  keepFocus()
}
