import { t } from "@/kit/text"
import type { Contact } from "./data"

const statusLook = { lead: "warn", customer: "good", inactive: "off" }
export const Status = ({ status }: { status: Contact["status"] }) => <span className={`mark mark--${statusLook[status]}`}>{t(`contacts.status.${status}`)}</span>

const marketingLook = { none: "off", pending: "warn", subscribed: "good", unsubscribed: "bad" }
export const Marketing = ({ state }: { state: Contact["marketing"] }) => <span className={`mark mark--${marketingLook[state]}`}>{t(`contacts.marketing.${state}`)}</span>
