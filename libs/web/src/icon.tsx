/** One of our icons, by the shapes in its file of icon/, from lucide. */
export const Icon = ({ of }: { of: string }) => <Svg svg={`<svg viewBox="0 0 24 24">${of}</svg>`} />

/** SVG text of our own making, from this bundle or from the site's form style. */
export const Svg = ({ svg }: { svg: string }) => <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />
