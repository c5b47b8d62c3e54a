import { randomUUID } from "node:crypto"
import type { IDataObject, IExecuteFunctions, IHookFunctions, IHttpRequestMethods, ILoadOptionsFunctions, JsonObject } from "n8n-workflow"
import { NodeApiError } from "n8n-workflow"

type Caller = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions

interface Answer {
	statusCode: number
	headers: IDataObject
	body: IDataObject | IDataObject[] | string | undefined
}

/** The API refused, with its own code. */
export class Refused extends NodeApiError {
	constructor(caller: Caller, readonly status: number, readonly code: string, said: IDataObject) {
		const details = ((said.data as IDataObject)?.details ?? {}) as IDataObject
		const lines = Object.entries(details).map(([field, problem]) => `${field}: ${String((problem as IDataObject).message ?? (problem as IDataObject).code)}`)
		super(caller.getNode(), said as JsonObject, {
			message: String(said.message ?? `Frontdesk answered with ${status}`),
			description: [code, ...lines].join("\n"),
			httpCode: String(status),
		})
	}
}

/** Calls the API. Values that are undefined are left out of the query. A refusal is thrown as Refused. */
export async function call(caller: Caller, method: IHttpRequestMethods, path: string, { query = {}, body, item = 0 }: { query?: IDataObject; body?: IDataObject; item?: number } = {}): Promise<IDataObject> {
	const credentials = await caller.getCredentials("frontdeskApi", item)
	const address = String(credentials.address).replace(/\/+$/, "")
	let answer: Answer
	try {
		answer = (await caller.helpers.httpRequestWithAuthentication.call(caller, "frontdeskApi", {
			method,
			url: `${address}/v1${path}`,
			qs: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== "")),
			arrayFormat: "repeat",
			// The same call sent twice, because an answer was lost, counts once.
			headers: { Accept: "application/json", ...(method === "POST" ? { "Idempotency-Key": randomUUID() } : {}) },
			...(body === undefined ? {} : { body }),
			json: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: 25_000,
		})) as Answer
	} catch (error) {
		throw new NodeApiError(caller.getNode(), error as JsonObject, { message: `Frontdesk does not answer at ${address}` })
	}
	const said = typeof answer.body === "object" && !Array.isArray(answer.body) ? answer.body : undefined
	// A call that waits for somebody's approval is 202 with a code: nothing was done yet.
	const waits = answer.statusCode === 202 && typeof said?.code === "string"
	if (answer.statusCode >= 200 && answer.statusCode < 300 && !waits) return said ?? {}
	if (said === undefined || typeof said.code !== "string") {
		throw new Refused(caller, answer.statusCode, "", { message: `What answers at ${address} is not Frontdesk` })
	}
	throw new Refused(caller, answer.statusCode, said.code, said)
}

/** The items of a list, page by page: all of them, or so many. */
export async function list(caller: Caller, path: string, query: IDataObject, limit: number, item = 0): Promise<IDataObject[]> {
	const items: IDataObject[] = []
	for (let cursor: unknown; items.length < limit; ) {
		const page = await call(caller, "GET", path, { query: { ...query, per_page: Math.min(100, limit - items.length), cursor: cursor as string | undefined }, item })
		items.push(...((page.items ?? []) as IDataObject[]))
		cursor = page.next_cursor
		if (!cursor) break
	}
	return items.slice(0, limit)
}
