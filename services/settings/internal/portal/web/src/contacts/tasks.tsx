import "./contacts.css"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ListTodo } from "lucide-react"
import { useMemo, useRef } from "react"
import { api, take } from "@/api/client"
import { useAsked } from "@/kit/ask"
import { today } from "@/kit/dates"
import { Head } from "@/kit/head"
import { Choice, type Column, countFilters, List, Tools, Total, useList } from "@/kit/list"
import { can, me } from "@/kit/start"
import { t } from "@/kit/text"
import { addDays } from "@/kit/wall"
import { useTeam } from "@/team/data"
import { AddTask, TaskDialog } from "./task"
import { About, Due, Tick, type Task } from "./task-lines"

const route = getRouteApi("/tasks")

/** The person's own open tasks, unless the address asks for others. */
export function TaskList() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const set = (change: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const query = {
    owner: search.owner === "all" ? undefined : Number(search.owner ?? me.user_id),
    ...(search.show === "all" ? {} : search.show === "done" ? { done: "true" as const } : { done: "false" as const }),
    ...(search.show === "overdue" && { due_to: addDays(today(), -1) }),
  }
  const list = useList<Task>(["tasks", "list", query], (cursor, signal) => take(api.GET("/tasks", { params: { query: { ...query, per_page: 50, cursor } }, signal })))
  const team = useTeam()
  const adding = useRef<HTMLDivElement>(null)
  // Not before the palette has given the focus back.
  useAsked("task", () => setTimeout(() => adding.current?.querySelector("input")?.focus()))
  const columns = useMemo((): Column<Task>[] => [
    { key: "title", label: t("contacts.task_title"), cell: (x) => (
      <div className={x.done_at ? "cell-line task--done" : "cell-line"}>
        <Tick task={x} />
        <Link to="/tasks" search={(old) => ({ ...old, task: x.id })} replace className="row-link cell-text task-title">{x.title}</Link>
      </div>
    ) },
    { key: "due", label: t("contacts.task_due"), width: 15, under: true, cell: (x) => <Due task={x} /> },
    { key: "about", label: t("contacts.task_about"), width: 14, hides: 2, cell: (x) => <span className="cell-main"><About task={x} /></span> },
    { key: "owner", label: t("contacts.task_owner"), width: 10, hides: 1, cell: (x) => <span className="cell-text">{team.find((m) => m.user_id === x.owner_user_id)?.name}</span> },
  ], [team])
  const { task: open, ...filters } = search
  return (
    <>
      <Head title={t("nav.tasks")} count={<Total n={list.data && list.total} />} />
      <Tools count={countFilters(filters)} onClear={() => void navigate({ search: {}, replace: true })}>
        <Choice label={t("contacts.tasks_mine")} value={search.owner} options={[{ value: "all", label: t("contacts.tasks_all") }, ...team.filter((m) => m.user_id !== me.user_id).map((m) => ({ value: String(m.user_id), label: m.name }))]} onChange={(v) => set({ owner: v })} />
        <Choice label={t("contacts.tasks_show_open")} value={search.show} options={(["overdue", "done", "all"] as const).map((value) => ({ value, label: t(`contacts.tasks_show_${value}`) }))} onChange={(v) => set({ show: v })} />
      </Tools>
      {can("svc_edit_contacts") && <div ref={adding} className="content"><AddTask owner={query.owner} /></div>}
      <List list={list} columns={columns} keeps="tasks" id={(x) => x.id} name={t("nav.tasks")} filtered={countFilters(filters) > 0} onClear={() => void navigate({ search: {} })}
        empty={{ icon: ListTodo, title: t("contacts.tasks_empty"), text: t("contacts.tasks_empty_text") }} />
      {open && <TaskDialog key={open} id={open} onClose={() => set({ task: undefined })} />}
    </>
  )
}
