import { Mail, Phone } from "lucide-react"
import { ButtonAnchor } from "@/kit/button"
import { t } from "@/kit/text"

/** Links that write to and call a person or an organization. */
export const Reach = ({ email, phone }: { email: string; phone: string }) =>
  (email || phone) && (
    <p className="panel-body row">
      {email && <ButtonAnchor small icon={<Mail aria-hidden />} href={`mailto:${email}`}>{t("contacts.write")}</ButtonAnchor>}
      {phone && <ButtonAnchor small icon={<Phone aria-hidden />} href={`tel:${phone.replaceAll(/[^+\d]/g, "")}`}>{t("contacts.call")}</ButtonAnchor>}
    </p>
  )
