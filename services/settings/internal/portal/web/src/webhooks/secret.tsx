import { TriangleAlert } from "lucide-react"
import { api, take, type Schema } from "@/api/client"
import { Button } from "@/kit/button"
import { CopyField } from "@/kit/copy"
import { Dialog } from "@/kit/dialog"
import { CheckField, Form, useForm } from "@/kit/form"
import { t } from "@/kit/text"
import type { Webhook } from "./data"

/** Asks before a new secret is made; onMade gets it. */
export function NewSecret({ w, onClose, onMade }: { w: Webhook; onClose: () => void; onMade: (made: Schema<"WithSecret">) => void }) {
  const form = useForm(async (values, key) => {
    onMade(await take(api.POST("/webhooks/{id}/secret", { params: { path: { id: w.id }, header: { "Idempotency-Key": key } }, body: { keep_old: values.has("keep_old") } })))
  })
  return (
    <Dialog title={t("webhooks.renew_title", { name: w.name })} onClose={onClose} size="s">
      <Form form={form}>
        <div className="dialog-body">
          <p className="soft">{t("webhooks.renew_text")}</p>
          {w.paused !== "secret" && <CheckField name="keep_old" label={t("webhooks.renew_keep")} help={t("webhooks.renew_keep_help")} defaultChecked />}
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("webhooks.renew")}</Button></footer>
      </Form>
    </Dialog>
  )
}

/** Shows a secret once. */
export function SecretShown({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <Dialog title={t("webhooks.secret_of", { name })} onClose={onClose}>
      <div className="dialog-body">
        <p className="notice notice--warn"><TriangleAlert aria-hidden /><span>{t("webhooks.secret_once")}</span></p>
        <CopyField label={t("webhooks.secret")} value={secret} help={t("webhooks.secret_help")} />
      </div>
      <footer className="dialog-foot"><Button kind="main" onClick={onClose}>{t("webhooks.secret_kept")}</Button></footer>
    </Dialog>
  )
}
