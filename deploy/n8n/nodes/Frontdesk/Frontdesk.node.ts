import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription, JsonObject } from "n8n-workflow"
import { NodeApiError, NodeConnectionTypes, NodeOperationError } from "n8n-workflow"
import { call, list } from "./api"
import { properties, request, resources } from "./operations"

export class Frontdesk implements INodeType {
	description: INodeTypeDescription = {
		displayName: "Frontdesk",
		name: "frontdesk",
		icon: { light: "file:frontdesk.svg", dark: "file:frontdesk.dark.svg" },
		group: ["transform"],
		version: 1,
		subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
		description: "Contacts, organizations, appointments, free times, submissions and tasks of Frontdesk",
		defaults: { name: "Frontdesk" },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: "frontdeskApi", required: true }],
		properties,
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const items = this.getInputData()
		const out: INodeExecutionData[] = []
		for (let i = 0; i < items.length; i++) {
			try {
				for (const json of await one(this, i)) out.push({ json, pairedItem: { item: i } })
			} catch (error) {
				// A refusal stays as it is.
				if (!this.continueOnFail()) throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: i })
				out.push({ json: { error: (error as Error).message, code: (error as IDataObject).code as string }, pairedItem: { item: i } })
			}
		}
		return [out]
	}
}

/** Runs the chosen operation for one item. */
async function one(node: IExecuteFunctions, i: number): Promise<IDataObject[]> {
	const resource = node.getNodeParameter("resource", i) as string
	const name = node.getNodeParameter("operation", i) as string
	const operation = resources[resource]?.operations.find((o) => o.value === name)
	if (!operation) throw new NodeOperationError(node.getNode(), `There is no operation ${name} of ${resource}`, { itemIndex: i })
	const id = operation.path.includes("{id}") ? (node.getNodeParameter("id", i) as string).trim() : ""
	if (operation.path.includes("{id}") && !id) throw new NodeOperationError(node.getNode(), "The ID is empty", { itemIndex: i })
	const { path, values } = request(operation, id, (parameter) => node.getNodeParameter(parameter, i, parameter === "more" ? {} : undefined))
	if (operation.list) {
		const limit = (node.getNodeParameter("returnAll", i) as boolean) ? Infinity : (node.getNodeParameter("limit", i) as number)
		if (operation.list === "paged") return list(node, path, values, limit, i)
		return ((await call(node, "GET", path, { query: values, item: i })).items as IDataObject[]).slice(0, limit)
	}
	const reads = operation.method === "GET" || operation.method === "DELETE"
	const answer = await call(node, operation.method, path, { ...(reads ? { query: values } : { body: values }), item: i })
	return [operation.method === "DELETE" ? { deleted: true, id, ...answer } : answer]
}
