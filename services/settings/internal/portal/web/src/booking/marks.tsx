import { MapPin, Phone, House, Video, type LucideIcon } from "lucide-react"
import { t, tOr } from "@/kit/text"
import { statusLook, type PlaceKind } from "./data"

export const Status = ({ status }: { status: string }) => <span className={`mark mark--${statusLook[status] ?? "off"}`}>{tOr(`booking.status.${status}`, status)}</span>

const placeIcons: Record<string, LucideIcon> = { in_person: MapPin, client: House, phone: Phone, online: Video }

export function Place({ kind }: { kind: string }) {
  const Icon = placeIcons[kind] ?? MapPin
  return <span className="with-icon"><Icon aria-hidden />{t(`booking.place.${kind as PlaceKind}`)}</span>
}
