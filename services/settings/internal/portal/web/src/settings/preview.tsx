// A form in a style that is not saved yet: the widgets' own style sheet in a shadow root.
import { useEffect, useRef, useState } from "react"
import { createPortal } from "react-dom"
import card from "@/../../../../../../libs/web/css/card.css?raw"
import { applyLook } from "@/../../../../../../libs/web/src/style"
import { fonts, properties } from "@/kit/look"
import { start } from "@/kit/start"
import { t } from "@/kit/text"

type Style = Record<string, string>

const sheet = new CSSStyleSheet()
sheet.replaceSync(card)
const files = import.meta.glob<string>("../../../../../../../libs/web/icon/*.svg", { query: "?raw", import: "default" })

const colour = /^#[0-9a-f]{6}$/i

/** The relative luminance of #rrggbb as WCAG defines it. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const ratio = (a: string, b: string) => {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}
const readableOn = (hex: string) => (ratio(hex, "#000000") > ratio(hex, "#ffffff") ? "#000000" : "#ffffff")

/** The style as custom properties, by the rules of the public pages. */
function vars(style: Style): Record<string, string> {
  const out: Record<string, string> = {}
  for (const { name, kind } of properties) {
    const value = style[name] ?? ""
    if (value === "" || kind === "choice" || (kind === "colour" && !colour.test(value)) || (kind === "font" && !fonts[value])) continue
    out["--svc-" + name.replaceAll("_", "-")] = kind === "font" ? fonts[value]! : kind === "pixels" ? value + "px" : value === "full" ? "100%" : value
  }
  const button = out["--svc-button-background"]
  if (button && !out["--svc-button-text"]) out["--svc-button-text"] = readableOn(button)
  return out
}

/** The scheme that the style forces: colours are made for one of the two. */
function scheme(style: Style, dark: boolean): "light" | "dark" {
  if (!properties.some((p) => p.kind === "colour" && colour.test(style[p.name] ?? ""))) return dark ? "dark" : "light"
  return colour.test(style.background ?? "") && luminance(style.background!) < 0.2 ? "dark" : "light"
}

const themes = {
  light: { ink: "#1b1f27", surface: "#ffffff", field: "#ffffff", accent: "#1d4ed8", onAccent: "#ffffff", bad: "#b42318" },
  dark: { ink: "#eceef2", surface: "#1c1f26", field: "#14161b", accent: "#8fb0ff", onAccent: "#0d1530", bad: "#ff9a8d" },
}

export type Pair = "text" | "heading" | "label" | "field" | "button" | "error"

/** The contrast of what is written on what. */
export function contrasts(style: Style, dark: boolean): { name: Pair; ratio: number }[] {
  const base = themes[scheme(style, dark)]
  const own = (name: string, otherwise: string) => (colour.test(style[name] ?? "") ? style[name]! : otherwise)
  const [ink, surface, button] = [own("color", base.ink), own("background", base.surface), own("button_background", base.accent)]
  return [
    { name: "text", ratio: ratio(ink, surface) },
    { name: "heading", ratio: ratio(own("heading_color", ink), surface) },
    { name: "label", ratio: ratio(own("label_color", ink), surface) },
    { name: "field", ratio: ratio(own("field_text", base.ink), own("field_background", base.field)) },
    { name: "button", ratio: ratio(own("button_text", style.button_background && colour.test(style.button_background) ? readableOn(button) : base.onAccent), button) },
    { name: "error", ratio: ratio(own("error_color", base.bad), surface) },
  ]
}

export function Preview({ style, dark }: { style: Style; dark: boolean }) {
  const host = useRef<HTMLDivElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const [root, setRoot] = useState<ShadowRoot>()
  const [icon, setIcon] = useState("")
  useEffect(() => {
    const own = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" })
    own.adoptedStyleSheets = [sheet]
    setRoot(own)
  }, [])
  const look = scheme(style, dark)
  useEffect(() => {
    const e = box.current
    if (!e) return
    e.removeAttribute("style")
    const font = style.font?.startsWith("svc:") ? style.font.slice(4) : ""
    applyLook(e, { vars: vars(style), scheme: look, ...(font && { font: "svc-" + font, font_url: `/_ui/settings/font/${font}.woff2` }) }, "")
  }, [style, look, root])
  const named = style.button_icon ?? ""
  useEffect(() => {
    let current = true
    const file = Object.entries(files).find(([path]) => path.endsWith(`/${named}.svg`))?.[1]
    void (file ? file() : Promise.resolve("")).then((svg) => current && setIcon(svg))
    return () => {
      current = false
    }
  }, [named])
  const mark = icon && <span className="icon" aria-hidden dangerouslySetInnerHTML={{ __html: icon }} />
  return (
    <div ref={host} className={look === "dark" ? "sample sample--dark" : "sample"}>
      {root && createPortal(
        <div ref={box} className={style.container === "plain" ? "svc svc--plain" : "svc svc--card"}>
          <div className="inner stack">
            <div className="stack-s">
              <h3 className="title">{t("settings.sample_title")}</h3>
              <p>{t("settings.sample_text", { business: start.business })}</p>
            </div>
            <div className="fields">
              <div className="field"><label className="label" htmlFor="sample-name">{t("settings.sample_name")}</label><input id="sample-name" className="input" defaultValue="Anna Peeters" readOnly /></div>
              <div className="field">
                <label className="label" htmlFor="sample-email">{t("settings.sample_email")}</label>
                <input id="sample-email" className="input" defaultValue="anna@" readOnly aria-invalid aria-describedby="sample-error" />
                <p className="error" id="sample-error">{t("settings.sample_error")}</p>
              </div>
            </div>
            <div><button type="button" className="button button--wide">{style.button_icon_position !== "right" && mark}<span>{t("settings.sample_button")}</span>{style.button_icon_position === "right" && mark}</button></div>
          </div>
        </div>,
        root,
      )}
    </div>
  )
}
