import type { IDataObject, IHttpRequestMethods, INodeProperties, INodePropertyOptions } from "n8n-workflow"

/** One operation of the API as the node offers it. */
interface Operation {
	name: string
	value: string
	/** The entry in the list of actions. */
	action: string
	method: IHttpRequestMethods
	/** {id} is the record's id. */
	path: string
	/** It is a list, in pages or whole. */
	list?: "paged" | "whole"
	required?: Field[]
	/** More of the body, or the filters of a list. */
	optional?: Field[]
}

interface Field {
	name: string
	label: string
	type?: "string" | "text" | "number" | "boolean" | "dateTime" | "day" | "options" | "strings" | "json" | "password"
	options?: INodePropertyOptions[]
	about?: string
}

const f = (name: string, label: string, type: Field["type"] = "string", about?: string): Field => ({ name, label, type, about })
const choice = (name: string, label: string, ...values: string[]): Field => ({
	name, label, type: "options", options: values.map((value) => ({ name: value.replace(/^-?./, (c) => c.toUpperCase()).replaceAll("_", " ").replace(/(?<= )./g, (c) => c.toUpperCase()), value })),
})
const owner = f("owner_user_id", "Owner User ID", "number", "User ID of a member of the team")
const custom = f("fields", "Custom Fields", "json", "Custom fields by their keys, as JSON")
const person = [f("first_name", "First Name"), f("last_name", "Last Name"), f("email", "Email"), f("phone", "Phone"), choice("status", "Status", "lead", "customer", "inactive"),
	f("source", "Source"), owner, f("tags", "Tags", "strings", "Names, with commas between them"), custom]
const company = [f("vat_number", "VAT Number"), f("email", "Email"), f("phone", "Phone"), f("website", "Website"), f("address_line", "Address Line"), f("postal_code", "Postal Code"), f("city", "City"), f("country", "Country", "string", "Two letters, such as BE"), owner, custom]
const period = [f("from", "From", "day", "First local day of the business, as YYYY-MM-DD"), f("to", "To", "day", "Last local day of the business, at most 62 days after the first")]
const task = [f("body", "Body", "text"), f("due_on", "Due On", "day", "Local day of the business, as YYYY-MM-DD"), owner, f("contact", "Contact ID"), f("organization", "Organization ID"), f("appointment", "Appointment ID")]
const mode: Field = { ...choice("mode", "Mode", "overwrite", "fill_empty"), about: "Whether fields that have a value get the new one, or only those that are empty" }
const reason = f("reason", "Reason", "string", "For the team only; the client is not told")

