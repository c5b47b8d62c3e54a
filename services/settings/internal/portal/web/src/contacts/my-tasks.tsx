import { Link } from "@tanstack/react-router"
import { CheckCheck } from "lucide-react"
import { Suspense, useState } from "react"
import type { Schema } from "@/api/client"
import { late } from "@/kit/late"
import { Panel } from "@/kit/panel"
import { t } from "@/kit/text"
import { TaskLines } from "./task-lines"

const Opened = late(() => import("./task").then((m) => ({ default: m.TaskDialog })))

/** What the person has to do, on the overview. */
export function MyTasks({ mine }: { mine: Schema<"OwnTasks"> }) {
  const [open, setOpen] = useState<string>()
  return (
    <Panel title={t("contacts.my_tasks")} beside={<Link to="/tasks" className="row row--tight num">{t("contacts.tasks_open", { n: mine.total })}{mine.overdue > 0 && <span className="mark mark--bad">{t("contacts.tasks_overdue", { n: mine.overdue })}</span>}</Link>}>
      {mine.items.length === 0 ? <p className="panel-none soft"><CheckCheck aria-hidden />{t("contacts.my_tasks_none")}</p> : <div className="panel-body"><TaskLines tasks={mine.items} onOpen={setOpen} about /></div>}
      <Suspense>{open && <Opened id={open} onClose={() => setOpen(undefined)} />}</Suspense>
    </Panel>
  )
}
