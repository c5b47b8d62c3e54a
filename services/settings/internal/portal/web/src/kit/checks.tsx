// What of the installation is set wrong, and which line to change.
import { useQuery } from "@tanstack/react-query"
import { TriangleAlert } from "lucide-react"
import { api, take, type Schema } from "@/api/client"
import { t } from "./text"

export const setupQuery = { queryKey: ["setup"], queryFn: () => take(api.GET("/setup")), staleTime: 5 * 60_000 }

type Check = Schema<"Check">

/** The checks that failed, or those of some names. */
export function Checks({ only }: { only?: Check["name"][] }) {
  const failed = useQuery(setupQuery).data?.checks.filter((c) => !c.ok && (!only || only.includes(c.name))) ?? []
  if (failed.length === 0) return null
  return (
    <ul className="stack-s" aria-label={t("checks")}>
      {failed.map((c) => (
        <li key={c.name} className="notice notice--warn"><TriangleAlert aria-hidden /><span><b>{t(`check.${c.name}`)}</b><br />{c.hint}</span></li>
      ))}
    </ul>
  )
}