/** The operations, by resource. */
export const resources: Record<string, { name: string; operations: Operation[] }> = {
	appointment: {
		name: "Appointment",
		operations: [
			{ name: "Book", value: "book", action: "Book an appointment", method: "POST", path: "/appointments",
				required: [f("contact", "Contact ID"), f("service", "Service ID"), f("starts_at", "Starts At", "dateTime", "A free time, as Get Many of Free Time answers it")],
				optional: [f("staff", "Staff User ID", "number", "Who does it; the least busy person when left out"), f("notes", "Notes", "text"), f("location", "Location"), f("meeting_url", "Meeting URL"), f("outside_hours", "Outside Hours", "boolean"), choice("status", "Status", "confirmed", "pending")] },
			{ name: "Cancel", value: "cancel", action: "Cancel an appointment", method: "POST", path: "/appointments/{id}/cancel", optional: [reason] },
			{ name: "Complete", value: "complete", action: "Complete an appointment", method: "POST", path: "/appointments/{id}/complete" },
			{ name: "Confirm", value: "confirm", action: "Confirm a request", method: "POST", path: "/appointments/{id}/confirm" },
			{ name: "Decline", value: "decline", action: "Decline a request", method: "POST", path: "/appointments/{id}/decline", optional: [reason] },
			{ name: "Get", value: "get", action: "Get an appointment", method: "GET", path: "/appointments/{id}" },
			{ name: "Get Many", value: "getAll", action: "Get many appointments", method: "GET", path: "/appointments", list: "paged",
				optional: [...period, f("staff", "Staff User ID", "number"), f("contact", "Contact ID"), f("status", "Status", "strings", "Such as pending, confirmed"), f("search", "Search"), f("updated_since", "Updated Since", "dateTime")] },
			{ name: "Mark as No-Show", value: "noShow", action: "Mark an appointment as no show", method: "POST", path: "/appointments/{id}/no-show" },
			{ name: "Reschedule", value: "reschedule", action: "Reschedule an appointment", method: "POST", path: "/appointments/{id}/reschedule",
				required: [f("starts_at", "Starts At", "dateTime")], optional: [f("staff", "Staff User ID", "number"), f("outside_hours", "Outside Hours", "boolean")] },
			{ name: "Update Note", value: "update", action: "Update the internal note of an appointment", method: "PATCH", path: "/appointments/{id}", required: [f("notes", "Notes", "text")] },
		],
	},
	contact: {
		name: "Contact",
		operations: [
			{ name: "Add Note", value: "addNote", action: "Add a note to a contact", method: "POST", path: "/contacts/{id}/notes", required: [f("body", "Note", "text")] },
			{ name: "Create", value: "create", action: "Create a contact", method: "POST", path: "/contacts", optional: person },
			{ name: "Delete", value: "delete", action: "Delete a contact", method: "DELETE", path: "/contacts/{id}" },
			{ name: "Get", value: "get", action: "Get a contact", method: "GET", path: "/contacts/{id}" },
			{ name: "Get Many", value: "getAll", action: "Get many contacts", method: "GET", path: "/contacts", list: "paged",
				optional: [f("search", "Search"), choice("status", "Status", "lead", "customer", "inactive"), f("tag", "Tag"), f("owner", "Owner User ID", "number"), f("updated_since", "Updated Since", "dateTime"), choice("sort", "Sort", "name", "-created_at", "created_at", "-last_activity")] },
			{ name: "Restore", value: "restore", action: "Restore a contact from the trash", method: "POST", path: "/contacts/{id}/restore" },
			{ name: "Update", value: "update", action: "Update a contact", method: "PATCH", path: "/contacts/{id}", required: [mode], optional: person },
		],
	},
	freeTime: {
		name: "Free Time",
		operations: [
			{ name: "Get Many", value: "getAll", action: "Get many free times", method: "GET", path: "/slots", list: "whole", required: [f("service", "Service ID")], optional: [f("staff", "Staff User ID", "number"), ...period] },
		],
	},
	organization: {
		name: "Organization",
		operations: [
			{ name: "Add Note", value: "addNote", action: "Add a note to an organization", method: "POST", path: "/organizations/{id}/notes", required: [f("body", "Note", "text")] },
			{ name: "Create", value: "create", action: "Create an organization", method: "POST", path: "/organizations", required: [f("name", "Name")], optional: company },
			{ name: "Delete", value: "delete", action: "Delete an organization", method: "DELETE", path: "/organizations/{id}" },
			{ name: "Get", value: "get", action: "Get an organization", method: "GET", path: "/organizations/{id}" },
			{ name: "Get Many", value: "getAll", action: "Get many organizations", method: "GET", path: "/organizations", list: "paged", optional: [f("search", "Search"), f("owner", "Owner User ID", "number"), f("updated_since", "Updated Since", "dateTime")] },
			{ name: "Update", value: "update", action: "Update an organization", method: "PATCH", path: "/organizations/{id}", required: [mode], optional: [f("name", "Name"), ...company] },
		],
	},
	submission: {
		name: "Submission",
		operations: [
			{ name: "Delete", value: "delete", action: "Delete a submission for good", method: "DELETE", path: "/submissions/{id}" },
			{ name: "Get", value: "get", action: "Get a submission", method: "GET", path: "/submissions/{id}" },
			{ name: "Get Many", value: "getAll", action: "Get many submissions", method: "GET", path: "/submissions", list: "paged",
				optional: [f("form", "Form ID", "number"), choice("status", "Status", "received", "spam"), f("contact", "Contact ID"), f("created_since", "Created Since", "dateTime"), f("created_until", "Created Until", "dateTime")] },
			{ name: "Mark as Not Spam", value: "notSpam", action: "Mark a submission as not spam", method: "POST", path: "/submissions/{id}/not-spam" },
			{ name: "Mark as Spam", value: "spam", action: "Mark a submission as spam", method: "POST", path: "/submissions/{id}/spam" },
		],
	},
	task: {
		name: "Task",
		operations: [
			{ name: "Complete", value: "done", action: "Complete a task", method: "POST", path: "/tasks/{id}/done" },
			{ name: "Create", value: "create", action: "Create a task", method: "POST", path: "/tasks", required: [f("title", "Title")], optional: task },
			{ name: "Delete", value: "delete", action: "Delete a task", method: "DELETE", path: "/tasks/{id}" },
			{ name: "Get", value: "get", action: "Get a task", method: "GET", path: "/tasks/{id}" },
			{ name: "Get Many", value: "getAll", action: "Get many tasks", method: "GET", path: "/tasks", list: "paged",
				optional: [f("owner", "Owner User ID", "number"), f("contact", "Contact ID"), f("organization", "Organization ID"), f("done", "Done", "boolean"), f("due_from", "Due From", "day"), f("due_to", "Due To", "day")] },
			{ name: "Reopen", value: "reopen", action: "Reopen a task", method: "POST", path: "/tasks/{id}/reopen" },
			{ name: "Update", value: "update", action: "Update a task", method: "PATCH", path: "/tasks/{id}", optional: [f("title", "Title"), ...task] },
		],
	},
}

