// Ctrl-K: words find people, organizations, appointments, forms, screens and actions. Each folder adds its sources in palette.ts.
import { useQueries } from "@tanstack/react-query"
import { Search } from "lucide-react"
import { useDeferredValue, useEffect, useRef, useState } from "react"
import { bookingSources } from "@/booking/palette"
import { contactSources } from "@/contacts/palette"
import { formSources } from "@/forms/palette"
import { teamSources } from "@/team/palette"
import { webhookSources } from "@/webhooks/palette"
import { useCombobox } from "@/kit/combobox"
import { isOpen, usePlaces, type Hit } from "@/kit/place"
import { plain } from "@/kit/plain"
import { t } from "@/kit/text"
import { actions } from "./actions"

const sources = [...contactSources, ...bookingSources, ...formSources, ...webhookSources, ...teamSources].filter(isOpen)

export default function Palette({ onClose, onGo }: { onClose: () => void; onGo: (to: string, params?: Record<string, string>) => void }) {
  const [words, setWords] = useState("")
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = useDeferredValue(words.trim())
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    dialog.current!.showModal()
    return () => {
      if (before?.isConnected) before.focus()
    }
  }, [])
  const found = useQueries({
    queries: sources.map((s) => ({
      queryKey: ["palette", s.label, asked],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        await new Promise((resolve) => setTimeout(resolve, 120))
        if (signal.aborted) return []
        return s.find(asked, signal)
      },
      enabled: asked.length >= 2,
      staleTime: 30_000,
    })),
  })
  const fits = (text: string) => plain(text).includes(plain(words.trim()))
  const screens: Hit[] = usePlaces()
    .filter((p) => fits(t(p.label)))
    .slice(0, words ? 5 : 20)
    .map((p) => ({ id: p.to, title: t(p.label), icon: p.icon, to: p.to }))
  const acts = { label: t("frame.actions.title"), hits: actions().filter((a) => fits(a.title)).slice(0, words ? 5 : 20) }
  const records = sources.map((s, i) => ({ label: t(s.label), hits: (asked.length >= 2 && found[i]!.data) || [] }))
  // A screen or an action whose name begins so stays on top while records come in.
  const listed = [{ label: t("frame.palette.screens"), hits: screens }, acts]
  const first = listed.filter((g) => words.trim() !== "" && g.hits.some((h) => plain(h.title).startsWith(plain(words.trim()))))
  const groups = [...first, ...records, ...listed.filter((g) => !first.includes(g))].filter((g) => g.hits.length > 0)
  const hits = groups.flatMap((g) => g.hits)
  const busy = asked.length >= 2 && found.some((f) => f.isFetching)
  const go = (h: Hit | undefined) => {
    if (!h) return
    h.run?.()
    if (h.to) onGo(h.to, h.params)
    else onClose()
  }
  const box = useCombobox(hits.length, (at) => go(hits[at]), { open: true })
  let n = -1
  return (
    <dialog ref={dialog} className="palette" aria-label={t("palette.open")} onClose={onClose} onMouseDown={(e) => e.target === dialog.current && onClose()}>
      <div className="palette-card">
        <div className="palette-input">
          <Search aria-hidden />
          <input {...box.input} aria-label={t("palette.open")} placeholder={t("frame.palette.hint")} value={words} maxLength={100} autoFocus onChange={(e) => (setWords(e.target.value), box.begin())} />
          <kbd>Esc</kbd>
        </div>
        <div className="palette-list" {...box.list} aria-label={t("frame.palette.found")}>
          {groups.map((g) => (
            <div key={g.label} role="group" aria-label={g.label}>
              <div className="palette-title" aria-hidden>{g.label}</div>
              {g.hits.map((h) => (
                <div key={h.id} {...box.option(++n)} className="palette-hit">
                  <h.icon aria-hidden />
                  <span className="palette-name">{h.title}</span>
                  {h.detail && <span className="palette-detail">{h.detail}</span>}
                </div>
              ))}
            </div>
          ))}
        </div>
        <p className={hits.length === 0 ? "palette-none" : "sr"} role="status">{busy ? t("loading") : hits.length === 0 ? t("list.nothing") : t("palette.count", { n: hits.length })}</p>
      </div>
    </dialog>
  )
}
