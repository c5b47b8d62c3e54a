// Two records become one: both side by side, with what stays and what is filled in.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Effects, useEffects } from "@/kit/effects"
import { Picker, type Choice } from "@/kit/picker"
import { saying } from "@/kit/problem"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toast } from "@/kit/toast"
import { organizationKey, organizationQuery, useValueName, valueText } from "./data"
import { timelineKey } from "./timeline"
import { contactKey, contactQuery, findContacts, findOrganizations, nameOf } from "@/kit/records"

type Kind = "contacts" | "organizations"
const rows = {
  contacts: ["first_name", "last_name", "email", "phone", "status", "source", "tags"],
  organizations: ["name", "vat_number", "email", "phone", "website", "address_line", "postal_code", "city", "country"],
} as const

/** The record id wins; the other is deleted for good. */
export function Merge({ kind, id, name, other, onClose, onDone }: { kind: Kind; id: string; name: string; other?: Choice; onClose: () => void; onDone?: () => void }) {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<Choice | null>(other ?? null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState("")
  const people = kind === "contacts"
  const called = useValueName(people ? "contact" : "organization")
  const find = async (words: string, signal: AbortSignal) => (await (people ? findContacts : findOrganizations)(words, signal)).filter((c) => c.id !== id)
  const call = (other: string, headers?: Record<string, string>) => ({ params: { path: { id } }, body: { other_id: other }, headers })
  const { rehearsal, exactly, changed } = useEffects([kind, "merge", id, chosen?.id], chosen && ((headers) =>
    people ? api.POST("/contacts/{id}/merge", call(chosen.id, headers)) : api.POST("/organizations/{id}/merge", call(chosen.id, headers))))
  const merge = async () => {
    setBusy(true)
    try {
      if (people) queries.setQueryData(contactKey(id), await take(api.POST("/contacts/{id}/merge", call(chosen!.id, exactly))))
      else queries.setQueryData(organizationKey(id), await take(api.POST("/organizations/{id}/merge", call(chosen!.id, exactly))))
      queries.removeQueries({ queryKey: [kind, "one", chosen!.id] })
      for (const key of [timelineKey(kind, id), [kind, "list"], [kind, "links", id], ["organizations", "duplicates"]]) void queries.invalidateQueries({ queryKey: key })
      toast(t("contacts.merged", { name, other: chosen!.name }))
      onDone?.()
      onClose()
    } catch (e) {
      setProblem(changed(e) ? t("problem.effects_changed") : saying(asFault(e)))
      setBusy(false)
    }
  }
  return (
    <Dialog title={t("contacts.merge_title", { name })} onClose={onClose} size="l">
      <div className="dialog-body">
        {problem && <p className="notice notice--bad" role="alert">{problem}</p>}
        {!other && <Picker name="other" label={t("contacts.merge_other")} source={kind + " merge " + id} find={find} value={chosen} onChange={setChosen} autoFocus />}
        {chosen && (people ? <People id={id} other={chosen.id} called={called} /> : <Companies id={id} other={chosen.id} called={called} />)}
        {chosen && <p className="soft small">{t("contacts.merge_text", { other: chosen.name })}</p>}
        {chosen && <Effects of={rehearsal} label={called} value={said} />}
      </div>
      <footer className="dialog-foot">
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind="bad" busy={busy} disabled={!chosen} onClick={() => void merge()}>{chosen ? t("contacts.merge_do", { other: chosen.name }) : t("contacts.merge")}</Button>
      </footer>
    </Dialog>
  )
}

type Both = { id: string; other: string; called: (name: string) => string }

function People({ id, other, called }: Both) {
  const a = useQuery(contactQuery(id))
  const b = useQuery(contactQuery(other))
  if (!a.data || !b.data) return a.isError || b.isError ? <Failed error={a.error ?? b.error} /> : <Skeleton lines={6} />
  return <Preview called={called} names={rows.contacts} a={a.data} b={b.data} title={nameOf} />
}

function Companies({ id, other, called }: Both) {
  const a = useQuery(organizationQuery(id))
  const b = useQuery(organizationQuery(other))
  if (!a.data || !b.data) return a.isError || b.isError ? <Failed error={a.error ?? b.error} /> : <Skeleton lines={6} />
  return <Preview called={called} names={rows.organizations} a={a.data} b={b.data} title={(o) => o.name} />
}

/** A value in words, where it is one of a few. */
const said = (name: string, value: unknown) => (typeof value === "string" && tOr(`contacts.${name}.${value}`, "")) || value

function Preview<R extends { fields: { [key: string]: unknown } }>({ called, names, a, b, title }: { called: (name: string) => string; names: readonly (keyof R & string)[]; a: R; b: R; title: (r: R) => string }) {
  const lines = [
    ...names.map((n) => ({ key: n, label: called(n), a: said(n, a[n]), b: said(n, b[n]) })),
    ...[...new Set([...Object.keys(a.fields), ...Object.keys(b.fields)])].map((k) => ({ key: "fields." + k, label: called("fields." + k), a: a.fields[k], b: b.fields[k] })),
  ].filter((l) => valueText(l.a) || valueText(l.b))
  return (
    <div className="table-frame" tabIndex={0} role="group" aria-label={t("contacts.merge_preview")}>
      <table className="table merge">
        <thead><tr><th scope="col"><span className="sr">{t("contacts.merge_field")}</span></th><th scope="col">{title(a)} · {t("contacts.merge_stays")}</th><th scope="col">{title(b)} · {t("contacts.merge_goes")}</th></tr></thead>
        <tbody>
          {lines.map((l) => {
            // Tags come together; everything else is only filled in.
            const both = l.key === "tags"
            const [left, right] = [valueText(l.a), valueText(l.b)]
            const more = both && valueText((l.b as string[]).filter((tag) => !(l.a as string[]).includes(tag)))
            return (
              <tr key={l.key}>
                <th scope="row">{l.label}</th>
                <td className={left ? "merge-kept" : ""}>{left || (right ? <ins>{right}</ins> : "–")}{left && more && <ins> + {more}</ins>}</td>
                <td className={!left || both || left === right ? "soft" : "merge-lost"}>{right || "–"}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
