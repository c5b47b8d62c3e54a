import { createLink } from "@tanstack/react-router"
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from "react"

type Look = { kind?: "main" | "plain" | "quiet" | "bad"; small?: boolean; busy?: boolean; icon?: ReactNode }

const look = ({ kind = "plain", small, busy }: Look) => `button button--${kind}${small ? " button--small" : ""}${busy ? " button--busy" : ""}`

/** A button. While busy it keeps its place and the focus, and does nothing. */
export function Button({ kind, small, busy, icon, children, type = "button", onClick, className, ...rest }: Look & ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> }) {
  return (
    <button {...rest} type={type} className={look({ kind, small, busy }) + (className ? " " + className : "")} aria-disabled={busy || undefined} onClick={busy ? (e) => e.preventDefault() : onClick}>
      {icon}
      {children && <span>{children}</span>}
    </button>
  )
}

const Anchor = ({ kind, small, busy, icon, children, ...rest }: Look & AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) => (
  <a {...rest} className={look({ kind, small, busy })}>
    {icon}
    <span>{children}</span>
  </a>
)

/** A link of the portal that looks like a button. */
export const ButtonLink = createLink(Anchor)

/** A link to a download or another page that looks like a button. */
export const ButtonAnchor = Anchor