/** A value that was typed, as the API takes it. */
export function valueOf(field: Field, typed: unknown): unknown {
	if (field.type === "strings") return String(typed).split(",").map((s) => s.trim()).filter(Boolean)
	if (field.type === "json") return typeof typed === "string" ? JSON.parse(typed) : typed
	if (field.type === "day") return String(typed).slice(0, 10)
	// A time without a zone is that of the workflow, and n8n writes it so.
	if (field.type === "dateTime") return new Date(String(typed)).toISOString()
	return typed
}

function property(field: Field): INodeProperties {
	const common = { displayName: field.label, name: field.name, ...(field.about ? { description: field.about } : {}) }
	switch (field.type) {
		case "number":
			return { ...common, type: "number", default: 0 }
		case "boolean":
			return { ...common, type: "boolean", default: false, description: field.about ?? `Whether ${field.label.toLowerCase()} counts` }
		case "dateTime":
			return { ...common, type: "dateTime", default: "" }
		case "options":
			return { ...common, type: "options", options: field.options!, default: field.options![0]!.value }
		case "json":
			return { ...common, type: "json", default: "{}" }
		case "text":
			return { ...common, type: "string", typeOptions: { rows: 4 }, default: "" }
		default:
			return { ...common, type: "string", default: "", ...(field.name === "email" ? { placeholder: "name@email.com" } : {}) }
	}
}

const sorted = (fields: Field[]) => fields.map(property).sort((a, b) => a.displayName.localeCompare(b.displayName))

/** The controls of the node. */
export const properties: INodeProperties[] = [
	{ displayName: "Resource", name: "resource", type: "options", noDataExpression: true, options: Object.entries(resources).map(([value, { name }]) => ({ name, value })), default: "contact" },
	...Object.entries(resources).flatMap(([resource, { name, operations }]): INodeProperties[] => {
		const show = (operation: string[]) => ({ show: { resource: [resource], operation } })
		const values = (which: (o: Operation) => unknown) => operations.filter(which).map((o) => o.value)
		const lists = values((o) => o.list)
		return [
			{ displayName: "Operation", name: "operation", type: "options", noDataExpression: true, displayOptions: { show: { resource: [resource] } },
				options: operations.map((o) => ({ name: o.name, value: o.value, action: o.action })), default: "getAll" },
			...(values((o) => o.path.includes("{id}")).length
				? [{ displayName: `${name} ID`, name: "id", type: "string" as const, required: true, default: "", displayOptions: show(values((o) => o.path.includes("{id}"))) }]
				: []),
			...operations.flatMap((o) => (o.required ?? []).map((field) => ({ ...property(field), required: true, displayOptions: show([o.value]) }))),
			...(lists.length
				? [
						{ displayName: "Return All", name: "returnAll", type: "boolean" as const, default: false, description: "Whether to return all results or only up to a given limit", displayOptions: show(lists) },
						{ displayName: "Limit", name: "limit", type: "number" as const, default: 50, typeOptions: { minValue: 1 }, description: "Max number of results to return", displayOptions: { show: { resource: [resource], operation: lists, returnAll: [false] } } },
					]
				: []),
			...operations.filter((o) => o.optional?.length).map((o): INodeProperties => ({
				displayName: o.list ? "Filters" : o.method === "PATCH" ? "Update Fields" : "Additional Fields",
				name: "more", type: "collection", placeholder: o.list ? "Add Filter" : "Add Field", default: {}, options: sorted(o.optional!), displayOptions: show([o.value]),
			})),
		]
	}),
]

/** The request of an operation: query for what reads, body for what writes. */
export function request(operation: Operation, id: string, given: (name: string) => unknown): { path: string; values: IDataObject } {
	const values: IDataObject = {}
	for (const field of operation.required ?? []) values[field.name] = valueOf(field, given(field.name)) as IDataObject
	const more = (operation.optional?.length ? given("more") : {}) as IDataObject
	for (const field of operation.optional ?? []) if (field.name in more) values[field.name] = valueOf(field, more[field.name]) as IDataObject
	return { path: operation.path.replace("{id}", encodeURIComponent(id)), values }
}
