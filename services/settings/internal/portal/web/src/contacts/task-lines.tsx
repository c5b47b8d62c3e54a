// Lines of tasks as they stand on several screens, ticked off where they are.
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Check } from "lucide-react"
import { useState } from "react"
import { api, take, type Schema } from "@/api/client"
import { dayWords, momentText, today } from "@/kit/dates"
import { can, me } from "@/kit/start"
import { t } from "@/kit/text"
import { toast, toastFault } from "@/kit/toast"
import { useTeam } from "@/team/data"
import { timelineKey } from "./timeline"

export type Task = Schema<"Task">

/** Loads anew what shows a task that has changed. */
export function useTaskChanged() {
  const queries = useQueryClient()
  return (task?: Pick<Task, "contact" | "organization">) => {
    const keys = [["tasks"], ["overview"], ["news"], ...(task?.contact ? [timelineKey("contacts", task.contact.id)] : []), ...(task?.organization ? [timelineKey("organizations", task.organization.id)] : [])]
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
  }
}

/** Ticks a task off, or opens it again. */
export function Tick({ task }: { task: Task }) {
  const changed = useTaskChanged()
  const [wanted, setWanted] = useState<boolean>()
  const set = async (done: boolean) => {
    setWanted(done)
    try {
      await take(api.POST(done ? "/tasks/{id}/done" : "/tasks/{id}/reopen", { params: { path: { id: task.id } } }))
      toast(t(done ? "contacts.task_done" : "contacts.task_reopened", { title: task.title }), { undo: () => void set(!done) })
    } catch (e) {
      toastFault(e)
    } finally {
      setWanted(undefined)
      changed(task)
    }
  }
  const done = wanted ?? task.done_at !== null
  if (!can("svc_edit_contacts")) return <span className="check-target">{done && <Check role="img" aria-label={t("contacts.tasks_show_done")} />}</span>
  return (
    <label className="check-target">
      <input type="checkbox" checked={done} aria-label={t("contacts.task_tick", { title: task.title })} onChange={(e) => void set(e.target.checked)} />
    </label>
  )
}

/** By when a task is to be done; a mark where that is over. */
export function Due({ task }: { task: Pick<Task, "due_on" | "done_at"> }) {
  if (task.done_at) return <span className="soft">{t("contacts.task_done_at", { date: momentText(task.done_at) })}</span>
  if (!task.due_on) return null
  if (task.due_on < today()) return <span className="mark mark--bad">{t("contacts.task_overdue", { day: dayWords(task.due_on) })}</span>
  return task.due_on === today() ? <span className="mark mark--warn">{t("contacts.task_today")}</span> : <span className="nowrap">{dayWords(task.due_on)}</span>
}

/** What a task is about, as links. */
export const About = ({ task }: { task: Pick<Task, "contact" | "organization"> }) => (
  <>
    {task.contact && <Link to="/contacts/$id" params={{ id: task.contact.id }} className="cell-text">{task.contact.name}</Link>}
    {task.organization && <Link to="/organizations/$id" params={{ id: task.organization.id }} className="cell-text">{task.organization.name}</Link>}
  </>
)

/** Lines of tasks. about adds what each is about. */
export function TaskLines({ tasks, onOpen, about }: { tasks: Task[]; onOpen: (id: string) => void; about?: boolean }) {
  const team = useTeam()
  return (
    <ul className="tasks">
      {tasks.map((x) => (
        <li key={x.id} className={x.done_at ? "task task--done" : "task"}>
          <Tick task={x} />
          <span className="cell-main">
            <button className="task-title" onClick={() => onOpen(x.id)}>{x.title}</button>
            <small className="row row--tight"><Due task={x} />{x.owner_user_id !== null && x.owner_user_id !== me.user_id && <span>{team.find((m) => m.user_id === x.owner_user_id)?.name}</span>}{about && <About task={x} />}</small>
          </span>
        </li>
      ))}
    </ul>
  )
}
