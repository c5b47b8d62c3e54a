import type { IAuthenticateGeneric, Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from "n8n-workflow"

export class FrontdeskApi implements ICredentialType {
	name = "frontdeskApi"

	displayName = "Frontdesk API"

	icon: Icon = { light: "file:frontdesk.svg", dark: "file:frontdesk.dark.svg" }

	documentationUrl = "https://desk.example.com/v1/docs/guides/n8n"

	properties: INodeProperties[] = [
		{
			displayName: "Address",
			name: "address",
			type: "string",
			default: "",
			placeholder: "https://desk.example.com",
			description: "Where your Frontdesk is, without a path",
			required: true,
		},
		{
			displayName: "Login",
			name: "login",
			type: "string",
			default: "",
			required: true,
		},
		{
			displayName: "Application Password",
			name: "password",
			type: "string",
			typeOptions: { password: true },
			default: "",
			description: "Made on your page of application passwords in Frontdesk. It may do what you may do there, or less if you limit it. The trigger needs svc_manage_integrations.",
			required: true,
		},
	]

	authenticate: IAuthenticateGeneric = {
		type: "generic",
		properties: { auth: { username: "={{$credentials.login}}", password: "={{$credentials.password}}" } },
	}

	test: ICredentialTestRequest = {
		request: { baseURL: "={{$credentials.address.replace(/\\/+$/, '')}}", url: "/v1/me" },
	}
}
