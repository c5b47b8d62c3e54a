// Refusals in words.
import { Fault, type Problem } from "@/api/fault"
import { t, tOr } from "./text"

/** Why a value is refused: the text of its code, first from the screen's own that begin with prefix, else the API's words. */
export function why(p: Problem, prefix = "problem."): string {
  const facts = Object.fromEntries(Object.entries(p).map(([name, v]) => [name, Array.isArray(v) ? v.join(", ") : typeof v === "number" ? v : String(v)]))
  return tOr(prefix + p.code, "", facts) || tOr("problem." + p.code, p.message ?? t("problem.other"), facts)
}

/** What a refusal as a whole says to the person. */
export function saying(f: Fault): string {
  if (f.code === "svc_rate_limited") return t("fault.rate", { n: f.wait || 1 })
  if (f.code === "svc_conflict" && typeof f.data.reason === "string") return tOr("problem.conflict." + f.data.reason, f.message)
  const own = tOr("fault." + f.code, "") || tOr("problem." + f.code, "")
  if (own) return own
  return f.status >= 500 ? t("fault.svc_unavailable") : f.message
}
