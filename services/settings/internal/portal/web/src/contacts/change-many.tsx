// What is changed of many contacts or organizations at once.
import { Button } from "@/kit/button"
import type { Bulk } from "@/kit/bulk"
import { Dialog } from "@/kit/dialog"
import { Form, SelectField, text, TextField, useForm } from "@/kit/form"
import { useTags } from "@/kit/records"
import { t } from "@/kit/text"
import { useTeam } from "@/team/data"
import { callMany, type Kind } from "./call-many"
import { membersOrNone, statuses } from "./data"

const names = (typed: string) => typed.split(",").map((x) => x.trim()).filter(Boolean)

export function ChangeMany({ kind, bulk, onClose }: { kind: Kind; bulk: Bulk; onClose: () => void }) {
  const team = useTeam()
  const tags = useTags()
  const asItIs = { value: "-", label: t("bulk.as_it_is") }
  const form = useForm(async (values) => {
    const owner = text(values, "owner_user_id")
    const status = text(values, "status") as "lead" | "customer" | "inactive" | "-" | ""
    const body = {
      ...(names(text(values, "add_tags")).length > 0 && { add_tags: names(text(values, "add_tags")) }),
      ...(names(text(values, "remove_tags")).length > 0 && { remove_tags: names(text(values, "remove_tags")) }),
      ...(owner !== "-" && { owner_user_id: Number(owner) || null }),
      ...(status !== "-" && status !== "" && { status }),
    }
    onClose()
    if (Object.keys(body).length > 0) await bulk.run(callMany(kind, body))
  })
  return (
    <Dialog title={t("bulk.change", { n: bulk.n })} onClose={onClose} guarded={form.dirty}>
      <Form form={form}>
        <div className="dialog-body">
          <div className="fields">
            {kind === "contacts" && <>
              <datalist id="bulk-tags">{tags.map((x) => <option key={x.slug} value={x.name} />)}</datalist>
              <TextField name="add_tags" label={t("contacts.add_tags")} help={t("contacts.tags_help")} list="bulk-tags" autoFocus />
              <TextField name="remove_tags" label={t("contacts.remove_tags")} list="bulk-tags" />
              <SelectField name="status" label={t("contacts.status")} options={[asItIs, ...statuses()]} defaultValue="-" />
            </>}
            <SelectField name="owner_user_id" label={t("contacts.owner")} options={[asItIs, ...membersOrNone(team)]} defaultValue="-" />
          </div>
        </div>
        <footer className="dialog-foot">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" type="submit" busy={form.busy}>{t("bulk.change", { n: bulk.n })}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
