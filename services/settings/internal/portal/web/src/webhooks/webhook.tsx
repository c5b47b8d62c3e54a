import "./webhooks.css"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowLeft, History, KeyRound, Pencil, Power, PowerOff, RadioTower, Send, Trash2, TriangleAlert } from "lucide-react"
import { useState } from "react"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { updateWebhook } from "@/api/limits"
import { Button } from "@/kit/button"
import { dateText } from "@/kit/dates"
import { Inline } from "@/kit/detail"
import { confirm, Dialog } from "@/kit/dialog"
import { Form, useForm } from "@/kit/form"
import { Actions } from "@/kit/menu"
import { Panel } from "@/kit/panel"
import { Head } from "@/kit/head"
import { Failed, Skeleton } from "@/kit/states"
import { number, t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useDraft } from "@/kit/use-draft"
import { deliveriesKey, formats, switchWebhook, webhookKey, webhookQuery, type Webhook as Record } from "./data"
import { Deliveries } from "./deliveries"
import { EventChoice, EventList } from "./events"
import { OnlyChoice, OnlyList, useFitting } from "./only"
import { pausedText, State } from "./marks"
import { Replay } from "./replay"
import { NewSecret, SecretShown } from "./secret"

const route = getRouteApi("/webhooks/$id")

export function Webhook() {
  const { id } = route.useParams()
  const query = useQuery(webhookQuery(id))
  if (query.isPending) return <Skeleton lines={10} />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Screen key={id} w={query.data} />
}

function useWebhookDraft(w: Record) {
  const queries = useQueryClient()
  return useDraft(w, webhookKey(w.id), async ({ change, whole, version }) => {
    const body = { ...change, ...(change.only && { only: whole.only }) } as Partial<Pick<Record, "name" | "url" | "events" | "only" | "format">>
    const after = await take(api.PATCH("/webhooks/{id}", { params: { path: { id: w.id }, header: ifMatch(version) }, body }))
    void queries.invalidateQueries({ queryKey: ["webhooks", "list"] })
    return after
  })
}

