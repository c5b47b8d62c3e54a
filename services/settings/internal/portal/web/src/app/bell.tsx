// What others made since the person last looked: the bell, and the counts beside places.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Bell as Icon, BellRing, CalendarClock, CalendarPlus, Inbox, ListTodo, ShieldCheck, ShieldQuestion } from "lucide-react"
import { useId, useState, type ToggleEvent } from "react"
import { api, take, type Schema } from "@/api/client"
import { on } from "@/kit/start"
import { number, t } from "@/kit/text"

const queryKey = ["news"]
const often = { refetchInterval: 60_000 }
const none = { requests: 0, appointments: 0, submissions: 0, tasks: 0, asked: 0, decided: 0, approvals: 0 }
type News = typeof none & Partial<Pick<Schema<"News">, "mark">>

/** What is new; undefined while nobody knows. Approvals are another service's: each is shown without the other. */
function useNews(): News | undefined {
  const news = useQuery({ queryKey, queryFn: () => take(api.GET("/me/news")), ...often })
  const since = news.data?.seen_at ?? undefined
  const calls = useQuery({ queryKey: ["approvals", "news", since], queryFn: () => take(api.GET("/me/approvals", { params: { query: { since } } })), placeholderData: keepPreviousData, enabled: !news.isPending, ...often }).data
  return news.data || calls ? { ...none, ...news.data, ...(calls && { asked: calls.asked, decided: calls.decided, approvals: calls.waiting }) } : undefined
}

const kinds = [
  { of: "requests", to: "/", icon: CalendarClock, app: "booking" },
  { of: "appointments", to: "/calendar", icon: CalendarPlus, app: "booking" },
  { of: "submissions", to: "/submissions", icon: Inbox, app: "forms" },
  { of: "tasks", to: "/tasks", icon: ListTodo, app: undefined },
  { of: "asked", to: "/approvals", icon: ShieldQuestion, app: undefined },
  { of: "decided", to: "/approvals", icon: ShieldCheck, app: undefined },
] as const

const sum = (n: News | undefined) => (n ? kinds.reduce((all, k) => all + n[k.of], 0) : 0)

/** Who opens it has looked: from then on everything counts from zero. */
export default function Bell() {
  const news = useNews()
  const queries = useQueryClient()
  const id = useId()
  const [shown, setShown] = useState<News>()
  const total = sum(news)
  const look = async (e: ToggleEvent) => {
    if (e.newState !== "open") return
    setShown(news)
    try {
      await take(api.POST("/me/news/seen", { body: { mark: news?.mark } }))
      await queries.invalidateQueries({ queryKey })
    } catch (fault) {
      void import("@/kit/toast").then((m) => m.toastFault(fault))
    }
  }
  return (
    <>
      <button className="icon-button bell" popoverTarget={id} aria-label={total > 0 ? t("news.count", { n: total }) : t("news.title")}>
        {total > 0 ? <BellRing aria-hidden /> : <Icon aria-hidden />}
        {total > 0 && <span className="bell-count num" aria-hidden>{total > 99 ? "99+" : number(total)}</span>}
      </button>
      <div id={id} popover="auto" className="popover bell-menu" onToggle={(e) => void look(e)}>
        <h2 className="nav-title">{t("news.title")}</h2>
        {sum(shown) === 0 && <p className="bell-none soft">{t("frame.news_none")}</p>}
        {shown && kinds.filter((k) => on(k.app) && shown[k.of] > 0).map(({ of, to, icon: Kind }) => (
          <Link key={of} to={to as "/"} className="menu-item" onClick={(e) => e.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover()}><Kind aria-hidden />{t(`frame.news_${of}`, { n: shown[of] })}</Link>
        ))}
      </div>
    </>
  )
}

/** What is counted beside a place, by its address. */
const beside: Record<string, keyof typeof none> = { "/": "requests", "/tasks": "tasks", "/submissions": "submissions", "/approvals": "approvals" }

/** How much is new at a place; at most of them nothing is counted. */
export const NavCount = ({ at }: { at: string }) => beside[at] && <Count of={beside[at]} />

function Count({ of }: { of: keyof typeof none }) {
  const n = useNews()?.[of] ?? 0
  return n > 0 && <span className="nav-count num"><span aria-hidden>{n > 99 ? "99+" : number(n)}</span><span className="sr">{t("news.count", { n })}</span></span>
}
