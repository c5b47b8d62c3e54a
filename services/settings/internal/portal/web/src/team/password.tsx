import { api, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { Button, ButtonAnchor } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, TextField, useForm } from "@/kit/form"
import { me } from "@/kit/start"
import { t } from "@/kit/text"

/** Whether something is refused because this session has not seen the password for a while. */
export const needsPassword = (e: unknown) => asFault(e).code === "svc_password_required"

/** Asks the person for the password of their own account; onDone may try again what was refused. */
export function PasswordDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  // Who has no password signs in once more where they do, in another tab, and comes back.
  if (!me.signs_in_by.includes("password")) return (
    <Dialog title={t("team.password_title")} onClose={onClose} size="s">
      <div className="dialog-body"><p className="soft">{t("team.organization_text")}</p></div>
      <footer className="dialog-foot">
        <ButtonAnchor href="/account/organization?again=1&next=/account" target="_blank" rel="noopener">{t("team.organization_do")}</ButtonAnchor>
        <Button kind="main" onClick={() => (onClose(), onDone())}>{t("team.organization_done")}</Button>
      </footer>
    </Dialog>
  )
  return <Typed onClose={onClose} onDone={onDone} />
}

function Typed({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const form = useForm(async (values) => {
    await take(api.POST("/auth/confirm", { body: { password: String(values.get("password")) } }))
    onClose()
    onDone()
  })
  return (
    <Dialog title={t("team.password_title")} onClose={onClose} size="s">
      <Form form={form}>
        <div className="dialog-body">
          <p className="soft">{t("team.password_text")}</p>
          <input type="hidden" name="username" autoComplete="username" value={me.login} readOnly />
          <TextField name="password" label={t("team.password")} type="password" autoComplete="current-password" autoFocus />
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("team.password_do")}</Button></footer>
      </Form>
    </Dialog>
  )
}
