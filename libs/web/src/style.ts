// The site's form style, as the Go side computes it. Everything goes through the CSSOM: a page's policy may forbid style attributes.
export interface Look {
  vars: Record<string, string>
  scheme?: "light" | "dark"
  font?: string
  font_url?: string
  icon?: string
  icon_right?: boolean
  plain?: boolean
}

export interface Site {
  look: Look
  business: string
  email: string
  phone: string
  country: string
  currency: string
  timezone: string
}

export function applyLook(card: HTMLElement, look: Look, origin: string) {
  for (const [name, value] of Object.entries(look.vars)) card.style.setProperty(name, value)
  if (look.scheme) card.style.colorScheme = look.scheme
  if (look.font && look.font_url && ![...document.fonts].some((f) => f.family.replaceAll('"', "") === look.font)) {
    // @font-face does nothing inside a shadow root.
    const face = new FontFace(look.font, `url(${origin}${look.font_url})`, { weight: "100 900", display: "swap" })
    document.fonts.add(face)
    face.load().catch(() => {})
  }
}
