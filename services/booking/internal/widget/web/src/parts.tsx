// What more than one step shows.
import type { ComponentChildren, Ref } from "preact"
import alert from "@web/../icon/circle-alert.svg"
import { Icon } from "@web/icon"
import type { T } from "@web/text"

/** What went wrong, with what can be done about it. */
export const Notice = ({ box, children }: { box?: Ref<HTMLDivElement>; children: ComponentChildren }) => (
  <div class="notice notice--bad" tabIndex={-1} role="alert" ref={box}>
    <Icon of={alert} />
    <div>{children}</div>
  </div>
)

/** A button beside the main one, in a line of its own. Without press it sends the form around it. */
export const Second = ({ press, children }: { press?: () => void; children: string }) => (
  <p>
    <button type={press ? "button" : "submit"} class="button button--second" onClick={press}>
      {children}
    </button>
  </p>
)

export const Wait = ({ t }: { t: T }) => (
  <p class="wait" role="status">
    <span class="spin" />
    <span class="sr">{t("busy")}</span>
  </p>
)
