import type { Problem } from "@/api/fault"
import { inWords } from "@/../../../../../../libs/web/src/problem"
import { t } from "./text"

/** Why a value is refused: the text of its code, first from the screen's own that begin with prefix, else the API's words. */
export const why = (p: Problem, prefix = "problem.") => inWords(t as (key: string) => string, p, prefix + p.code, "problem." + p.code) ?? p.message ?? t("problem.other")
