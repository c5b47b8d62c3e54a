// The real widget on a definition that need not be stored. It checks answers and shows what comes after sending; it sends nothing.
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useEffect, useRef, useState, type ReactNode } from "react"
import { CircleAlert } from "lucide-react"
import { api, take, type Schema } from "@/api/client"
import { asFault } from "@/api/fault"
import { Panel } from "@/kit/panel"
import { Failed, Skeleton } from "@/kit/states"
import { language, languages, t } from "@/kit/text"
import type { Definition } from "./data"

type Widget = HTMLElement & { preview: (fragment: Schema<"Fragment">, after: Definition["after_submit"]) => void }

// The widget is a file of its own, as on every other site.
const script = "/_ui/forms/widget.js"

/** A value that has stayed the same for a moment. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const soon = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(soon)
  }, [value, ms])
  return settled
}

/** The preview, and children below it: those wait for the widget, because it comes with a height of its own. */
export function Preview({ definition, children }: { definition: Definition; children: ReactNode }) {
  const [there, setThere] = useState(false)
  const [lang, setLang] = useState(language as "en")
  const json = useSettled(JSON.stringify(definition), 300)
  const shown = useQuery({
    queryKey: ["preview", lang, json],
    queryFn: async ({ signal }) => {
      const fragment = await take(api.POST("/forms/preview", { body: { definition: JSON.parse(json), lang }, signal }))
      return { fragment, after: (JSON.parse(json) as Definition).after_submit }
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
  })
  const refused = shown.isError && asFault(shown.error).status === 400
  if (shown.isError && !there) setThere(true)
  return (
    <>
      <Panel title={t("forms.preview")} beside={
        <label className="choice"><span className="sr">{t("language")}</span>
          <select className="select" value={lang} onChange={(e) => setLang(e.target.value as "en")}>{Object.entries(languages).map(([code, name]) => <option key={code} value={code} lang={code}>{name}</option>)}</select>
        </label>}>
        {refused && <p className="preview-note warn" role="status"><CircleAlert aria-hidden />{t("forms.preview_waits")}</p>}
        {shown.isError && !shown.data && !refused ? <Failed error={shown.error} retry={() => void shown.refetch()} /> : shown.data ? <Shown {...shown.data} onDrawn={() => setThere(true)} /> : !refused && <div className="preview"><Skeleton lines={6} /></div>}
        {there && <p className="preview-foot soft small">{t("forms.preview_text")}</p>}
      </Panel>
      {there && children}
    </>
  )
}

/** onDrawn runs once the widget is there, or cannot be. */
function Shown({ fragment, after, onDrawn }: { fragment: Schema<"Fragment">; after: Definition["after_submit"]; onDrawn: () => void }) {
  const place = useRef<HTMLDivElement>(null)
  const widget = useRef<Widget>(undefined)
  const [failed, setFailed] = useState<unknown>()
  useEffect(() => {
    let gone = false
    const show = async () => {
      await import(/* @vite-ignore */ script)
      await customElements.whenDefined("svc-form")
      if (gone) return
      widget.current ??= document.createElement("svc-form") as Widget
      widget.current.preview(fragment, after)
      if (!widget.current.isConnected) place.current!.append(widget.current)
    }
    void show().catch(setFailed).then(() => gone || onDrawn())
    return () => {
      gone = true
    }
  }, [fragment, after])
  return failed ? <Failed error={failed} /> : <div ref={place} className="preview" />
}
