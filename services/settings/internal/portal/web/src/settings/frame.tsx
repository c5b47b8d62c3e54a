// The frame around every settings screen: the sections beside it, and one way to load and to change a document.
import "./settings.css"
import { useQueryClient, type QueryKey, type UseQueryResult } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ArrowLeft, Bot, Building2, CalendarCog, CircleAlert, Columns3Cog, Globe, KeyRound, LifeBuoy, Mails, Palette, Radio, ShieldCheck, Tags, UserRoundCog, type LucideIcon } from "lucide-react"
import { useState, type ReactNode } from "react"
import { asFault } from "@/api/fault"
import { Button } from "@/kit/button"
import { Form, useForm, useUnsavedGuard } from "@/kit/form"
import { screens } from "@/kit/screens"
import { Head } from "@/kit/shell"
import { Failed, Skeleton } from "@/kit/states"
import { t, type Key } from "@/kit/text"
import { toast } from "@/kit/toast"

export type Section = "general" | "portal" | "booking" | "form-style" | "fields" | "tags" | "privacy" | "mails" | "roles" | "api-access" | "assistants" | "telemetry" | "support"

const groups: { title: Key; sections: [Section, LucideIcon][] }[] = [
  { title: "settings.group.business", sections: [["general", Building2], ["portal", Globe], ["booking", CalendarCog], ["form-style", Palette]] },
  { title: "settings.group.data", sections: [["fields", Columns3Cog], ["tags", Tags], ["privacy", ShieldCheck], ["mails", Mails]] },
  { title: "settings.group.access", sections: [["roles", UserRoundCog], ["api-access", KeyRound], ["assistants", Bot], ["telemetry", Radio], ["support", LifeBuoy]] },
]

export type Entry = { id: Section; to: string; label: Key; icon: LucideIcon }

/** The sections that this person has, under their headings. */
export const sections = groups
  .map((g) => ({
    title: g.title,
    entries: g.sections.flatMap(([id, icon]): Entry[] => screens.filter((p) => p.to === "/settings/" + id).map((p) => ({ id, to: p.to, label: p.label, icon }))),
  }))
  .filter((g) => g.entries.length > 0)

export function Frame({ at, actions, wide, children }: { at: Section; actions?: ReactNode; wide?: boolean; children: ReactNode }) {
  const here = sections.flatMap((g) => g.entries).find((e) => e.id === at)
  return (
    <>
      <Head title={here ? t(here.label) : ""} back={<Link to="/settings" className="icon-button settings-back" aria-label={t("nav.settings")}><ArrowLeft aria-hidden /></Link>}>{actions}</Head>
      <div className="content settings">
        <nav className="settings-nav" aria-label={t("nav.settings")}>
          {sections.map((g) => (
            <div key={g.title}>
              <h2 className="nav-title">{t(g.title)}</h2>
              <ul>{g.entries.map((e) => <li key={e.id}><Link to={e.to as "/"} className="settings-link"><e.icon aria-hidden /><span>{t(e.label)}</span></Link></li>)}</ul>
            </div>
          ))}
        </nav>
        <div className={wide ? "settings-main settings-main--wide stack" : "settings-main stack"}>{children}</div>
      </div>
    </>
  )
}

/** A section whose document loads. */
export function Loaded<T>({ at, query, wide, actions, children }: { at: Section; query: UseQueryResult<T>; wide?: boolean; actions?: ReactNode; children: (doc: T) => ReactNode }) {
  return (
    <Frame at={at} wide={wide} actions={actions}>
      {query.isPending ? <Skeleton lines={8} /> : query.data === undefined ? <Failed error={query.error} retry={() => void query.refetch()} /> : children(query.data)}
    </Frame>
  )
}

type Values = Record<string, unknown>
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const valueAt = (o: object, path: string) => path.split(".").reduce<unknown>((v, name) => (v as Values | undefined)?.[name], o)

/** The values of a form that differ from the document, as paths of one or two names. */
const differing = (doc: object, values: Values, prefix = ""): string[] =>
  Object.entries(values).flatMap(([name, v]) => {
    const path = prefix + name
    if (typeof v === "object" && v !== null && !Array.isArray(v)) return differing(doc, v as Values, path + ".")
    return same(v, valueAt(doc, path)) ? [] : [path]
  })

function pick(values: Values, paths: string[]): Values {
  const out: Values = {}
  for (const path of paths) {
    const [first, second] = path.split(".") as [string, string?]
    if (second) out[first] = { ...(out[first] as Values), [second]: valueAt(values, path) }
    else out[first] = values[first]
  }
  return out
}

/**
 * A form over a document: it sends only what differs. Changes by others show while nothing is typed here. If somebody else
 * changed the document meanwhile, the change is sent again unless both changed the same value: then the person decides.
 */
export function DocumentForm<T extends object>({ name, queryKey, load, doc, read, send, children }: {
  name: string
  queryKey: QueryKey
  load: () => Promise<T>
  doc: T
  read: (values: FormData) => Values
  send: (change: never) => Promise<T>
  children: (doc: T) => ReactNode
}) {
  const queries = useQueryClient()
  const [begun, setBegun] = useState({ doc, n: 0 })
  const [seen, setSeen] = useState(doc)
  const [theirs, setTheirs] = useState<T>()
  const form = useForm(
    async (values) => {
      const own = read(values)
      const begin = theirs ?? begun.doc
      const paths = differing(begin, own)
      const sendChange = () => send(pick(own, paths) as never)
      let after = begin
      if (paths.length > 0) {
        after = await sendChange().catch(async (e: unknown) => {
          if (asFault(e).status !== 412) throw e
          const now = await load()
          if (paths.some((p) => !same(valueAt(now, p), valueAt(begin, p)))) {
            setTheirs(now)
            throw e
          }
          return sendChange()
        })
      }
      queries.setQueryData(queryKey, after)
      const shown = queries.getQueryData<T>(queryKey) ?? after
      // The API may normalize a value, such as an address: show it as stored.
      setBegun((old) => ({ doc: shown, n: differing(shown, own).length > 0 ? old.n + 1 : old.n }))
      setTheirs(undefined)
      toast(t("settings.saved", { name }))
    },
    (f) => f.status === 412,
  )
  useUnsavedGuard(form.dirty)
  const restart = (next: T) => {
    setTheirs(undefined)
    form.setDirty(false)
    setBegun((old) => ({ doc: next, n: old.n + 1 }))
  }
  if (seen !== doc) {
    setSeen(doc)
    if (!form.dirty && !same(begun.doc, doc)) setBegun((old) => ({ doc, n: old.n + 1 }))
  }
  return (
    <Form form={form} className="settings-form">
      {theirs && (
        <div className="notice notice--warn" role="alert">
          <CircleAlert aria-hidden />
          <div>
            <p>{t("settings.conflict")}</p>
            <div className="row"><Button small onClick={() => (queries.setQueryData(queryKey, theirs), restart(theirs))}>{t("settings.conflict_theirs")}</Button></div>
          </div>
        </div>
      )}
      <div className="stack" key={begun.n}>{children(begun.doc)}</div>
      <div className="save-bar">
        <span className="soft" role="status">{form.dirty ? t("settings.unsaved") : ""}</span>
        <span className="row">
          {form.dirty && <Button onClick={() => restart(begun.doc)}>{t("settings.discard")}</Button>}
          <Button kind="main" type="submit" busy={form.busy}>{t(theirs ? "settings.save_mine" : "save")}</Button>
        </span>
      </div>
    </Form>
  )
}
