import { MapPin, Phone, House, Video } from "lucide-react"
import { t, tOr } from "@/kit/text"
import { statusLook, type PlaceKind, type Status as StatusName } from "./data"

export const Status = ({ status }: { status: string }) => <span className={`mark mark--${statusLook[status as StatusName] ?? "off"}`}>{tOr(`booking.status.${status}`, status)}</span>

export const placeIcons = { in_person: MapPin, client: House, phone: Phone, online: Video }

export function Place({ kind }: { kind: string }) {
  const Icon = placeIcons[kind as PlaceKind] ?? MapPin
  return <span className="with-icon"><Icon aria-hidden />{t(`booking.place.${kind as PlaceKind}`)}</span>
}
