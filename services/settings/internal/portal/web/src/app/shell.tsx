import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router"
import { ChevronsUpDown, Menu, Search } from "lucide-react"
import { lazy, Suspense, useEffect, useRef, useState } from "react"
import { useKeys } from "@/kit/keys"
import { late } from "@/kit/late"
import { initials } from "@/kit/head"
import { useMedia } from "@/kit/media"
import { groups, usePlaces } from "@/kit/place"
import { answerSignIn, useAskedToSignIn } from "./session"
import { worded } from "./texts"
import { me, start } from "@/kit/start"
import { t, tOr } from "@/kit/text"

const Palette = late(worded(() => import("./palette")))
const SignIn = lazy(worded(() => import("./sign-in")))
const KeyHelp = lazy(worded(() => import("./key-help")))
// What counts the news needs more of the library of queries than the frame does.
const Bell = lazy(worded(() => import("./bell")))
const NavCount = lazy(() => import("./bell").then((m) => ({ default: m.NavCount })))
const Toasts = late(() => import("@/kit/toast").then((m) => ({ default: m.Toasts })))
const PersonMenu = late(worded(() => import("./person-menu")))

/** The frame around every screen: navigation, palette, toasts. */
export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys">()
  const [menu, setMenu] = useState(false)
  // On a phone the navigation is hidden, and its links are a quarter of the work before the first paint: they are made when it opens.
  const wide = useMedia("(min-width: 900px)")
  const [opened, setOpened] = useState(false)
  const asked = useAskedToSignIn()
  const places = usePlaces()
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
  const bell = <Suspense fallback={<span className="icon-button bell" />}><Bell /></Suspense>
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(e) => (e.preventDefault(), main.current?.focus())}>{t("skip")}</a>
      <header className="bar">
        <button className="icon-button bar-menu" aria-label={t("nav.menu")} aria-expanded={menu} aria-controls="nav" onClick={() => (setOpened(true), setMenu(!menu))}><Menu aria-hidden /></button>
        <span className="bar-name">{start.business}</span>
        {!wide && bell}
        <button className="icon-button" aria-label={t("palette.open")} onClick={() => setOpen("palette")}><Search aria-hidden /></button>
      </header>
      {menu && <div className="nav-shade" onClick={() => setMenu(false)} />}
      <nav id="nav" className={menu ? "nav nav--open" : "nav"} aria-label={t("nav.label")} onKeyDown={(e) => e.key === "Escape" && setMenu(false)}>
        {(wide || opened) && (
          <>
            <div className="nav-head">
              {start.logo ? <img className="nav-logo" src={start.logo} alt={start.business} /> : <><span className="nav-mark" aria-hidden>{start.business[0]}</span><span className="nav-name">{start.business}</span></>}
              {wide && bell}
            </div>
            <button className="nav-search" onClick={() => (setMenu(false), setOpen("palette"))}>
              <Search aria-hidden />
              <span>{t("palette.open")}</span>
              <kbd>{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
            </button>
            <div className="nav-scroll">
              {groups.map((g) => {
                const shown = places.filter((p) => p.menu === g)
                return shown[0] && (
                  <div key={g} className="nav-group">
                    <h2 className={g === "day" ? "sr" : "nav-title"}>{t(`nav.group.${g}`)}</h2>
                    <ul>
                      {shown.map(({ to, label, icon: Icon }) => (
                        <li key={to}>
                          <Link to={to as "/"} className="nav-link" activeOptions={{ exact: to === "/", includeSearch: false }}><Icon aria-hidden /><span>{t(label)}</span><Suspense><NavCount at={to} /></Suspense></Link>
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
      <Suspense><Toasts /></Suspense>
      <Suspense>
        {open === "palette" && <Palette onClose={() => setOpen(undefined)} onGo={(to, params) => (setOpen(undefined), void navigate({ to: to as "/", params: params as {} }))} />}
        {open === "keys" && <KeyHelp onClose={() => setOpen(undefined)} />}
        {asked && <SignIn onEnd={answerSignIn} />}
      </Suspense>
    </div>
  )
}

/** Who is signed in, with a menu of what concerns only this person. */
function Person({ onKeys }: { onKeys: () => void }) {
  return (
    <div className="person">
      <button className="person-button" popoverTarget="person-menu">
        <span className="avatar" aria-hidden>{initials(me.name)}</span>
        <span className="person-name"><b>{me.name}</b><small>{tOr("role." + me.role, me.role)}</small></span>
        <ChevronsUpDown aria-hidden />
      </button>
      <div id="person-menu" popover="auto" className="popover person-menu">
        <Suspense><PersonMenu onKeys={onKeys} /></Suspense>
      </div>
    </div>
  )
}
