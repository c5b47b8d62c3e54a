// The logo: one of the site's pictures, chosen as soon as it is uploaded.
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { CircleAlert, ImageUp, Trash2 } from "lucide-react"
import { useRef, useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { asFault, Fault } from "@/api/fault"
import { Button } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { Panel } from "@/kit/panel"
import { saying } from "@/kit/problem"
import { start } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { why } from "@/kit/why"

type Picture = Schema<"Media">

const key = ["media", "list"]
const mostBytes = 1 << 20
/** A picture's address on the host that this page came from. */
const here = (url: string) => new URL(url).pathname

export function Logo({ doc, queryKey }: { doc: Schema<"Portal">; queryKey: readonly string[] }) {
  const queries = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState("")
  const pictures = useQuery({ queryKey: key, queryFn: () => take(api.GET("/media", { params: { query: { per_page: 100 } } })) }).data?.items ?? []

  const choose = async (logo_id: number | null) => {
    const after = await take(api.PATCH("/settings/portal", { params: { header: ifMatch("*") }, body: { logo_id } }))
    queries.setQueryData(queryKey, after)
    toast(t(logo_id === null ? "settings.logo_gone" : "settings.logo_set"))
  }
  /** Does one thing after the other, and says what is refused at the picture. */
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem("")
    try {
      await work()
    } catch (e) {
      const f = asFault(e)
      setProblem(f.details.file ? why(f.details.file) : saying(f))
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey: key })
    }
  }
  const upload = (file: File) => run(async () => {
    if (file.size > mostBytes) throw new Fault("svc_too_large", 413)
    const form = new FormData()
    form.append("file", file)
    const made = await take(api.POST("/media", { body: form as unknown as { file: string } }))
    await choose(made.id)
  })
  const remove = async (p: Picture) => {
    if (!(await confirm({ title: t("settings.picture_delete", { name: p.name || String(p.id) }), text: t("settings.picture_delete_text"), action: t("delete"), bad: true }))) return
    await api.DELETE("/media/{id}", { params: { path: { id: p.id } } }).catch(toastFault)
    void queries.invalidateQueries({ queryKey: key })
  }
  return (
    <Panel title={t("settings.logo")}>
      <div className="panel-body stack">
        <div className="logo">
          <div className="logo-frame">{doc.logo_url ? <img src={here(doc.logo_url)} alt={t("settings.logo_alt", { business: start.business })} /> : <b>{start.business}</b>}</div>
          <div className="stack-s">
            <p className="soft">{t("settings.logo_text")}</p>
            <div className="row">
              <Button busy={busy} icon={<ImageUp aria-hidden />} onClick={() => input.current!.click()}>{t(doc.logo_url ? "settings.logo_replace" : "settings.logo_upload")}</Button>
              {doc.logo_id !== null && <Button kind="quiet" onClick={() => void run(() => choose(null))}>{t("settings.logo_remove")}</Button>}
            </div>
            <input ref={input} type="file" className="sr" tabIndex={-1} accept="image/png,image/jpeg,image/webp" aria-label={t("settings.logo_upload")}
              onChange={(e) => {
                const file = e.target.files?.[0]
                e.target.value = ""
                if (file) void upload(file)
              }} />
            <div role="status">{problem && <p className="problem"><CircleAlert aria-hidden />{problem}</p>}</div>
          </div>
        </div>
        {pictures.some((p) => p.id !== doc.logo_id) && (
          <div className="stack-s">
            <h3 className="label">{t("settings.pictures")}</h3>
            <ul className="pictures">
              {pictures.filter((p) => p.id !== doc.logo_id).map((p) => (
                <li key={p.id} className="picture">
                  <button type="button" className="picture-choose" aria-label={t("settings.picture_choose", { name: p.name || String(p.id) })} onClick={() => void run(() => choose(p.id))}><img src={here(p.url)} alt="" /></button>
                  <button type="button" className="icon-button" aria-label={t("settings.picture_remove", { name: p.name || String(p.id) })} onClick={() => void remove(p)}><Trash2 aria-hidden /></button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  )
}
