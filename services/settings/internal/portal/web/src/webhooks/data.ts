// Queries of the screens of webhooks, with their cache keys.
import { queryOptions, useQuery } from "@tanstack/react-query"
import { api, ifMatch, take, type Schema } from "@/api/client"
import { t, tOr } from "@/kit/text"

export type Webhook = Schema<"Webhook">
export type Delivery = Schema<"Delivery">
export type Receiver = Schema<"TestReceiver">
export type Attempt = Schema<"Attempt">
export type DeliveryStatus = Delivery["status"]

export type Format = Webhook["format"]

/** The formats of bodies, as a choice. */
export const formats = (): { value: Format; label: string }[] => [{ value: "svc", label: t("webhooks.format.svc") }, { value: "cloudevents", label: "CloudEvents 1.0" }]

export const statuses: DeliveryStatus[] = ["queued", "retrying", "delivered", "failed"]

export const webhookKey = (id: string) => ["webhooks", "one", id]
export const deliveriesKey = (id: string) => ["deliveries", "list", id]
export const receiverKey = ["test-receiver"]
export const webhooksQuery = queryOptions({ queryKey: ["webhooks", "list"], queryFn: async () => (await take(api.GET("/webhooks"))).items })
export const webhookQuery = (id: string) => queryOptions({ queryKey: webhookKey(id), queryFn: () => take(api.GET("/webhooks/{id}", { params: { path: { id } } })) })

/** The events that can be chosen: those of the apps that are on. */
export const useEvents = () => useQuery({ queryKey: ["webhook-events"], queryFn: async () => (await take(api.GET("/webhooks/events"))).items, staleTime: 5 * 60_000 }).data ?? []

export const eventText = (event: string) => tOr("webhooks.event." + event, event)
export const waits = (d: Pick<Delivery, "status">) => d.status === "queued" || d.status === "retrying"

/** Deliveries are no part of the stream of changes: while one of these waits, they load again every three seconds. */
export const every = (deliveries: Delivery[]) => (deliveries.some(waits) ? 3_000 : false)

/** Opens the person's test receiver, or gives it another hour. */
export const openReceiver = () => take(api.POST("/webhooks/receiver"))

/** Switches a webhook on or off, whatever else about it has changed meanwhile. On also ends a pause. */
export const switchWebhook = (id: string, active: boolean) => take(api.PATCH("/webhooks/{id}", { params: { path: { id }, header: ifMatch("*") }, body: { active } }))
