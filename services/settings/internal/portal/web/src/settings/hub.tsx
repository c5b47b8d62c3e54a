import "./settings.css"
import { Link } from "@tanstack/react-router"
import { ChevronRight } from "lucide-react"
import { Checks } from "@/kit/checks"
import { Head } from "@/kit/head"
import { can } from "@/kit/start"
import { t } from "@/kit/text"
import { useSections } from "./frame"

/** All sections of the settings, each with what it is for. */
export function Hub() {
  const sections = useSections()
  return (
    <>
      <Head title={t("nav.settings")} />
      <div className="content hub">
        {can("svc_manage_crm") && <Checks />}
        {sections.map((g) => (
          <section key={g.title} aria-label={t(g.title)} className="stack-s">
            <h2 className="hub-title">{t(g.title)}</h2>
            <ul className="hub-list">
              {g.entries.map((e) => (
                <li key={e.id}>
                  <Link to={e.to as "/"} className="hub-link">
                    <span className="hub-icon"><e.icon aria-hidden /></span>
                    <span className="cell-main"><b>{t(e.label)}</b><small>{t(`settings.about.${e.id}`)}</small></span>
                    <ChevronRight aria-hidden />
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}
