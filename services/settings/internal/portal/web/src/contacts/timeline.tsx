// The timeline of a contact or an organization, and of the overview.
import { Link } from "@tanstack/react-router"
import { Building2, CalendarClock, FileText, GitMerge, Link2, Link2Off, Mail, MessageSquareText, ListTodo, Pencil, Pin, Plus, RotateCcw, Trash2, type LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import type { Schema } from "@/api/client"
import { agoText, momentText } from "@/kit/dates"
import { t, tOr } from "@/kit/text"
import { useValueName, valueText } from "./data"

type Entry = Schema<"Entry">
type Data = { [key: string]: unknown }

const icons: Record<string, LucideIcon> = {
  created: Plus, updated: Pencil, deleted: Trash2, restored: RotateCcw, merged: GitMerge, note: MessageSquareText, linked: Link2, unlinked: Link2Off,
  appointment: CalendarClock, submission: FileText, marketing: Mail, mail: Mail, task: ListTodo,
}

/** The newest page of a record's timeline is under this key. */
export const timelineKey = (kind: "contacts" | "organizations", id: string) => [kind, "timeline", id]

/** beside has what can be done with an entry, and instead stands in the place of its text. */
export function Timeline({ entries, named, beside, instead }: { entries: Entry[]; named?: boolean; beside?: (e: Entry) => ReactNode; instead?: (e: Entry) => ReactNode }) {
  return (
    <ol className="timeline">
      {entries.map((e) => {
        const Icon = e.pinned ? Pin : (icons[e.type] ?? Building2)
        return (
          <li key={e.id} className={`entry entry--${e.type}`}>
            <span className="entry-icon"><Icon aria-hidden /></span>
            <div className="entry-main">
              <p className="entry-head">
                <span>{named && e.contact && <><Link to="/contacts/$id" params={{ id: e.contact.id }} className="row-link">{e.contact.name}</Link> · </>}{whatHappened(e)}</span>
                <span className="row row--tight"><time dateTime={e.created_at} title={momentText(e.created_at)}>{agoText(e.created_at)}</time>{beside?.(e)}</span>
              </p>
              {instead?.(e) || (e.body && <p className="entry-body pre">{e.body}</p>)}
              {e.type !== "created" && <Changes of={named && !e.contact ? "organization" : "contact"} data={(e.data.changes as Data | undefined) ?? e.data} />}
              <p className="entry-by">{[e.actor_label, tOr("contacts.channel." + e.channel, e.channel), e.pinned && t("contacts.note_pinned"), e.edited_at && t("contacts.note_edited", { date: momentText(e.edited_at) })].filter(Boolean).join(" · ")}</p>
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** What happened, in the reader's language, and with what; the API's own words for what is not known here. */
function whatHappened(e: Entry): string {
  const d = e.data as { event?: string; appointment?: { service?: { name?: string }; starts_at?: string }; form?: { name?: string }; task?: { title?: string }; organization?: { name?: string }; marketing?: { new?: string } }
  const about = (text: string, ...rest: (string | undefined)[]) => [text, ...rest.filter(Boolean)].join(" · ")
  switch (e.type) {
    case "appointment":
      return about(tOr("contacts.entry." + d.event, e.subject), d.appointment?.service?.name, d.appointment?.starts_at && momentText(d.appointment.starts_at))
    case "submission":
      return about(t("contacts.entry.submission"), d.form?.name)
    case "linked":
    case "unlinked":
      return about(t(`contacts.entry.${e.type}`), d.organization?.name)
    case "task":
      return about(tOr("contacts.entry.task." + d.event, e.subject), d.task?.title)
    case "mail":
    case "merged":
      return about(t(`contacts.entry.${e.type}`), e.subject)
  }
  return tOr("contacts.entry." + e.type, e.subject || e.type)
}

function Changes({ of, data }: { of: "contact" | "organization"; data: Data }) {
  const rows = Object.entries(data).filter((x): x is [string, { old: unknown; new: unknown }] => typeof x[1] === "object" && x[1] !== null && "new" in x[1])
  if (rows.length === 0) return null
  return (
    <ul className="changes">
      {rows.map(([name, { old, new: now }]) => (
        <li key={name}>
          <span className="soft">{name.startsWith("fields.") ? <Custom of={of} name={name} /> : tOr("contacts." + name, name)}</span> <del>{shown(name, old)}</del> <span aria-hidden>→</span> <ins>{shown(name, now)}</ins>
        </li>
      ))}
    </ul>
  )
}

/** The name of a custom field, which loads where a timeline has one. */
const Custom = ({ of, name }: { of: "contact" | "organization"; name: string }) => useValueName(of)(name)

const shown = (name: string, value: unknown) => (typeof value === "string" && tOr(`contacts.${name}.${value}`, "")) || valueText(value) || t("none")
