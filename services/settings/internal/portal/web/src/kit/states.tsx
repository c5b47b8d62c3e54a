// What a screen shows instead of its content.
import { CircleAlert, Lock, PowerOff, RotateCw, SearchX, type LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { asFault } from "@/api/fault"
import { Button } from "./button"
import { saying } from "./problem"
import { t, type Key } from "./text"

/** A picture, a sentence, and what to do next. */
export function Blank({ icon: Icon, title, text, children, role }: { icon: LucideIcon; title: string; text?: string; children?: ReactNode; role?: "alert" }) {
  return (
    <div className="blank" role={role}>
      <span className="blank-icon"><Icon aria-hidden /></span>
      <p className="blank-title">{title}</p>
      {text && <p className="soft">{text}</p>}
      {children && <div className="blank-actions">{children}</div>}
    </div>
  )
}

/** Why a screen is refused before it loads. */
export class Closed extends Error {
  constructor(readonly why: "app_off" | "forbidden") {
    super(why)
  }
}

/** Shows why something could not be loaded, with a way to try again if that may help. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const f = asFault(error)
  if (error instanceof Closed ? error.why === "app_off" : f.code === "svc_no_route") return <Blank icon={PowerOff} title={t("state.off")} text={t("state.off_text")} />
  if (error instanceof Closed || f.code === "svc_forbidden") return <Blank icon={Lock} title={t("state.forbidden")} text={error instanceof Closed ? t("state.forbidden_text") : saying(f)} />
  if (f.code === "svc_not_found") return <Blank icon={SearchX} title={t("state.gone")} text={t("state.gone_text")} />
  return (
    <Blank icon={CircleAlert} title={t("state.failed")} text={saying(f)} role="alert">
      {retry && <Button onClick={retry} icon={<RotateCw aria-hidden />}>{t("retry")}</Button>}
    </Blank>
  )
}

export const NotFound = () => <Blank icon={SearchX} title={t("state.nowhere")} text={t("state.nowhere_text")} />

/** Grey lines while something loads; they appear after a moment, so that a fast answer does not flicker. */
export function Skeleton({ lines = 6, label = "loading" }: { lines?: number; label?: Key }) {
  return (
    <div className="skeleton" role="status">
      <span className="sr">{t(label)}</span>
      {Array.from({ length: lines }, (_, i) => <span key={i} className="skeleton-line" aria-hidden />)}
    </div>
  )
}
