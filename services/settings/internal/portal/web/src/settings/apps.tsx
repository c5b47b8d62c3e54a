import "./settings.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Blocks, CalendarDays, FileText, Users, type LucideIcon } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { confirm } from "@/kit/dialog"
import { Head } from "@/kit/head"
import { start } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t, tOr } from "@/kit/text"
import { toastFault } from "@/kit/toast"

type App = Schema<"AppState">

const queryKey = ["apps"]
const icons: Record<string, LucideIcon> = { contacts: Users, booking: CalendarDays, forms: FileText }

/** The screens and functions that disappear with an app. An add-on has a name only. */
const gone = (a: App) => [1, 2, 3, 4].map((n) => tOr(`settings.gone.${a.id}.${n}`, "")).filter(Boolean)

export function Apps() {
  const query = useQuery({ queryKey, queryFn: () => take(api.GET("/apps")) })
  return (
    <>
      <Head title={t("nav.apps")} />
      <div className="content stack">
        <p className="soft">{t("settings.apps_text")}</p>
        {query.isPending ? <Skeleton lines={6} /> : !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : <ul className="app-list">{query.data.items.map((a) => <One key={a.id} app={a} />)}</ul>}
      </div>
    </>
  )
}

function One({ app }: { app: App }) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const Icon = icons[app.id] ?? Blocks
  const name = tOr("settings.app." + app.id, app.name)
  const lost = gone(app)
  const change = async (enabled: boolean) => {
    const ok = enabled || (await confirm({
      title: t("settings.app_off_title", { name }),
      text: (
        <div className="stack-s">
          {lost.length > 0 && <><p>{t("settings.app_off_gone")}</p><ul className="gone">{lost.map((x) => <li key={x}>{x}</li>)}</ul></>}
          <p>{t("settings.app_off_stays")}</p>
        </div>
      ),
      action: t("settings.app_off_action", { name }),
      bad: true,
    }))
    if (!ok) return
    setBusy(true)
    try {
      const after = await take(api.PATCH("/apps/{app}", { params: { path: { app: app.id } }, body: { enabled } }))
      queries.setQueryData<{ items: App[] | null }>(queryKey, (old) => old && { ...old, items: (old.items ?? []).map((a) => (a.id === after.id ? after : a)) })
      // Navigation and screens are those of the apps that are on.
      location.reload()
    } catch (e) {
      setBusy(false)
      toastFault(e)
    }
  }
  return (
    <li className={app.enabled ? "app" : "app app--off"}>
      <span className="hub-icon"><Icon aria-hidden /></span>
      <div className="stack-s">
        <div className="row">
          <h2>{name}</h2>
          <span className={app.enabled ? "mark mark--good" : "mark mark--off"}>{t(app.enabled ? "settings.app_on" : "settings.app_off")}</span>
        </div>
        <p className="soft">{tOr("settings.app_about." + app.id, t("settings.app_added", { business: start.business }))}</p>
        {app.always_on && <p className="small soft">{t("settings.app_always")}</p>}
      </div>
      {!app.always_on && <input type="checkbox" role="switch" className="toggle" checked={app.enabled} disabled={busy} aria-label={t("settings.app_switch", { name })} onChange={(e) => void change(e.target.checked)} />}
    </li>
  )
}
