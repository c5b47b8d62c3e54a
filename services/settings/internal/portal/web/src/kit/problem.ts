// Refusals in words.
import type { Fault } from "@/api/fault"
import { t, tOr } from "./text"

/** What a refusal as a whole says to the person. */
export function saying(f: Fault): string {
  if (f.code === "svc_rate_limited") return t("fault.rate", { n: f.wait || 1 })
  if (f.code === "svc_conflict" && typeof f.data.reason === "string") return tOr("problem.conflict." + f.data.reason, f.message)
  const own = tOr("fault." + f.code, "") || tOr("problem." + f.code, "")
  if (own) return own
  return f.status >= 500 ? t("fault.svc_unavailable") : f.message
}
