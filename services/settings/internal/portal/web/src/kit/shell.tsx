import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router"
import { ChevronsUpDown, Keyboard, LogOut, Menu, Monitor, Moon, Search, Sun, UserRound } from "lucide-react"
import { lazy, Suspense, useEffect, useRef, useState } from "react"
import { Fault } from "@/api/fault"
import { useChoice } from "./choice"
import { useKeys } from "./keys"
import { late } from "./late"
import { useMedia } from "./media"
import { groups, places } from "./places"
import { answerSignIn, useAskedToSignIn } from "./session"
import { choose, me, start } from "./start"
import { language, languages, t, tOr } from "./text"
import { applyTheme, theme, type Theme } from "./theme"
import { Toasts, toastFault } from "./toast"

const Palette = late(() => import("./palette"))
const SignIn = lazy(() => import("./sign-in"))
const KeyHelp = lazy(() => import("./key-help"))

/** The frame around every screen: navigation, palette, toasts. */
export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys">()
  const [menu, setMenu] = useState(false)
  // On a phone the navigation is hidden, and its links are a quarter of the work before the first paint: they are made when it opens.
  const wide = useMedia("(min-width: 900px)")
  const [opened, setOpened] = useState(false)
  const asked = useAskedToSignIn()
  const navigate = useNavigate()
  const path = useRouterState({ select: (s) => s.location.pathname })
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => {
    // After a step to another screen the focus is on that screen, and readers begin there.
    setMenu(false)
    if (first.current) first.current = false
    else if (document.activeElement === document.body || document.activeElement?.closest(".nav")) main.current?.focus({ preventScroll: true })
  }, [path])
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k" && !document.querySelector("dialog[open]")) {
        e.preventDefault()
        setOpen("palette")
      }
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [])
  useKeys({ "?": () => setOpen("keys"), "/": () => setOpen("palette") }, "shell")
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(e) => (e.preventDefault(), main.current?.focus())}>{t("skip")}</a>
      <header className="bar">
        <button className="icon-button bar-menu" aria-label={t("nav.menu")} aria-expanded={menu} aria-controls="nav" onClick={() => (setOpened(true), setMenu(!menu))}><Menu aria-hidden /></button>
        <span className="bar-name">{start.business}</span>
        <button className="icon-button" aria-label={t("palette.open")} onClick={() => setOpen("palette")}><Search aria-hidden /></button>
      </header>
      {menu && <div className="nav-shade" onClick={() => setMenu(false)} />}
      <nav id="nav" className={menu ? "nav nav--open" : "nav"} aria-label={t("nav.label")} onKeyDown={(e) => e.key === "Escape" && setMenu(false)}>
        {(wide || opened) && (
          <>
            <div className="nav-head">
              {start.logo ? <img className="nav-logo" src={start.logo} alt={start.business} /> : <><span className="nav-mark" aria-hidden>{start.business.slice(0, 1)}</span><span className="nav-name">{start.business}</span></>}
            </div>
            <button className="nav-search" onClick={() => (setMenu(false), setOpen("palette"))}>
              <Search aria-hidden />
              <span>{t("palette.open")}</span>
              <kbd>{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
            </button>
            <div className="nav-scroll">
              {groups.map((g) => {
                const shown = places.filter((p) => p.group === g)
                return shown.length > 0 && (
                  <div key={g} className="nav-group">
                    <h2 className={g === "day" ? "sr" : "nav-title"}>{t(`nav.group.${g}`)}</h2>
                    <ul>
                      {shown.map(({ to, label, icon: Icon }) => (
                        <li key={to}>
                          <Link to={to as "/"} className="nav-link" activeOptions={{ exact: to === "/", includeSearch: false }}><Icon aria-hidden /><span>{t(label)}</span></Link>
                        </li>
                      ))}
                    </ul>
                  </div>
                )
              })}
            </div>
            <Person onKeys={() => setOpen("keys")} />
          </>
        )}
      </nav>
      <main id="main" ref={main} className="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      <Suspense>
        {open === "palette" && <Palette onClose={() => setOpen(undefined)} onGo={(to, params) => (setOpen(undefined), void navigate({ to: to as "/", params: params as {} }))} />}
        {open === "keys" && <KeyHelp onClose={() => setOpen(undefined)} />}
        {asked && <SignIn onEnd={answerSignIn} />}
      </Suspense>
    </div>
  )
}

const themes: { value: Theme; icon: typeof Sun }[] = [{ value: "", icon: Monitor }, { value: "light", icon: Sun }, { value: "dark", icon: Moon }]

/** Who is signed in, and what concerns only this person: account, theme, language, keys, signing out. */
function Person({ onKeys }: { onKeys: () => void }) {
  const [chosen, setChosen] = useState(theme())
  const signOut = async () => {
    // A session that has ended is signed out of as well: nobody has to sign in for it.
    const answer = await fetch("/v1/auth/logout", { method: "POST" }).catch(() => undefined)
    if (answer && (answer.ok || answer.status === 401)) location.assign("/account/sign-in")
    else toastFault(answer ? await Fault.of(answer) : new Fault("offline", 0))
  }
  const spoken = useChoice(() => {}, (code) => code !== language && (choose("language", code), location.reload()))
  return (
    <div className="person">
      <button className="person-button" popoverTarget="person-menu">
        <span className="avatar" aria-hidden>{initials(me.name)}</span>
        <span className="person-name"><b>{me.name}</b><small>{tOr("role." + me.role, me.role)}</small></span>
        <ChevronsUpDown aria-hidden />
      </button>
      <div id="person-menu" popover="auto" className="popover person-menu">
        <a className="menu-item" href="/account"><UserRound aria-hidden />{t("person.account")}</a>
        <button className="menu-item" popoverTarget="person-menu" popoverTargetAction="hide" onClick={onKeys}><Keyboard aria-hidden />{t("keys.title")}</button>
        <fieldset className="segments">
          <legend className="sr">{t("theme.label")}</legend>
          {themes.map(({ value, icon: Icon }) => (
            <label key={value} className="segment" title={t(`theme.${value || "system"}`)}>
              <input type="radio" name="theme" className="sr" checked={chosen === value} onChange={() => (setChosen(value), applyTheme(value))} />
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
      </div>
    </div>
  )
}

export const initials = (name: string) => name.split(/\s+/).filter(Boolean).map((w) => w[0]!.toUpperCase()).filter((_, i, all) => i === 0 || i === all.length - 1).join("") || "?"

/** The head of a screen: its title, what it counts, and its actions. It names the browser's tab too. */
export function Head({ title, count, children, back }: { title: string; count?: React.ReactNode; children?: React.ReactNode; back?: React.ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${start.business}`
  }, [title])
  return (
    <header className="head">
      <div className="head-title">
        {back}
        <h1>{title}</h1>
        {count}
      </div>
      {children && <div className="head-actions">{children}</div>}
    </header>
  )
}
