import { useQueryClient } from "@tanstack/react-query"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { deliveriesKey, type Webhook } from "./data"
import { momentOf, wallOf } from "@/kit/wall"

/** Sends the deliveries of a period again, on the business's clock. */
export function Replay({ w, onClose }: { w: Webhook; onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm(async (values, key) => {
    const at = (name: string) => (text(values, name) ? momentOf(text(values, name)) : "")
    const { queued } = await take(api.POST("/webhooks/{id}/replay", {
      params: { path: { id: w.id }, header: { "Idempotency-Key": key } },
      body: { from: at("from"), to: at("to"), ...(text(values, "status") === "failed" && { status: "failed" as const }) },
    }))
    onClose()
    toast(t("webhooks.replayed", { n: queued }))
    void queries.invalidateQueries({ queryKey: deliveriesKey(w.id) })
  })
  return (
    <Dialog title={t("webhooks.replay")} onClose={onClose} guarded={form.dirty}>
      <Form form={form}>
        <div className="dialog-body">
          <p className="soft">{t("webhooks.replay_text")}</p>
          <div className="fields">
            <TextField name="from" label={t("webhooks.from")} type="datetime-local" defaultValue={wallOf(Date.now() - 86_400_000).slice(0, 16)} required />
            <TextField name="to" label={t("webhooks.to")} type="datetime-local" defaultValue={wallOf(Date.now() + 60_000).slice(0, 16)} required />
            <SelectField name="status" label={t("webhooks.replay_which")} wide options={[{ value: "", label: t("webhooks.replay_all") }, { value: "failed", label: t("webhooks.replay_failed") }]} />
          </div>
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("webhooks.replay_do")}</Button></footer>
      </Form>
    </Dialog>
  )
}
