import { booking } from "@/booking/app"
import { contacts } from "@/contacts/app"
import { forms } from "@/forms/app"
import { settings } from "@/settings/app"
import { webhooks } from "@/webhooks/app"
import type { Place, Terms } from "./app"
import { can, on } from "./start"

/** The places, or sources of the palette, that this person has. */
export const own = <T extends Terms>(all: T[]) => all.filter((p) => on(p.app) && can(p.can, p.sees))

/** The screens in the navigation. */
export const places = own<Place>([...contacts, ...booking, ...forms, ...webhooks, ...settings])
export const groups = ["day", "people", "site", "settings"] as const
