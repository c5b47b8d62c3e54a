import { useQuery } from "@tanstack/react-query"
import { CircleAlert, Download, Trash2 } from "lucide-react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { erasePersonalData, exportPersonalData } from "@/api/limits"
import { Button, ButtonAnchor } from "@/kit/button"
import { confirm } from "@/kit/dialog"
import { dryRun, exactly, otherEffects, Shown, type Rehearsal } from "@/kit/effects"
import { CheckField, Form, text, TextField, useForm } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { today } from "@/kit/dates"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { DocumentForm, Loaded } from "./frame"

const queryKey = ["settings", "privacy"]
const load = () => take(api.GET("/settings/privacy"))

export function Privacy() {
  return (
    <Loaded at="privacy" query={useQuery({ queryKey, queryFn: load })}>
      {(doc) => (
        <>
          <Kept retention={doc.retention} />
          <Take />
          <Erase />
          {me.role === "site_admin" && <Everything />}
          <DocumentForm name={t("nav.privacy")} queryKey={queryKey} doc={doc} send={({ change, version }) => take(api.PATCH("/settings/privacy", { params: { header: ifMatch(version) }, body: change }))}>
            {() => (
              <Panel title={t("settings.uninstall")}>
                <div className="panel-body"><CheckField name="delete_on_uninstall" label={t("settings.delete_on_uninstall")} help={t("settings.delete_on_uninstall_help")} /></div>
              </Panel>
            )}
          </DocumentForm>
        </>
      )}
    </Loaded>
  )
}

/** For how long what is kept. */
function Kept({ retention }: { retention: Schema<"Retention"> }) {
  return (
    <Panel title={t("settings.retention")}>
      <dl className="panel-body kept">
        {(["audit_log", "webhook_log", "deleted_contacts", "spam"] as const).map((name) => (
          <div key={name}><dt>{t(`settings.retention.${name}`)}</dt><dd><b className="num">{t("settings.days", { n: retention[name] })}</b></dd></div>
        ))}
      </dl>
    </Panel>
  )
}

/** All lists of all services as one file. */
const Everything = () => (
  <Panel title={t("settings.takeout")}>
    <div className="panel-body stack-s">
      <p className="soft">{t("settings.takeout_text")}</p>
      <div className="row"><ButtonAnchor icon={<Download aria-hidden />} href="/v1/exports/everything.zip" download>{t("settings.takeout_do")}</ButtonAnchor></div>
    </div>
  </Panel>
)

/** Everything about a person as a file. */
function Take() {
  const form = useForm(async (values) => {
    const email = text(values, "email")
    const data = await take(api.POST("/privacy/personal-data", { body: { email } }))
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: "application/json" }))
    link.download = `${email.replace(/[^a-z0-9.@-]+/gi, "-")} ${today()}.json`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    toast(t("settings.export_done", { email }))
  })
  return (
    <Panel title={t("settings.export")}>
      <Form limits={exportPersonalData} form={form}>
        <div className="panel-body stack-s">
          <p className="soft">{t("settings.export_text")}</p>
          <div className="with-button">
            <TextField name="email" label={t("settings.person_email")} type="email" required />
            <Button type="submit" busy={form.busy} icon={<Download aria-hidden />}>{t("settings.export_action")}</Button>
          </div>
        </div>
      </Form>
    </Panel>
  )
}

/** Erases a person for good, after the address was typed twice. */
function Erase() {
  const form = useForm(async (values, key) => {
    const email = text(values, "email")
    const send = (headers: Record<string, string>) => take(api.POST("/privacy/erase", { params: { header: { "Idempotency-Key": key } }, body: { email }, headers }))
    const erase = async (note?: string): Promise<{ erased: number } | null> => {
      const seen = (await send(dryRun)) as unknown as Rehearsal
      const words = <>{note && <p>{note}</p>}<p>{t("settings.erase_confirm")}</p><Shown of={seen} /></>
      if (!(await confirm({ title: t("settings.erase_title", { email }), text: words, action: t("settings.erase_action"), bad: true, word: email }))) return null
      return send(exactly(seen)).catch((e: unknown) => {
        if (otherEffects(e)) return erase(t("problem.effects_changed"))
        throw e
      })
    }
    const done = await erase()
    if (!done) return
    const { erased } = done
    form.ref.current?.reset()
    toast(erased > 0 ? t("settings.erased", { email }) : t("settings.erased_none", { email }))
  })
  return (
    <Panel title={t("settings.erase")}>
      <Form limits={erasePersonalData} form={form}>
        <div className="panel-body stack-s">
          <p className="soft">{t("settings.erase_text")}</p>
          <div className="with-button">
            <TextField name="email" label={t("settings.person_email")} type="email" required />
            <Button type="submit" kind="bad" busy={form.busy} icon={<Trash2 aria-hidden />}>{t("settings.erase_action")}</Button>
          </div>
          <p className="state state--bad"><CircleAlert aria-hidden />{t("settings.erase_warning")}</p>
        </div>
      </Form>
    </Panel>
  )
}
