// The frame around every settings screen: the sections beside it, and one way to load and to change a document.
import "./settings.css"
import type { QueryKey, UseQueryResult } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ArrowLeft, Bell, Bot, Building2, CalendarCog, Columns3Cog, Globe, KeyRound, LifeBuoy, Mails, Palette, Radio, ShieldCheck, Tags, UserRoundCog, type LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import type { Sending } from "@/kit/draft"
import { Form, SaveBar, useDraftForm, type Limits } from "@/kit/form"
import { usePlaces } from "@/kit/place"
import { Head } from "@/kit/head"
import { Failed, Skeleton } from "@/kit/states"
import { t, type Key } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useDraft, type Drafting } from "@/kit/use-draft"

export type Section = "notifications" | "general" | "portal" | "booking" | "form-style" | "fields" | "tags" | "privacy" | "mails" | "roles" | "api-access" | "assistants" | "telemetry" | "support"

const groups: { title: Key; sections: [Section, LucideIcon][] }[] = [
  { title: "settings.group.you", sections: [["notifications", Bell]] },
  { title: "settings.group.business", sections: [["general", Building2], ["portal", Globe], ["booking", CalendarCog], ["form-style", Palette]] },
  { title: "settings.group.data", sections: [["fields", Columns3Cog], ["tags", Tags], ["privacy", ShieldCheck], ["mails", Mails]] },
  { title: "settings.group.access", sections: [["roles", UserRoundCog], ["api-access", KeyRound], ["assistants", Bot], ["telemetry", Radio], ["support", LifeBuoy]] },
]

export type Entry = { id: Section; to: string; label: Key; icon: LucideIcon }

/** The sections that this person has, under their headings. */
export function useSections() {
  const places = usePlaces()
  return groups
    .map((g) => ({ title: g.title, entries: g.sections.flatMap(([id, icon]): Entry[] => places.filter((p) => p.to === "/settings/" + id).map((p) => ({ id, to: p.to, label: p.label, icon }))) }))
    .filter((g) => g.entries.length > 0)
}

export function Frame({ at, actions, wide, children }: { at: Section; actions?: ReactNode; wide?: boolean; children: ReactNode }) {
  const sections = useSections()
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

/** A form over a draft of a document. Its fields show the draft's values at their names; children get it for what is no such field. */
export function DocumentForm<T extends object>({ name, limits, queryKey, doc, send, children }: {
  name: string
  limits?: Limits
  queryKey: QueryKey
  doc: T
  send: (s: Sending<T>) => Promise<T>
  children: (draft: { mine: T; base: T } & Drafting) => ReactNode
}) {
  const draft = useDraft(doc, queryKey, send)
  const form = useDraftForm(draft, () => toast(t("settings.saved", { name })))
  return (
    <Form form={form} draft={draft} limits={limits} className="settings-form">
      <div className="stack">{children(draft)}</div>
      <SaveBar draft={draft} busy={form.busy} />
    </Form>
  )
}
