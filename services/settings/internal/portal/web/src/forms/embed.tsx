// How a form gets onto a page: of this site, or of any other.
import { useQuery } from "@tanstack/react-query"
import { FilePlus2 } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { InPage, Snippet, UsedOn } from "@/kit/embed"
import { Panel } from "@/kit/panel"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import type { FormRecord } from "./data"

export function Embed({ f }: { f: FormRecord }) {
  const [open, setOpen] = useState(false)
  const query = useQuery({ queryKey: ["forms", "embed", f.id], queryFn: () => take(api.GET("/forms/{id}/embed", { params: { path: { id: f.id } } })), staleTime: Infinity })
  if (!query.data) return null
  const may = can("svc_manage_forms") && can("svc_manage_crm")
  const words = { title: t("forms.embed_page"), page: t("forms.page"), new: t("forms.page_new"), help: t("forms.page_help"), new_title: t("forms.page_title"), draft: t("forms.page_draft"), action: t("forms.embed_do") }
  return (
    <Panel title={t("forms.embed")} beside={may && <Button small kind="quiet" icon={<FilePlus2 aria-hidden />} onClick={() => setOpen(true)}>{t("forms.embed_page")}</Button>}>
      <div className="panel-body stack">
        {f.status === "draft" && <p className="soft">{t("forms.embed_draft")}</p>}
        <UsedOn pages={f.used_on} tab={t("forms.new_tab")} />
        <Snippet label={t("forms.embed_block")} code={query.data.block} />
        <Snippet label={t("forms.embed_shortcode")} code={query.data.shortcode} />
        {f.status === "publish" && <Snippet label={t("forms.embed_link")} code={/href="([^"]+)"/.exec(query.data.block)?.[1] ?? ""} open={t("forms.open_page")} />}
      </div>
      {open && <InPage words={words} name={f.name} onClose={() => setOpen(false)} done={(title, created) => t(created ? "forms.embedded_new" : "forms.embedded", { title })}
        send={(body, key) => take(api.POST("/forms/{id}/embed-in-page", { params: { path: { id: f.id }, header: { "Idempotency-Key": key } }, body }))} />}
    </Panel>
  )
}
