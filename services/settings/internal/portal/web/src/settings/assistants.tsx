import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Bot, CircleAlert, Eye, PencilLine, Unplug } from "lucide-react"
import { useMemo, useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { noteVersion, versionOf } from "@/api/version"
import { Button } from "@/kit/button"
import { useChoice } from "@/kit/choice"
import { CopyField } from "@/kit/copy"
import { agoText, dateText } from "@/kit/dates"
import { confirm } from "@/kit/dialog"
import { Choice, SearchField } from "@/kit/list"
import { Panel } from "@/kit/panel"
import { plain } from "@/kit/plain"
import { saying } from "@/kit/problem"
import { me, start } from "@/kit/start"
import { Blank } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { actionName, roleName } from "./data"
import { Loaded } from "./frame"

type Status = Schema<"AIStatus">
type Ability = Schema<"AbilityStatus">

const route = getRouteApi("/settings/assistants")
const queryKey = ["settings", "assistants"]

export function Assistants() {
  return (
    <Loaded at="assistants" query={useQuery({ queryKey, queryFn: () => take(api.GET("/integrations/ai")) })}>
      {(status) => (
        <>
          <Connecting status={status} />
          <Connected />
          <Abilities status={status} />
        </>
      )}
    </Loaded>
  )
}

/** How a program such as Claude or ChatGPT is connected. */
function Connecting({ status }: { status: Status }) {
  return (
    <Panel title={t("settings.connect")} beside={<span className={status.adapter ? "mark mark--good" : "mark mark--off"}>{t(status.adapter ? "settings.adapter_on" : "settings.adapter_off")}</span>}>
      <div className="panel-body stack">
        <p className="soft">{t("settings.connect_text")}</p>
        <CopyField label={t("settings.mcp_url")} value={status.connect.mcp_url} help={t("settings.mcp_help")} />
        <details className="more">
          <summary>{t("settings.connect_key")}</summary>
          <div className="stack">
            <p className="soft">{t("settings.connect_key_text")}</p>
            <CopyField label={t("settings.connect_config")} value={JSON.stringify({ mcpServers: { [start.business || "frontdesk"]: { type: "http", url: status.connect.mcp_url, headers: { Authorization: "Basic …" } } } })} help={t("settings.connect_config_help", { login: me.login })} />
            <p><a href="/account/keys">{t("settings.connect_make_key")}</a></p>
          </div>
        </details>
        {status.connect_roles.includes(me.role) ? <p className="small soft">{t("settings.connect_roles", { roles: status.connect_roles.map(roleName).join(", ") })}</p>
          : <p className="notice notice--warn"><CircleAlert aria-hidden /><span>{t("settings.connect_not_yours")}</span></p>}
      </div>
    </Panel>
  )
}

type Level = Ability["approval"]
const levels: Level[] = ["never", "writes", "destructive"]

/** Which calls wait until a person approves them; save reports whether that is kept. */
function Waits({ value, of, save }: { value: Level; of: string; save: (level: Level) => Promise<boolean> }) {
  const [on, setOn] = useState<Level>()
  const choose = async (level: Level) => {
    if (level !== value && (await save(level))) toast(t("settings.saved", { name: t("settings.approval.of", { name: of }) }))
    setOn(undefined)
  }
  const choice = useChoice((level) => setOn(level as Level), (level) => void choose(level as Level))
  return (
    <select className="select" value={on ?? value} aria-label={t("settings.approval.of", { name: of })} {...choice}>
      {levels.map((level) => <option key={level} value={level}>{t(`settings.approval.${level}`)}</option>)}
    </select>
  )
}

/** The assistants that this person has connected. */
function Connected() {
  const key = ["connections"]
  const queries = useQueryClient()
  const query = useQuery({ queryKey: key, queryFn: () => take(api.GET("/me/connections")) })
  const all = query.data?.items ?? []
  const end = async (id: string, name: string) => {
    if (!(await confirm({ title: t("settings.disconnect_title", { name }), text: t("settings.disconnect_text"), action: t("settings.disconnect"), bad: true }))) return
    try {
      await api.DELETE("/me/connections/{id}", { params: { path: { id } } })
      toast(t("settings.disconnected", { name }))
      await queries.invalidateQueries({ queryKey: key })
    } catch (e) {
      toastFault(e)
    }
  }
  const wait = async (id: string, approval: Level) => {
    try {
      await take(api.PATCH("/me/connections/{id}", { params: { path: { id } }, body: { approval } }))
      await queries.invalidateQueries({ queryKey: key })
      return true
    } catch (e) {
      toastFault(e)
      return false
    }
  }
  return (
    <Panel title={t("settings.connected")}>
      <div className="panel-body">
        {query.isError && !query.data ? <p className="state state--bad">{saying(asFault(query.error))}</p> : all.length === 0 ? <p className="soft">{t("settings.connected_none")}</p> : (
          <ul>
            {all.map((c) => (
              <li key={c.id} className="switch">
                <span className="switch-text">
                  <b>{c.name}</b>
                  <small className="soft">{c.host} · {c.read_only && t("settings.connected_reads") + " · "}{t("settings.connected_since", { when: dateText(c.created_at) })} · {c.last_used_at ? t("settings.connected_used", { when: agoText(c.last_used_at) }) : t("settings.connected_unused")}</small>
                </span>
                <Waits value={c.approval} of={c.name} save={(level) => wait(c.id, level)} />
                <Button small icon={<Unplug aria-hidden />} aria-label={t("settings.disconnect_one", { name: c.name })} onClick={() => void end(c.id, c.name)}>{t("settings.disconnect")}</Button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  )
}

const labelOf = (a: Ability) => actionName(a.name.replace(/^svc\//, ""), a.label)

const shows = ["exposed", "hidden", "reads", "changes"] as const
const fits: Record<(typeof shows)[number], (a: Ability) => boolean> = { exposed: (a) => a.mcp, hidden: (a) => !a.mcp, reads: (a) => a.readonly, changes: (a) => !a.readonly }

/** What people decide of each ability: whether assistants may use it, and which of its calls wait. */
const decided = (status: Status) =>
  noteVersion({ abilities: Object.fromEntries(status.abilities.map((a) => [a.name, a.mcp])), approval: Object.fromEntries(status.abilities.map((a) => [a.name, a.approval])) }, versionOf(status))

/** The abilities that assistants may use. A person decides on each. */
function Abilities({ status }: { status: Status }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const load = async () => {
    await queries.refetchQueries({ queryKey, exact: true }, { throwOnError: true })
    return decided(queries.getQueryData<Status>(queryKey)!)
  }
  const draft = useDraft(useMemo(() => decided(status), [status]), { load, keep: () => {} }, async ({ change, version }) => {
    const after = await take(api.PATCH("/integrations/ai", { params: { header: ifMatch(version) }, body: change }))
    queries.setQueryData(queryKey, after)
    return decided(after)
  })
  const words = plain(search.search ?? "")
  const show = shows.find((x) => x === search.show)
  const shown = status.abilities.filter((a) => (plain(labelOf(a)).includes(words) || a.name.includes(words)) && (!show || fits[show](a)))
  const [all, setAll] = useState(false)
  const first = all || words !== "" || show ? shown : shown.slice(0, 20)
  const at = (next: { search?: string; show?: string }) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  return (
    <Panel title={t("settings.abilities")} beside={<span className="soft num small">{t("settings.abilities_count", { n: status.abilities.filter((a) => a.mcp).length, total: status.abilities.length })}</span>}>
      <div className="panel-body stack-s">
        <p className="soft">{t("settings.abilities_text")} <Link to="/approvals">{t("nav.approvals")}</Link></p>
        <div className="row">
          <SearchField value={search.search} label={t("settings.abilities_search")} onChange={(v) => at({ search: v })} />
          <Choice label={t("settings.abilities_show")} value={show} options={shows.map((value) => ({ value, label: t(`settings.abilities.${value}`) }))} onChange={(v) => at({ show: v })} />
        </div>
        {shown.length === 0 ? <Blank icon={Bot} title={t("list.nothing")} text={t("list.nothing_text")} /> : (
          <ul className="abilities" aria-label={t("settings.abilities")}>
            {first.map((a) => (
              <li key={a.name} className="switch">
                <span className="switch-text">
                  <span className="row"><b>{labelOf(a)}</b>{a.readonly ? <span className="tag"><Eye aria-hidden />{t("settings.reads")}</span> : <span className="tag"><PencilLine aria-hidden />{t("settings.writes")}</span>}{a.mcp !== a.default && <span className="tag">{t("settings.decided")}</span>}</span>
                  <code className="soft small">{a.name}</code>
                </span>
                <span className="row">
                  {!a.readonly && <Waits value={draft.mine.approval[a.name] ?? a.approval} of={labelOf(a)} save={(level) => draft.change("approval." + a.name, level)} />}
                  <input type="checkbox" role="switch" className="toggle" checked={draft.mine.abilities[a.name] ?? a.mcp} aria-label={t("settings.expose", { name: labelOf(a) })} onChange={(e) => void draft.change("abilities." + a.name, e.target.checked)} />
                </span>
              </li>
            ))}
          </ul>
        )}
        {first.length < shown.length && <div className="row"><Button onClick={() => setAll(true)}>{t("settings.abilities_all", { n: shown.length })}</Button></div>}
      </div>
    </Panel>
  )
}
