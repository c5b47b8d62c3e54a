/** A style sheet for a shadow root. Browsers before light-dark() show the light colours. */
export function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(CSS.supports("color", "light-dark(red,red)") ? css : css.replace(/light-dark\((\S+?),\S+?\)/g, "$1"))
  return sheet
}
