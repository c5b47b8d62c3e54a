import { use } from "react"
import { UNSAFE_PortalProvider as PortalProvider } from "react-aria"
import { I18nProvider, Popover as AriaPopover, type PopoverProps } from "react-aria-components"
import { Layer } from "./dialog"
import { locale } from "./text"

/** React Aria's popover for what opens from a control, also inside a dialog. */
export function Popover({ className = "popover", ...rest }: PopoverProps) {
  const layer = use(Layer)
  return <PortalProvider getContainer={layer ? () => layer : undefined}><AriaPopover {...rest} className={className} /></PortalProvider>
}

/** Gives React Aria's components the person's language. */
export const Aria = ({ children }: { children: React.ReactNode }) => <I18nProvider locale={locale}>{children}</I18nProvider>
