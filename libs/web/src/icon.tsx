// The few icons that every widget has; the icon of the form style comes with the style. Their SVGs are ours, from lucide.
import alert from "../icon/circle-alert.svg"
import back from "../icon/arrow-left.svg"
import left from "../icon/chevron-left.svg"
import right from "../icon/chevron-right.svg"
import check from "../icon/check.svg"
import clock from "../icon/clock.svg"
import globe from "../icon/globe.svg"

const icons = { "circle-alert": alert, "arrow-left": back, "chevron-left": left, "chevron-right": right, check, clock, globe }

export function Icon({ name }: { name: keyof typeof icons }) {
  return <Svg svg={icons[name]} />
}

/** SVG text of our own making, from this bundle or from the site's form style. */
export function Svg({ svg }: { svg: string }) {
  return <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />
}
