// The organizations of a person, and the people of an organization.
import { useQuery, useQueryClient, type QueryKey } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Pencil, Plus, Star, Unlink } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { linkContactOrganization } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { CheckField, Form, TextField, useDraftForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { Picker, type Choice } from "@/kit/picker"
import { Failed } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft, useListed } from "@/kit/use-draft"
import { timelineKey } from "./timeline"
import { contactKey, findContacts, findOrganizations } from "@/kit/records"

type Linked = Schema<"Link">
type Side = "contacts" | "organizations"

const other = (side: Side): Side => (side === "contacts" ? "organizations" : "contacts")
const linksKey = (side: Side, id: string) => [side, "links", id]

/** What a record is linked with: side says which record id belongs to. */
export function Links({ side, id, readOnly }: { side: Side; id: string; readOnly: boolean }) {
  const queries = useQueryClient()
  const [open, setOpen] = useState<Linked | "new">()
  const query = useQuery({
    queryKey: linksKey(side, id),
    queryFn: () => (side === "contacts" ? take(api.GET("/contacts/{id}/organizations", { params: { path: { id } } })) : take(api.GET("/organizations/{id}/contacts", { params: { path: { id } } }))),
  })
  const links = query.data?.items ?? []
  const path = (linked: string) => (side === "contacts" ? { id: linked, contact_id: id } : { id, contact_id: linked })
  const again = (linked: string) => {
    for (const key of [linksKey(side, id), linksKey(other(side), linked), timelineKey(side, id), ...(side === "contacts" ? [contactKey(id)] : [])]) void queries.invalidateQueries({ queryKey: key })
  }
  const put: Put = async (linked, version, body) => {
    await take(api.PUT("/organizations/{id}/contacts/{contact_id}", { params: { path: path(linked), header: ifMatch(version) }, body }))
    again(linked)
  }
  const unlink = async (l: Linked) => {
    try {
      await api.DELETE("/organizations/{id}/contacts/{contact_id}", { params: { path: path(l.id) } })
      again(l.id)
      toast(t("contacts.unlinked", { name: l.name }), { undo: () => void put(l.id, undefined, { role: l.role, is_primary: l.is_primary }).catch(toastFault) })
    } catch (e) {
      toastFault(e)
    }
  }
  const title = t(side === "contacts" ? "nav.organizations" : "contacts.people")
  return (
    <Panel title={title} beside={!readOnly && <Button kind="quiet" small icon={<Plus aria-hidden />} onClick={() => setOpen("new")}>{t(side === "contacts" ? "contacts.link_organization" : "contacts.link_person")}</Button>}>
      {query.isError && !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : links.length === 0 ? <p className="panel-none soft">{t("contacts.links_none")}</p> : (
        <ul className="links">
          {links.map((l) => (
            <li key={l.id} className="link-row">
              <span className="cell-main">
                {side === "contacts" ? <Link to="/organizations/$id" params={{ id: l.id }} className="row-link cell-text">{l.name}</Link> : <Link to="/contacts/$id" params={{ id: l.id }} className="row-link cell-text">{l.name}</Link>}
                {l.role && <small className="cell-text">{l.role}</small>}
              </span>
              {l.is_primary && <span className="tag"><Star aria-hidden />{t("contacts.main")}</span>}
              {!readOnly && (
                <span className="nowrap">
                  <button className="icon-button" aria-label={t("contacts.link_edit", { name: l.name })} onClick={() => setOpen(l)}><Pencil aria-hidden /></button>
                  <button className="icon-button" aria-label={t("contacts.unlink", { name: l.name })} onClick={() => void unlink(l)}><Unlink aria-hidden /></button>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {open && <Edit at={linksKey(side, id)} side={side} link={open === "new" ? undefined : links.find((l) => l.id === open.id) ?? open} onClose={() => setOpen(undefined)} onSave={put} />}
    </Panel>
  )
}

type Put = (linked: string, version: string | undefined, body: Pick<Linked, "role" | "is_primary">) => Promise<void>

function Edit({ at, side, link, onClose, onSave }: { at: QueryKey; side: Side; link?: Linked; onClose: () => void; onSave: Put }) {
  const [chosen, setChosen] = useState<Choice | null>(link ?? null)
  const people = side === "organizations"
  const listed = useListed(at, link, ({ items }: { items: Linked[] }, { id }) => items.find((l) => l.id === id), (l?: Linked) => ({ role: l?.role ?? "", is_primary: l?.is_primary ?? false }))
  const draft = useDraft(...listed, async ({ whole, version }) => void (chosen && (await onSave(chosen.id, version, whole))))
  const form = useDraftForm(draft, onClose)
  return (
    <Dialog title={link ? t("contacts.link_edit", { name: link.name }) : t(people ? "contacts.link_person" : "contacts.link_organization")} onClose={onClose} size="s" guarded={draft.dirty || form.dirty}>
      <Form limits={linkContactOrganization} form={form} draft={draft}>
        <div className="dialog-body">
          {!link && <Picker name="other" label={t(people ? "contacts.person" : "contacts.organization")} source={other(side)} find={people ? findContacts : findOrganizations} value={chosen} onChange={setChosen} autoFocus />}
          <TextField name="role" label={t("contacts.role")} />
          <CheckField name="is_primary" label={t("contacts.main_help")} />
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy} disabled={!chosen}>{t("save")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
