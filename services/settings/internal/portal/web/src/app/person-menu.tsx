import { Link } from "@tanstack/react-router"
import { Bell, Keyboard, LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react"
import { useChoice } from "@/kit/choice"
import { language, languages, t } from "@/kit/text"
import { signOut } from "./sign-out"
import { applyTheme, choose, type Theme, useTheme } from "./theme"

const themes: { value: Theme; icon: typeof Sun }[] = [{ value: "", icon: Monitor }, { value: "light", icon: Sun }, { value: "dark", icon: Moon }]

/** What concerns only this person: account, theme, language, keys, signing out. */
export default function PersonMenu({ onKeys }: { onKeys: () => void }) {
  const chosen = useTheme()
  const spoken = useChoice(() => {}, (code) => code !== language && (choose("language", code), location.reload()))
  return (
    <>
      <a className="menu-item" href="/account"><UserRound aria-hidden />{t("person.account")}</a>
      <Link className="menu-item" to="/settings/notifications" onClick={(e) => e.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover()}><Bell aria-hidden />{t("nav.notifications")}</Link>
      <button className="menu-item" popoverTarget="person-menu" popoverTargetAction="hide" onClick={onKeys}><Keyboard aria-hidden />{t("frame.keys.title")}</button>
      <fieldset className="segments">
        <legend className="sr">{t("theme.label")}</legend>
        {themes.map(({ value, icon: Icon }) => (
          <label key={value} className="segment" title={t(`theme.${value || "system"}`)}>
            <input type="radio" name="theme" className="sr" checked={chosen === value} onChange={() => applyTheme(value)} />
            <Icon aria-hidden />
            <span className="sr">{t(`theme.${value || "system"}`)}</span>
          </label>
        ))}
      </fieldset>
      <label className="menu-field">
        <span className="sr">{t("language")}</span>
        <select className="select" defaultValue={language} {...spoken}>
          {Object.entries(languages).map(([code, name]) => <option key={code} value={code} lang={code}>{name}</option>)}
        </select>
      </label>
      <button className="menu-item" onClick={() => void signOut()}><LogOut aria-hidden />{t("person.sign_out")}</button>
    </>
  )
}
