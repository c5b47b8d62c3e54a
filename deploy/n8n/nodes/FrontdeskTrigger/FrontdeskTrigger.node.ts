import { createHmac, timingSafeEqual } from "node:crypto"
import type { IDataObject, IHookFunctions, ILoadOptionsFunctions, INodePropertyOptions, INodeType, INodeTypeDescription, IWebhookFunctions, IWebhookResponseData, JsonObject } from "n8n-workflow"
import { NodeApiError, NodeConnectionTypes } from "n8n-workflow"
import { call, Refused } from "../Frontdesk/api"

/** Static data of the node: the webhook that was made, its secret, and the events that came last. */
interface Kept {
	id?: string
	secret?: string
	seen?: string[]
}

/** Seconds that the clock of the sender may differ by. */
const tolerance = 300
/** Events that are remembered, so that a second delivery does nothing. */
const remembered = 200

export class FrontdeskTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: "Frontdesk Trigger",
		name: "frontdeskTrigger",
		icon: { light: "file:frontdesk.svg", dark: "file:frontdesk.dark.svg" },
		group: ["trigger"],
		version: 1,
		subtitle: '={{$parameter["events"].join(", ")}}',
		description: "Starts when something happens in Frontdesk: a booking, a form, a change of a contact",
		defaults: { name: "Frontdesk Trigger" },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: "frontdeskApi", required: true }],
		webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook" }],
		properties: [
			{
				displayName: "Event Names or IDs",
				name: "events",
				type: "multiOptions",
				typeOptions: { loadOptionsMethod: "getEvents" },
				default: [],
				required: true,
				description: 'Those of the apps that are on. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
			},
		],
	}

	methods = {
		loadOptions: {
			async getEvents(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
				const events = (await call(this, "GET", "/webhooks/events")).items as IDataObject[]
				return events.map((e) => ({ name: String(e.label), value: String(e.event), description: String(e.event) }))
			},
		},
	}

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				const kept = this.getWorkflowStaticData("node") as Kept
				if (!kept.id || !kept.secret) return false
				try {
					const hook = await call(this, "GET", `/webhooks/${kept.id}`)
					const wanted = this.getNodeParameter("events") as string[]
					const same = hook.url === this.getNodeWebhookUrl("default") && [...(hook.events as string[])].sort().join() === [...wanted].sort().join()
					if (same && hook.active && !hook.paused) return true
					// It is made anew, as the workflow is now.
					await call(this, "DELETE", `/webhooks/${kept.id}`)
				} catch (error) {
					if (!(error instanceof Refused) || error.status !== 404) throw new NodeApiError(this.getNode(), error as JsonObject)
				}
				delete kept.id
				delete kept.secret
				return false
			},

			async create(this: IHookFunctions): Promise<boolean> {
				const kept = this.getWorkflowStaticData("node") as Kept
				const made = await call(this, "POST", "/webhooks", {
					body: { name: `n8n: ${this.getWorkflow().name ?? "workflow"}`.slice(0, 190), url: this.getNodeWebhookUrl("default"), events: this.getNodeParameter("events") as string[], active: true },
				})
				kept.id = String((made.webhook as IDataObject).id)
				kept.secret = String(made.secret)
				return true
			},

			async delete(this: IHookFunctions): Promise<boolean> {
				const kept = this.getWorkflowStaticData("node") as Kept
				if (kept.id) {
					try {
						await call(this, "DELETE", `/webhooks/${kept.id}`)
					} catch (error) {
						if (!(error instanceof Refused) || error.status !== 404) return false
					}
				}
				delete kept.id
				delete kept.secret
				return true
			},
		},
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const kept = this.getWorkflowStaticData("node") as Kept
		const raw = this.getRequestObject().rawBody as Buffer | undefined
		const header = this.getHeaderData()["x-svc-signature"]
		if (!raw || !kept.secret || !signed(kept.secret, String(header ?? ""), raw, Date.now() / 1000)) {
			this.getResponseObject().status(401).json({ message: "The signature is not right." })
			return { noWebhookResponse: true }
		}
		const event = this.getBodyData()
		const id = String(event.id)
		// An event may arrive twice, under one id.
		if (kept.seen?.includes(id)) return { webhookResponse: "seen" }
		kept.seen = [...(kept.seen ?? []), id].slice(-remembered)
		return { workflowData: [this.helpers.returnJsonArray([event])] }
	}
}

/** Whether X-Svc-Signature is that of these bytes at this time. */
export function signed(secret: string, header: string, raw: Buffer, now: number): boolean {
	const found = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header)
	if (!found || Math.abs(now - Number(found[1])) > tolerance) return false
	const wanted = createHmac("sha256", secret).update(`${found[1]}.`).update(raw).digest()
	return timingSafeEqual(wanted, Buffer.from(found[2]!, "hex"))
}
