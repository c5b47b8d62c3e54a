import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api, take } from "@/api/client"
import { Button } from "@/kit/button"
import { CopyField } from "@/kit/copy"
import { agoText, dayLongText } from "@/kit/dates"
import { confirm } from "@/kit/dialog"
import { SelectField } from "@/kit/form"
import { Panel } from "@/kit/panel"
import { me } from "@/kit/start"
import { Failed, Skeleton } from "@/kit/states"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import type { Member } from "./data"

type Details = "full" | "busy"

/** The address at which a person's own calendar reads their appointments. */
export function CalendarFeed({ m }: { m: Member }) {
  const queries = useQueryClient()
  const path = { user: m.user_id }
  const queryKey = ["calendar_feeds", "one", m.user_id]
  const query = useQuery({ queryKey, queryFn: () => take(api.GET("/staff/{user}/calendar-feed", { params: { path } })) })
  const [details, setDetails] = useState<Details>("full")
  const [url, setURL] = useState("")
  const [busy, setBusy] = useState(false)
  const send = async (call: () => Promise<void>) => {
    setBusy(true)
    try {
      await call()
    } catch (e) {
      toastFault(e)
    } finally {
      setBusy(false)
      void queries.invalidateQueries({ queryKey })
    }
  }
  const make = (details: Details) => send(async () => setURL((await take(api.POST("/staff/{user}/calendar-feed", { params: { path }, body: { details } }))).url))
  const again = async (details: Details) => (await confirm({ title: t("team.feed_again_title"), text: t("team.feed_again_text"), action: t("team.feed_again"), bad: true })) && void make(details)
  const end = async () =>
    (await confirm({ title: t("team.feed_end_title"), text: t("team.feed_end_text"), action: t("team.feed_end"), bad: true })) &&
    void send(async () => {
      await take(api.DELETE("/staff/{user}/calendar-feed", { params: { path } }))
      setURL("")
      toast(t("team.feed_ended"))
    })
  const feed = query.data
  const shows = feed?.details ?? null
  return (
    <Panel title={m.user_id === me.user_id ? t("team.feed") : t("team.feed_of", { name: m.name })}>
      {query.isPending ? <Skeleton lines={3} /> : feed === undefined ? <Failed error={query.error} retry={() => void query.refetch()} /> : (
        <div className="panel-body stack">
          <p className="soft">{t("team.feed_text")}</p>
          {url !== "" && <CopyField label={t("team.feed_address")} value={url} help={t("team.feed_once")} />}
          {shows === null || feed.created_at === null ? (
            <>
              <SelectField name="details" label={t("team.feed_details")} value={details} onChange={(e) => setDetails(e.target.value as Details)} options={(["full", "busy"] as const).map((value) => ({ value, label: t(`team.feed_${value}`) }))} />
              <div className="row"><Button busy={busy} onClick={() => void make(details)}>{t("team.feed_make")}</Button></div>
            </>
          ) : (
            <>
              <p>{t("team.feed_details")}: {t(`team.feed_${shows}`)}. {t("team.feed_made", { day: dayLongText(feed.created_at) })} {feed.last_read_at === null ? t("team.feed_unread") : t("team.feed_read", { ago: agoText(feed.last_read_at) })}</p>
              <div className="row">
                <Button small busy={busy} onClick={() => void again(shows)}>{t("team.feed_again")}</Button>
                <Button small kind="quiet" disabled={busy} onClick={() => void end()}>{t("team.feed_end")}</Button>
              </div>
            </>
          )}
          {(["google", "outlook", "apple"] as const).map((program) => (
            <details key={program} className="how"><summary>{t(`team.feed_${program}`)}</summary><p className="soft">{t(`team.feed_${program}_text`)}</p></details>
          ))}
        </div>
      )}
    </Panel>
  )
}
