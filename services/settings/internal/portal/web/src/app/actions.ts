// What the palette does at once, besides finding and going somewhere.
import { Building2, CalendarPlus, Languages, ListPlus, LogOut, Monitor, Moon, Sun, UserRoundPlus } from "lucide-react"
import { ask } from "@/kit/ask"
import { isOpen, type Hit, type Terms } from "@/kit/place"
import { language, languages, t } from "@/kit/text"
import { signOut } from "./sign-out"
import { applyTheme, choose, theme, type Theme } from "./theme"

const edit: Terms = { can: "svc_edit_contacts" }
const themes: { value: Theme; icon: typeof Sun }[] = [{ value: "light", icon: Sun }, { value: "dark", icon: Moon }, { value: "", icon: Monitor }]

/** What this person may do; an action with to happens on that screen. */
export function actions(): Hit[] {
  const makes: (Terms & Hit)[] = [
    { ...edit, id: "new-contact", title: t("frame.actions.contact"), icon: UserRoundPlus, to: "/contacts", run: () => ask("contact") },
    { ...edit, id: "new-organization", title: t("frame.actions.organization"), icon: Building2, to: "/organizations", run: () => ask("organization") },
    { ...edit, id: "new-task", title: t("frame.actions.task"), icon: ListPlus, to: "/tasks", run: () => ask("task") },
    { app: "booking", can: "svc_manage_bookings", id: "book", title: t("frame.actions.book"), icon: CalendarPlus, to: "/appointments/new" },
  ]
  return [
    ...makes.filter(isOpen),
    ...themes.filter(({ value }) => value !== theme()).map(({ value, icon }) => ({ id: `theme-${value}`, title: t("frame.actions.theme", { theme: t(`theme.${value || "system"}`) }), icon, run: () => applyTheme(value) })),
    ...Object.entries(languages).filter(([code]) => code !== language).map(([code, name]) => ({ id: `language-${code}`, title: t("frame.actions.language", { language: name }), icon: Languages, run: () => (choose("language", code), location.reload()) })),
    { id: "sign-out", title: t("person.sign_out"), icon: LogOut, run: () => void signOut() },
  ]
}
