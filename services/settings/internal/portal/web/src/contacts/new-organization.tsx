import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { Info } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { createOrganization } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, text, TextField, useForm } from "@/kit/form"
import { me } from "@/kit/start"
import { t, tOr } from "@/kit/text"
import { toast } from "@/kit/toast"
import { organizationKey } from "./data"

/** Makes an organization. Similar ones are named while it is typed; making it stays allowed. */
export function NewOrganization({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState({ name: "", vat_number: "", email: "" })
  const similar = useQuery({
    queryKey: ["organizations", "similar", typed],
    queryFn: async () => (await take(api.POST("/organizations/duplicates", { body: Object.fromEntries(Object.entries(typed).filter(([, v]) => v)) }))).items,
    enabled: Object.values(typed).some((v) => v.length > 1),
  }).data ?? []
  const form = useForm(async (values, key) => {
    const made = await take(api.POST("/organizations", {
      params: { header: { "Idempotency-Key": key } },
      body: { name: text(values, "name"), vat_number: text(values, "vat_number"), email: text(values, "email"), phone: text(values, "phone"), website: text(values, "website"), city: text(values, "city"), owner_user_id: me.user_id },
    }))
    queries.setQueryData(organizationKey(made.id), made)
    void queries.invalidateQueries({ queryKey: ["organizations", "list"] })
    onClose()
    toast(t("contacts.organization_made", { name: made.name }))
    await navigate({ to: "/organizations/$id", params: { id: made.id } })
  })
  const look = (name: keyof typeof typed) => (e: { target: HTMLInputElement }) => setTyped({ ...typed, [name]: e.target.value.trim() })
  return (
    <Dialog title={t("contacts.new_organization")} onClose={onClose} guarded={form.dirty}>
      <Form limits={createOrganization} form={form}>
        <div className="dialog-body">
          <div className="fields">
            <TextField name="name" label={t("contacts.name")} wide required autoFocus onBlur={look("name")} />
            <TextField name="vat_number" label={t("contacts.vat_number")} onBlur={look("vat_number")} />
            <TextField name="email" label={t("contacts.email")} type="email" onBlur={look("email")} />
            {similar.length > 0 && (
              <div className="notice field--wide" role="status">
                <Info aria-hidden />
                <div>
                  <p>{t("contacts.similar", { n: similar.length })}</p>
                  <ul>{similar.map((o) => <li key={o.id}><Link to="/organizations/$id" params={{ id: o.id }} onClick={onClose}>{o.name}</Link> <span className="soft small">{o.reasons.map((r) => tOr("contacts.reason." + r, r)).join(", ")}</span></li>)}</ul>
                </div>
              </div>
            )}
            <TextField name="phone" label={t("contacts.phone")} type="tel" />
            <TextField name="website" label={t("contacts.website")} type="url" />
            <TextField name="city" label={t("contacts.city")} />
          </div>
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("contacts.create_organization")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
