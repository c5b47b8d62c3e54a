// The session has ended: the person signs in again on top of the screen, which stays as it is.
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Fault } from "@/api/fault"
import { Button, ButtonAnchor } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, text, TextField, useForm } from "@/kit/form"
import { me, start } from "@/kit/start"
import { t } from "@/kit/text"

export default function SignIn({ onEnd }: { onEnd: (ok: boolean) => void }) {
  const [second, setSecond] = useState(false)
  // Who has no password signs in elsewhere, and comes back.
  const typed = me.signs_in_by.includes("password")
  const queries = useQueryClient()
  const done = (user: number) => {
    // Somebody else has other rights: the portal starts anew.
    if (user !== me.user_id) location.reload()
    else onEnd(true), void queries.invalidateQueries()
  }
  const form = useForm(
    async (values) => {
      const answer = await fetch("/v1/auth/login", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ login: me.login, password: String(values.get("password")), portal: start.base !== "/admin", ...(second && { code: text(values, "code") }) }),
      })
      if (!answer.ok) throw await Fault.of(answer)
      done((await answer.json()).user_id)
    },
    (f) => {
      if (f.code !== "svc_two_factor_required") return false
      setSecond(true)
      return true
    },
  )
  const already = async () => {
    const answer = await fetch("/v1/auth/session")
    if (answer.ok) done((await answer.json()).user_id)
  }
  return (
    <Dialog title={t("frame.ended.title")} onClose={() => onEnd(false)} size="s">
      <Form form={form}>
        <div className="dialog-body">
          <p className="soft">{t("frame.ended.text", { name: me.name })}</p>
          <input type="hidden" name="username" autoComplete="username" value={me.login} readOnly />
          {typed && <TextField name="password" label={t("frame.password")} type="password" autoComplete="current-password" autoFocus />}
          {second && <TextField name="code" label={t("frame.ended.code")} inputMode="numeric" autoComplete="one-time-code" autoFocus />}
          <p className="small"><ButtonAnchor kind="quiet" small href="/account/sign-in?next=/account" target="_blank" rel="noopener">{t("frame.ended.elsewhere")}</ButtonAnchor> <Button kind="quiet" small onClick={() => void already()}>{t("frame.ended.already")}</Button></p>
        </div>
        <footer className="dialog-foot">{typed && <Button kind="main" type="submit" busy={form.busy}>{t("frame.ended.sign_in")}</Button>}</footer>
      </Form>
    </Dialog>
  )
}
