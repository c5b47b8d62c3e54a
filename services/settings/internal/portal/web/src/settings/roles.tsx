import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Lock, Plus } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { noteVersion, versionOf } from "@/api/version"
import { Button } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { Form, SaveBar, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { me, type Capability } from "@/kit/start"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { roleName } from "./data"
import { Loaded } from "./frame"

type Role = Schema<"Role">

const queryKey = ["settings", "roles"]
const load = () => take(api.GET("/settings/roles"))
const view = "svc_view_contacts"

/** All permissions, under the headings that people think in. */
const groups = [
  { id: "contacts", of: ["svc_view_contacts", "svc_edit_contacts", "svc_delete_contacts", "svc_import_contacts", "svc_export_contacts"] },
  { id: "work", of: ["svc_manage_bookings", "svc_manage_forms"] },
  { id: "business", of: ["svc_manage_crm", "svc_manage_integrations"] },
] as const satisfies { id: string; of: Capability[] }[]

export function Roles() {
  return <Loaded at="roles" query={useQuery({ queryKey, queryFn: load })}>{(doc) => <All doc={doc} />}</Loaded>
}

function All({ doc }: { doc: Schema<"Roles"> }) {
  const [added, setAdded] = useState<string[]>([])
  const without = doc.available.roles.filter((name) => !doc.roles.some((r) => r.role === name))
  const shown = [...doc.roles, ...added.filter((name) => without.includes(name)).map((name): Role => ({ role: name, label: name, capabilities: [], visibility: "own", fixed: false }))]
  const rest = without.filter((name) => !added.includes(name))
  return (
    <>
      <p className="soft">{t("settings.roles_text")}</p>
      {shown.map((r) => <One key={r.role} role={r} doc={doc} />)}
      {rest.length > 0 && (
        <Panel title={t("settings.roles_without")}>
          <div className="panel-body stack-s">
            <p className="soft">{t("settings.roles_without_text")}</p>
            <div className="row">{rest.map((name) => <Button key={name} small icon={<Plus aria-hidden />} onClick={() => setAdded([...added, name])}>{roleName(name)}</Button>)}</div>
          </div>
        </Panel>
      )}
    </>
  )
}

const every = groups.flatMap((g): string[] => [...g.of])

/** The permissions and visibility of one role, whose version is that of all roles. Every permission includes seeing contacts. */
function One({ role, doc }: { role: Role; doc: Schema<"Roles"> }) {
  const queries = useQueryClient()
  const may = doc.available.capabilities
  const name = roleName(role.role)
  const of = (all: Schema<"Roles">) => noteVersion(all.roles.find((r) => r.role === role.role) ?? role, versionOf(all))
  const source = {
    load: async () => {
      const now = await load()
      queries.setQueryData(queryKey, now)
      return of(now)
    },
    keep: () => {}, // all roles are kept
  }
  const draft = useDraft(of(doc), source, async ({ whole, version }) => {
    const after = await take(api.PATCH("/settings/roles/{role}", { params: { path: { role: role.role }, header: ifMatch(version) }, body: { capabilities: whole.capabilities, visibility: whole.visibility } }))
    queries.setQueryData(queryKey, after)
    return of(after)
  })
  const held = new Set(draft.mine.capabilities)
  const form = useForm(async () => {
    if (held.size === 0 && role.capabilities.length > 0 && !(await confirm({ title: t("settings.role_out", { name }), text: t("settings.role_out_text"), action: t("settings.role_out_action"), bad: true }))) return draft.drop(["capabilities"])
    await draft.save()
    toast(t("settings.saved", { name }))
  })
  const set = (capability: Capability, on: boolean) => {
    if (on) held.add(capability).add(view)
    else if (capability === view) held.clear()
    else held.delete(capability)
    draft.set("capabilities", [...every.filter((c) => held.has(c)), ...[...held].filter((c) => !every.includes(c))])
  }
  const own = role.role === me.role
  return (
    <Panel title={name} beside={role.fixed ? <span className="mark mark--off">{t("settings.role_fixed")}</span> : own ? <span className="mark mark--accent">{t("settings.role_own")}</span> : undefined}>
      <Form form={form} draft={draft}>
        <fieldset className="panel-body stack" disabled={role.fixed}>
          <legend className="sr">{name}</legend>
          {role.fixed && <p className="state soft"><Lock aria-hidden />{t("settings.role_fixed_text")}</p>}
          <div className="capabilities">
            {groups.map((g) => (
              <fieldset key={g.id}>
                <legend className="label">{t(`team.cap_group.${g.id}`)}</legend>
                {g.of.map((c) => {
                  const given = held.has(c)
                  return (
                    <label key={c} className="check" title={!given && !may.includes(c) ? t("settings.cap_not_yours") : undefined}>
                      <input type="checkbox" name="capabilities" value={c} checked={given} disabled={role.fixed || (!given && !may.includes(c))} onChange={(e) => set(c, e.target.checked)} />
                      <span>{t(`team.cap.${c as "svc_view_contacts"}`)}</span>
                    </label>
                  )
                })}
              </fieldset>
            ))}
          </div>
          <fieldset className="seen">
            <legend className="label">{t("team.visibility")}</legend>
            {(["all", "own"] as const).map((v) => <label key={v} className="check"><input type="radio" name="visibility" value={v} checked={draft.mine.visibility === v} onChange={() => draft.set("visibility", v)} /><span>{t(`team.visibility.${v}`)}</span></label>)}
          </fieldset>
        </fieldset>
        {!role.fixed && draft.dirty && <SaveBar draft={draft} busy={form.busy} save={t("settings.save_role", { name })} className="panel-foot" />}
      </Form>
    </Panel>
  )
}
