import { api, take } from "@/api/client"
import { asFault } from "@/api/fault"
import { t } from "./text"

/**
 * Confirms a request. One at a time that the person's own calendar takes is asked about first; undefined says that it was left
 * as it is.
 */
export async function confirmRequest(id: string) {
  const send = (outside_hours: boolean) => take(api.POST("/appointments/{id}/confirm", { params: { path: { id } }, body: { outside_hours } }))
  try {
    return await send(false)
  } catch (e) {
    if (asFault(e).code !== "svc_slot_taken") throw e
    const { confirm } = await import("./dialog")
    return (await confirm({ title: t("confirm_over_title"), text: t("confirm_over_text"), action: t("confirm_over") })) ? await send(true) : undefined
  }
}
