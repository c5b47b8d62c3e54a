// Texts that several screens of the settings share.
import { tOr } from "@/kit/text"

/** The name of a role in the person's language. */
export const roleName = (role: string) => tOr("role." + role, tOr("settings.role." + role, role))

/** The name of an action or an ability (without svc/) in the person's language. */
export const actionName = (action: string, fallback: string) => tOr("settings.action." + action, fallback)
