// How clients reach the booking of a service: its link, and the widget on a page.
import { useQuery } from "@tanstack/react-query"
import { FilePlus2 } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { InPage, Snippet, UsedOn } from "@/kit/embed"
import { Panel } from "@/kit/panel"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import type { Service } from "./data"

export function Embed({ s }: { s: Service }) {
  const [open, setOpen] = useState(false)
  const query = useQuery({ queryKey: ["services", "embed", s.id], queryFn: () => take(api.GET("/booking-widget/embed", { params: { query: { service: s.id } } })) })
  if (!query.data) return null
  const { block, shortcode, used_on, booking_page } = query.data
  const words = { title: t("booking.embed_page"), page: t("booking.embed_which"), new: t("booking.embed_new"), help: t("booking.embed_help"), new_title: t("booking.embed_title"), draft: t("booking.embed_draft"), action: t("booking.embed_do") }
  return (
    <Panel title={t("booking.embed")} beside={can("svc_manage_crm") && <Button small kind="quiet" icon={<FilePlus2 aria-hidden />} onClick={() => setOpen(true)}>{t("booking.embed_page")}</Button>}>
      <div className="panel-body stack">
        {!s.bookable_online && <p className="soft">{t("booking.embed_off")}</p>}
        <UsedOn pages={used_on} tab={t("booking.embed_tab")} />
        {booking_page && <Snippet label={t("booking.embed_link")} code={`${booking_page}?service=${s.id}`} open={t("booking.embed_open")} />}
        <Snippet label={t("booking.embed_block")} code={block} />
        <Snippet label={t("booking.embed_shortcode")} code={shortcode} />
      </div>
      {open && <InPage words={words} name={s.name} onClose={() => setOpen(false)} done={(title, created) => t(created ? "booking.embedded_new" : "booking.embedded", { title })}
        send={(to, key) => take(api.POST("/booking-widget/embed-in-page", { params: { header: { "Idempotency-Key": key } }, body: { service: s.id, ...to } }))} />}
    </Panel>
  )
}
