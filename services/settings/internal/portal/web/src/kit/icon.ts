import { createElement, type SVGProps } from "react"

const look = { width: 24, height: 24, viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", strokeWidth: 2, strokeLinecap: "round", strokeLinejoin: "round", "aria-hidden": true } as const

/** Draws an icon of lucide's. The build (vite.config.mjs) gives its shapes as markup, and leaves away what lucide's own component can do besides. */
export const icon = (shapes: string) => (props: SVGProps<SVGSVGElement>) => createElement("svg", { ...look, ...props, dangerouslySetInnerHTML: { __html: shapes } })
