// The actions of a record behind one button: React Aria's menu. Load it with a screen, not with the shell.
import { Ellipsis, type LucideIcon } from "lucide-react"
import { Menu, MenuItem, MenuTrigger, Button as AriaButton } from "react-aria-components"
import { Aria, Popover } from "./popover"
import { t } from "./text"

export type Action = { id: string; label: string; icon: LucideIcon; bad?: boolean; run: () => void }

export function Actions({ label = t("more"), actions }: { label?: string; actions: Action[] }) {
  if (actions.length === 0) return null
  return (
    <Aria><MenuTrigger>
      <AriaButton className="button button--plain button--square" aria-label={label}><Ellipsis aria-hidden /></AriaButton>
      <Popover placement="bottom end">
        <Menu className="menu" items={actions} dependencies={[actions]}>
          {(a) => <MenuItem id={a.id} textValue={a.label} className={a.bad ? "menu-item menu-item--bad" : "menu-item"} onAction={a.run}><a.icon aria-hidden />{a.label}</MenuItem>}
        </Menu>
      </Popover>
    </MenuTrigger></Aria>
  )
}
