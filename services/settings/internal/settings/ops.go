package settings

import (
	"net/http"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// codeAttempts are the tries of a second factor or a token per address.
var codeAttempts = []db.Limit{{N: 10, Per: time.Minute}}

func (s *service) ops() *op.Set {
	set := s.NewSet()

	// Signing in.
	op.AddOutside(set, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with login and password, and with a second factor where one is set up. The answer sets the session cookie."}, s.signIn)
	op.Add(set, op.Op{ID: "sign-out", Route: "POST /auth/logout", Perm: op.SignedIn, BeforeTwoFactor: true, Status: http.StatusNoContent, Ability: "-", Record: "user",
		Doc: "Sign out of this session."}, s.signOut)
	op.Add(set, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the session and its user."}, s.getSession)
	op.Add(set, op.Op{ID: "start-two-factor", Route: "POST /auth/two-factor", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Doc: "Make a secret for an authenticator. It is in force once it is confirmed."}, s.startTwoFactor)
	op.Add(set, op.Op{ID: "confirm-two-factor", Route: "POST /auth/two-factor/confirm", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor on with a code of the authenticator."}, s.confirmTwoFactor)
	op.Add(set, op.Op{ID: "end-two-factor", Route: "DELETE /auth/two-factor", Perm: op.SignedIn, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor off."}, s.endTwoFactor)
	op.Add(set, op.Op{ID: "forgot-password", Route: "POST /auth/password/forgot", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelApp,
		Limits: codeAttempts, LimitKey: "forgot", Doc: "Mail a link to choose a new password. The answer is the same for any address."}, s.forgotPassword)
	op.Add(set, op.Op{ID: "reset-password", Route: "POST /auth/password/reset", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a new password with the token of a mail."}, s.resetPassword)
	op.Add(set, op.Op{ID: "accept-invitation", Route: "POST /auth/invitation", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a password with the token of an invitation."}, s.acceptInvitation)
	op.Add(set, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the user who asks."}, getMe)
	op.Add(set, op.Op{ID: "list-application-passwords", Route: "GET /me/application-passwords", Perm: op.SignedIn, Ability: "-",
		Doc: "List the caller's application passwords."}, listApplicationPasswords)
	op.Add(set, op.Op{ID: "create-application-password", Route: "POST /me/application-passwords", Perm: op.SignedIn, Status: http.StatusCreated,
		Ability: "-", Record: "application_password", Doc: "Create an application password. It is shown this once."}, createApplicationPassword)
	op.Add(set, op.Op{ID: "delete-application-password", Route: "DELETE /me/application-passwords/{id}", Perm: op.SignedIn, Ability: "-",
		Record: "application_password", Doc: "Revoke an application password."}, deleteApplicationPassword)

	// Audit log.
	op.Add(set, op.Op{ID: "find-audit-entries", Route: "GET /audit-log", Perm: auth.ManageIntegrations, Doc: "List the audit log, newest first."}, findAuditEntries)
	op.AddDownload(set, op.Op{ID: "export-audit-log", Route: "GET /exports/audit-log.csv", Perm: auth.ManageIntegrations, Audited: true, Record: "audit_log",
		Doc: "Export the audit log as CSV. The export is itself recorded."}, exportAuditLog)
	op.Add(set, op.Op{ID: "list-mails", Route: "GET /mails", Perm: auth.ManageCRM, Ability: "-", Doc: "List the mails of the last 30 days and their outcome, newest first."}, listMails)

	// Team.
	op.Add(set, op.Op{ID: "invite-staff", Route: "POST /staff", Perm: auth.ManageCRM, Also: http.StatusCreated, Record: "user",
		Doc: "Invite somebody to the team by mail, or give a user one more role."}, s.inviteStaff)
	op.Add(set, op.Op{ID: "list-invitations", Route: "GET /staff/invitations", Perm: auth.ManageCRM, Doc: "List invitations that wait to be accepted."}, listInvitations)
	op.Add(set, op.Op{ID: "revoke-invitation", Route: "DELETE /staff/invitations/{id}", Perm: auth.ManageCRM, Record: "invitation",
		Doc: "Revoke an invitation. Its link stops working."}, revokeInvitation)
	op.Add(set, op.Op{ID: "set-staff-role", Route: "PUT /staff/{user}/role", Perm: auth.ManageCRM, Record: "user", Doc: "Give a member of the team another role."}, s.setStaffRole)
	op.Add(set, op.Op{ID: "list-team", Route: "GET /team", Perm: auth.ViewContacts, Doc: "List the people who can own contacts."}, s.listTeam)

	// Site settings.
	op.Add(set, op.Op{ID: "get-api-access", Route: "GET /settings/api-access", Perm: auth.ManageIntegrations,
		Doc: "Get the roles that reach the API with an application password."}, getAPIAccess)
	op.Add(set, op.Op{ID: "update-api-access", Route: "PATCH /settings/api-access", Perm: auth.ManageIntegrations, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose the roles that reach the API with an application password."}, updateAPIAccess)
	op.Add(set, op.Op{ID: "get-form-style", Route: "GET /settings/form-style", Perm: auth.ViewContacts, Doc: "Get how forms and the booking widget look."}, getFormStyle)
	op.Add(set, op.Op{ID: "update-form-style", Route: "PATCH /settings/form-style", Perm: auth.ManageCRM, Idempotent: true, Record: "settings",
		Doc: "Change how forms and the booking widget look."}, updateFormStyle)
	op.Add(set, op.Op{ID: "get-general-settings", Route: "GET /settings/general", Perm: auth.ManageCRM, Doc: "Get the business, its currency and country, and the proxy header."}, s.getGeneral)
	op.Add(set, op.Op{ID: "update-general-settings", Route: "PATCH /settings/general", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the general settings."}, s.updateGeneral)
	op.Add(set, op.Op{ID: "get-portal-settings", Route: "GET /settings/portal", Perm: auth.ManageCRM, Doc: "Get the portal's settings."}, s.getPortal)
	op.Add(set, op.Op{ID: "update-portal-settings", Route: "PATCH /settings/portal", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the portal's settings."}, s.updatePortal)
	op.AddOutside(set, op.Op{ID: "check-portal-host", Route: "POST /settings/portal/check-host", Perm: auth.ManageCRM, Record: "settings",
		Doc: "Check that the portal's host leads here. The portal moves there once it does."}, s.checkPortalHost)
	op.AddOutside(set, op.Op{ID: "portal-host-proof", Route: "GET /settings/portal/proof", Perm: op.Public, Ability: "-",
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "Prove to check-portal-host that an address leads to this installation."}, s.hostProof)
	op.Add(set, op.Op{ID: "check-portal-path", Route: "GET /settings/portal/path", Perm: auth.ManageCRM, Doc: "Check whether the portal can have a path."}, s.checkPortalPath)
	op.Add(set, op.Op{ID: "get-privacy-settings", Route: "GET /settings/privacy", Perm: auth.ManageCRM, Doc: "Get for how long data is kept."}, getPrivacy)
	op.Add(set, op.Op{ID: "update-privacy-settings", Route: "PATCH /settings/privacy", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose whether removing the installation deletes its data."}, updatePrivacy)

	op.Add(set, op.Op{ID: "get-roles", Route: "GET /settings/roles", Perm: auth.ManageCRM, Doc: "List roles, what they may do and what they see."}, getRoles)
	op.Add(set, op.Op{ID: "update-role", Route: "PATCH /settings/roles/{role}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "role",
		Doc: "Change what a role may do and see."}, updateRole)
	op.Add(set, op.Op{ID: "get-telemetry", Route: "GET /settings/telemetry", Perm: auth.ManageCRM, Doc: "Get what a person has agreed to send, and exactly what that is."}, s.getTelemetry)
	op.Add(set, op.Op{ID: "update-telemetry", Route: "PATCH /settings/telemetry", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "settings",
		Doc: "Agree to statistics or a company profile, or withdraw that. Only a person in the app can."}, s.updateTelemetry)
	op.Add(set, op.Op{ID: "confirm-telemetry", Route: "POST /settings/telemetry/confirm", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "settings",
		Channel: db.ChannelEmail, Limits: codeAttempts, LimitKey: "token", Doc: "Confirm the company profile with the token of a mail."}, confirmTelemetry)

	// Apps and the rest.
	op.Add(set, op.Op{ID: "list-apps", Route: "GET /apps", Perm: auth.ViewContacts, Doc: "List apps and whether each is on."}, listApps)
	op.AddOutside(set, op.Op{ID: "update-app", Route: "PATCH /apps/{app}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "app",
		Doc: "Switch an app on or off for the whole site."}, s.switchApp)
	op.Add(set, op.Op{ID: "get-setup", Route: "GET /setup", Perm: auth.ManageCRM, Doc: "Get how far the guide for a new site has come."}, getSetup)
	op.Add(set, op.Op{ID: "update-setup", Route: "PATCH /setup", Perm: auth.ManageCRM, Idempotent: true, Record: "settings", Doc: "Mark the guide for a new site as done or dismissed."}, updateSetup)
	op.Add(set, op.Op{ID: "get-ai-status", Route: "GET /integrations/ai", Perm: auth.ManageIntegrations, Doc: "List every ability, whether assistants may use it and whether it only reads."}, s.aiStatus)
	op.Add(set, op.Op{ID: "get-support", Route: "GET /support", Perm: auth.ViewContacts, Doc: "Get what goes along with a request for support."}, s.getSupport)
	op.Add(set, op.Op{ID: "request-support", Route: "POST /support/requests", Perm: auth.ViewContacts, PersonOnly: true, Ability: "-", Record: "support_request",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Send a request for support. Only a person in the app can."}, s.requestSupport)
	op.Add(set, op.Op{ID: "send-deactivation-feedback", Route: "POST /feedback/deactivate", Perm: op.SignedIn, Ability: "-", Record: "feedback",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Say why the service is switched off."}, s.deactivationFeedback)
	op.AddOutside(set, op.Op{ID: "get-openapi", Route: "GET /openapi.json", Perm: op.Public, Ability: "-",
		Doc: "Get the OpenAPI 3.1 description of this installation, with its custom fields."}, s.describe)

	// Pages.
	op.Add(set, op.Op{ID: "list-pages", Route: "GET /pages", Perm: auth.ViewContacts, Ability: "-", Doc: "List the site's own pages."}, s.listPages)
	op.Add(set, op.Op{ID: "create-page", Route: "POST /pages", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "page", Doc: "Create a page."}, s.createPage)
	op.Add(set, op.Op{ID: "get-page", Route: "GET /pages/{id}", Perm: auth.ViewContacts, Ability: "-", Doc: "Get a page."}, s.getPage)
	op.Add(set, op.Op{ID: "update-page", Route: "PATCH /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Change a page."}, s.updatePage)
	op.Add(set, op.Op{ID: "delete-page", Route: "DELETE /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Delete a page."}, s.deletePage)

	// Abilities; each service runs its own.
	op.AddOutside(set, op.Op{ID: "list-abilities", Route: "GET /abilities", Perm: op.SignedIn, ForAssistants: true, Ability: "-", Doc: "List abilities that are exposed to assistants."}, s.listAbilities)
	// An ability has routes of its own in its service, which go before these.
	op.AddOutside(set, op.Op{ID: "get-ability", Route: "GET /abilities/svc/{name}", Perm: op.SignedIn, ForAssistants: true, Ability: "-",
		Doc: "Get one ability that is exposed to assistants."}, s.noAbility(""))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		op.AddOutside(set, op.Op{ID: "run-ability-" + strings.ToLower(method), Route: method + " /abilities/svc/{name}/run", Perm: op.SignedIn, ForAssistants: true,
			Ability: "-", Doc: "Run an ability: GET when it only reads, DELETE when it destroys and may be repeated, else POST."}, s.noAbility(method))
	}
	return set
}
