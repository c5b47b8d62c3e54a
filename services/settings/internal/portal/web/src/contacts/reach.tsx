import { Mail, Phone } from "lucide-react"
import { Button, ButtonAnchor } from "@/kit/button"
import { t } from "@/kit/text"

/** Links that write to and call a person or an organization; onWrite writes from here. */
export const Reach = ({ email, phone, onWrite }: { email: string; phone: string; onWrite?: () => void }) =>
  (email || phone) && (
    <p className="panel-body row">
      {email && onWrite && <Button small icon={<Mail aria-hidden />} onClick={onWrite}>{t("contacts.write")}</Button>}
      {email && !onWrite && <ButtonAnchor small icon={<Mail aria-hidden />} href={`mailto:${email}`}>{t("contacts.write")}</ButtonAnchor>}
      {phone && <ButtonAnchor small icon={<Phone aria-hidden />} href={`tel:${phone.replaceAll(/[^+\d]/g, "")}`}>{t("contacts.call")}</ButtonAnchor>}
    </p>
  )
