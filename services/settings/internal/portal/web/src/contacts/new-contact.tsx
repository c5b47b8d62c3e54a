import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { Info } from "lucide-react"
import { useState } from "react"
import { api, take } from "@/api/client"
import { createContact } from "@/api/limits"
import { Button } from "@/kit/button"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { me } from "@/kit/start"
import { t } from "@/kit/text"
import { toast } from "@/kit/toast"
import { statuses } from "./data"
import { contactKey, nameOf } from "@/kit/records"
import { useTeam } from "@/team/data"

/** Makes a contact. An address that somebody has already leads to that contact instead. */
export function NewContact({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const team = useTeam()
  const [email, setEmail] = useState("")
  // The API says who has the address before everything else is typed; a match that the person may not see has no id.
  const match = useQuery({
    queryKey: ["contacts", "duplicates", email],
    queryFn: async () => (await take(api.POST("/contacts/duplicates", { body: { email } }))).items[0] ?? null,
    enabled: /^\S+@\S+\.\S+$/.test(email),
  }).data
  const form = useForm(async (values, key) => {
    const owner = text(values, "owner_user_id")
    const made = await take(api.POST("/contacts", {
      params: { header: { "Idempotency-Key": key } },
      body: {
        first_name: text(values, "first_name"), last_name: text(values, "last_name"), email: text(values, "email"), phone: text(values, "phone"),
        status: text(values, "status") as "lead", source: text(values, "source"), owner_user_id: owner ? Number(owner) : null,
      },
    }))
    queries.setQueryData(contactKey(made.id), made)
    void queries.invalidateQueries({ queryKey: ["contacts", "list"] })
    onClose()
    toast(t("contacts.made", { name: nameOf(made) }))
    await navigate({ to: "/contacts/$id", params: { id: made.id } })
  })
  const taken = form.fault?.code === "svc_duplicate" ? { id: (form.fault.data.id as string | undefined) ?? null } : match
  return (
    <Dialog title={t("contacts.new")} onClose={onClose} guarded={form.dirty}>
      <Form limits={createContact} form={form}>
        <div className="dialog-body">
          <div className="fields">
            <TextField name="first_name" label={t("contacts.first_name")} autoFocus />
            <TextField name="last_name" label={t("contacts.last_name")} />
            <TextField name="email" label={t("contacts.email")} type="email" wide onBlur={(e) => setEmail(e.target.value.trim())} />
            {taken && (
              <div className="notice field--wide" role="status">
                <Info aria-hidden />
                <div>{taken.id ? <p>{t("contacts.known")} <Link to="/contacts/$id" params={{ id: taken.id }} onClick={onClose}>{t("contacts.known_open")}</Link></p> : <p>{t("contacts.known_hidden")}</p>}</div>
              </div>
            )}
            <TextField name="phone" label={t("contacts.phone")} type="tel" />
            <SelectField name="status" label={t("contacts.status")} options={statuses()} />
            <SelectField name="owner_user_id" label={t("contacts.owner")} defaultValue={String(me.user_id)} key={team.length} options={[{ value: "", label: t("none") }, ...team.map((m) => ({ value: String(m.user_id), label: m.name }))]} />
            <TextField name="source" label={t("contacts.source")} />
          </div>
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("contacts.create")}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