function Screen({ w }: { w: Record }) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const draft = useWebhookDraft(w)
  const [busy, setBusy] = useState("")
  const [choosing, setChoosing] = useState(false)
  const [asking, setAsking] = useState<"secret" | "replay">()
  const [secret, setSecret] = useState<Schema<"WithSecret">>()
  const run = async (what: string, f: () => Promise<void>) => {
    setBusy(what)
    try {
      await f()
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy("")
      void queries.invalidateQueries({ queryKey: ["webhooks"] })
    }
  }
  const turn = (active: boolean) => run("switch", async () => {
    queries.setQueryData(webhookKey(w.id), await switchWebhook(w.id, active))
    toast(t(active ? "webhooks.on_again" : "webhooks.off_now", { name: w.name }), active ? {} : { undo: () => void turn(true) })
    void queries.invalidateQueries({ queryKey: deliveriesKey(w.id) })
  })
  const test = () => run("test", async () => {
    const d = await take(api.POST("/webhooks/{id}/test", { params: { path: { id: w.id } } }))
    void queries.invalidateQueries({ queryKey: deliveriesKey(w.id) })
    toast(d.status === "delivered" ? t("webhooks.test_ok", { code: String(d.response_code), ms: d.duration_ms ?? 0 }) : t("webhooks.test_failed", { error: d.error ?? "" }), { bad: d.status !== "delivered" })
    await navigate({ search: (old) => ({ ...old, delivery: d.id }), replace: true })
  })
  const remove = async () => {
    if (!(await confirm({ title: t("webhooks.delete_title", { name: w.name }), text: t("webhooks.delete_text"), action: t("webhooks.delete_do", { name: w.name }), bad: true }))) return
    await run("delete", async () => {
      await api.DELETE("/webhooks/{id}", { params: { path: { id: w.id } } })
      toast(t("webhooks.deleted", { name: w.name }))
      await navigate({ to: "/webhooks" })
      queries.removeQueries({ queryKey: webhookKey(w.id) })
    })
  }
  const paused = w.active && w.paused
  return (
    <>
      <Head title={w.name} back={<Link to="/webhooks" className="icon-button" aria-label={t("nav.webhooks")}><ArrowLeft aria-hidden /></Link>} count={<State w={w} />}>
        <Button icon={<Send aria-hidden />} busy={busy === "test"} onClick={() => void test()}>{t("webhooks.test")}</Button>
        {!w.active && <Button kind="main" icon={<Power aria-hidden />} busy={busy === "switch"} onClick={() => void turn(true)}>{t("webhooks.switch_on")}</Button>}
        <Actions actions={[
          { id: "try", label: t("webhooks.receiver.try_here"), icon: RadioTower, run: () => void navigate({ to: "/webhooks/receiver", search: { webhook: w.id } }) },
          { id: "secret", label: t("webhooks.renew"), icon: KeyRound, run: () => setAsking("secret") },
          ...(w.active && !w.paused ? [{ id: "replay", label: t("webhooks.replay"), icon: History, run: () => setAsking("replay") }] : []),
          ...(w.active ? [{ id: "off", label: t("webhooks.switch_off"), icon: PowerOff, run: () => void turn(false) }] : []),
          { id: "delete", label: t("webhooks.delete"), icon: Trash2, bad: true, run: () => void remove() },
        ]} />
      </Head>
      <div className="content hook-record">
        {paused && (
          <div className="notice notice--bad" role="alert">
            <TriangleAlert aria-hidden />
            <div><p>{pausedText(w)}</p></div>
            {w.paused === "secret" ? <Button small onClick={() => setAsking("secret")}>{t("webhooks.renew")}</Button> : <Button small busy={busy === "switch"} onClick={() => void turn(true)}>{t("webhooks.switch_on_again")}</Button>}
          </div>
        )}
        <div className="stack">
          <Panel title={t("webhooks.about")}>
            <dl className="facts panel-body">
              <Inline label={t("webhooks.name")} name="name" draft={draft} limits={updateWebhook} />
              <Inline label={t("webhooks.url")} name="url" type="url" draft={draft} limits={updateWebhook} />
              <Inline label={t("webhooks.format")} name="format" draft={draft} options={formats()} />
              <div className="fact"><dt>{t("webhooks.secret")}</dt><dd className="num">•••• {w.secret_hint}</dd></div>
              <div className="fact"><dt>{t("webhooks.failures")}</dt><dd className="num">{number(w.failures)}</dd></div>
              <div className="fact"><dt>{t("webhooks.since")}</dt><dd>{dateText(w.created_at)}</dd></div>
            </dl>
          </Panel>
          <Panel title={t("webhooks.events")} beside={<Button small icon={<Pencil aria-hidden />} onClick={() => setChoosing(true)}>{t("webhooks.choose")}</Button>}>
            <div className="panel-body"><EventList chosen={w.events}><OnlyList only={w.only} /></EventList></div>
          </Panel>
        </div>
        <Deliveries w={w} />
      </div>
      {choosing && <Choose w={w} draft={draft} onClose={() => (draft.drop(), setChoosing(false))} />}
      {asking === "secret" && <NewSecret w={w} onClose={() => setAsking(undefined)} onMade={(made) => (setAsking(undefined), setSecret(made), void queries.invalidateQueries({ queryKey: ["webhooks"] }))} />}
      {asking === "replay" && <Replay w={w} onClose={() => setAsking(undefined)} />}
      {secret && <SecretShown name={w.name} secret={secret.secret ?? ""} onClose={() => setSecret(undefined)} />}
    </>
  )
}

function Choose({ w, draft, onClose }: { w: Record; draft: ReturnType<typeof useWebhookDraft>; onClose: () => void }) {
  const { events } = draft.mine
  const only = useFitting(draft.mine.only, events)
  const form = useForm(async () => {
    draft.set("only", only)
    await draft.save()
    onClose()
    toast(t("webhooks.saved", { name: w.name }))
  })
  return (
    <Dialog title={t("webhooks.choose_for", { name: w.name })} onClose={onClose} guarded={draft.dirty} size="l">
      <Form form={form} draft={draft}>
        <div className="dialog-body">
          <EventChoice chosen={events} onChange={(chosen) => (draft.set("events", chosen), form.clear("events"))} />
          <OnlyChoice events={events} only={only} onChange={(only) => draft.set("only", only)} />
        </div>
        <footer className="dialog-foot"><Button onClick={onClose}>{t("cancel")}</Button><Button kind="main" type="submit" busy={form.busy}>{t("save")}</Button></footer>
      </Form>
    </Dialog>
  )
}
