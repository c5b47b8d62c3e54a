import { t, type Key } from "@/kit/text"
import type { DeliveryStatus, Webhook } from "./data"

/** Whether a webhook sends, and why not. */
export function State({ w }: { w: Webhook }) {
  if (!w.active) return <span className="mark mark--off">{t("webhooks.off")}</span>
  if (w.paused) return <span className="mark mark--bad">{t("webhooks.paused")}</span>
  return <span className="mark mark--good">{t("webhooks.on")}</span>
}

/** Why a paused webhook sends nothing. */
export const pausedText = (w: Webhook) => t(w.paused === "secret" ? "webhooks.paused_secret" : "webhooks.paused_failures")

const looks: Record<DeliveryStatus, [string, Key]> = {
  queued: ["off", "webhooks.status.queued"], retrying: ["warn", "webhooks.status.retrying"], delivered: ["good", "webhooks.status.delivered"], failed: ["bad", "webhooks.status.failed"],
}

export function Status({ status }: { status: DeliveryStatus }) {
  const [look, label] = looks[status]
  return <span className={`mark mark--${look}`}>{t(label)}</span>
}
