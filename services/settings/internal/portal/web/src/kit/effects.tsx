// Effects of a call, by its rehearsal: shown before the button of the call, which then does exactly that.
import "./css/effects.css"
import { useQuery } from "@tanstack/react-query"
import { ArrowRight, Globe, Mail, Workflow } from "lucide-react"
import { asFault } from "@/api/fault"
import type { Schema } from "@/api/client"
import { saying } from "./problem"
import { Skeleton } from "./states"
import { t, tOr } from "./text"

export type Rehearsal = Schema<"Rehearsal">

/** The headers of a rehearsal, and of a call that is refused if it would do something else than what its rehearsal has shown. */
export const dryRun = { Prefer: "dry-run" }
export const exactly = (r: Rehearsal) => ({ "If-Effects": `"${r.hash}"` })
export const otherEffects = (e: unknown) => asFault(e).code === "svc_effects_changed"

/** Rehearses a call. send makes it with the headers that it gets; null for a call that cannot be made yet. */
export function useEffects(key: unknown[], send: ((headers: Record<string, string>) => Promise<{ data?: unknown }>) | null) {
  const rehearsal = useQuery({
    queryKey: ["rehearsal", ...key],
    queryFn: async () => (await send!(dryRun)).data as Rehearsal,
    enabled: send !== null,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  return {
    rehearsal,
    /** The headers of the call itself. */
    exactly: rehearsal.data && exactly(rehearsal.data),
    /** Says that a refusal is for other effects, which are shown then. */
    changed: (e: unknown) => {
      if (!otherEffects(e)) return false
      void rehearsal.refetch()
      return true
    },
  }
}

const most = 8
const word = (v: unknown): string => (v === null || v === undefined || v === "" ? "–" : Array.isArray(v) ? v.map(word).join(", ") || "–" : typeof v === "object" ? JSON.stringify(v) : String(v))

type Named = {
  /** What people call a field. */
  label?: (field: string) => string
  /** What people read for a value of a field, where it is one of a few. */
  value?: (field: string, value: unknown) => unknown
}

/** The effects of a call once they are known. What is refused says so, unless quiet leaves that to the call itself. */
export function Effects({ of, label, value, quiet = false }: Named & { of: ReturnType<typeof useEffects>["rehearsal"]; quiet?: boolean }) {
  if (of.data) return <Shown of={of.data} label={label} value={value} />
  if (of.isError && !quiet) return <p className="notice notice--warn" role="status">{saying(asFault(of.error))}</p>
  return of.isFetching ? <Skeleton lines={3} /> : null
}

/** The effects of a call as a person reads them. */
export function Shown({ of, label = (field) => field, value = (_, v) => v }: Named & { of: Rehearsal }) {
  const { changes, mails, webhooks, commands, events } = of.effects
  const records = new Set(events.map((e) => e.id)).size
  const services = [...new Set(commands.filter((c) => !c.rehearsed).map((c) => c.service))]
  return (
    <section className="effects stack-s" aria-label={t("problem.effects")}>
      <h3>{t("problem.effects")}</h3>
      {changes.length > 0 && (
        <dl className="effects-changes">
          {changes.slice(0, most).map((c, i) => (
            <div key={i}><dt>{label(c.field)}</dt><dd><del>{word(value(c.field, c.old))}</del> <ArrowRight aria-label={t("problem.effects_becomes")} /> <ins>{word(value(c.field, c.new))}</ins></dd></div>
          ))}
        </dl>
      )}
      {changes.length > most && <p className="soft small">{t("problem.effects_more", { n: changes.length - most })}</p>}
      {records > 0 && <p>{t("problem.effects_records", { n: records })}</p>}
      {mails.map((m, i) => (
        <details key={i}>
          <summary><Mail aria-hidden /> {t("problem.effects_mail", { to: m.to.join(", ") || t("problem.effects_team"), subject: m.subject })}</summary>
          <p className="pre soft">{m.text}</p>
        </details>
      ))}
      {webhooks.length > 0 && <p className="with-icon"><Globe aria-hidden />{t("problem.effects_webhooks", { names: webhooks.map((w) => `${w.name} (${w.host})`).join(", ") })}</p>}
      {services.length > 0 && <p className="with-icon"><Workflow aria-hidden />{t("problem.effects_commands", { names: services.map((s) => (s === "booking" ? t("nav.calendar") : tOr(`nav.${s}`, s))).join(", ") })}</p>}
      {changes.length + records + mails.length + services.length === 0 && <p className="soft">{t("problem.effects_none")}</p>}
    </section>
  )
}
