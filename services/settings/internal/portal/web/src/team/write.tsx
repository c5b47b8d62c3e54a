// Writes a contact a mail.
import { useQueryClient } from "@tanstack/react-query"
import { api, take } from "@/api/client"
import { writeMail } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, text, TextArea, TextField, useForm } from "@/kit/form"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"

export default function Write({ to, appointment, subject, onClose }: { to: { id: string; name: string; email: string }; appointment?: string; subject?: string; onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm(async (values, key) => {
    await take(api.POST("/contacts/{id}/mails", { params: { path: { id: to.id }, header: { "Idempotency-Key": key } }, body: { subject: text(values, "subject"), body: text(values, "body"), ...(appointment && { appointment }) } }))
    void queries.invalidateQueries({ queryKey: ["contacts", "timeline", to.id] })
    toast(t("team.mail_sent", { name: to.name }))
    onClose()
  })
  return (
    <Dialog title={t("team.mail_title", { name: to.name })} onClose={onClose} size="l" guarded={form.dirty}>
      <Form form={form} limits={writeMail}>
        <div className="dialog-body stack">
          <TextField name="subject" label={t("team.mail_subject")} defaultValue={subject ?? ""} wide required />
          <TextArea name="body" label={t("team.mail_body")} help={t("team.mail_help", { to: to.email })} rows={10} required />
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("team.mail_send")}</Button></footer>
      </Form>
    </Dialog>
  )
}
