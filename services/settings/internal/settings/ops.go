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

func (s *service) operations() *op.Set {
	o := s.NewSet()

	// Signing in.
	op.AddOutside(o, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with login and password, and a second factor where one is set up; sets the session cookie."}, s.signIn)
	op.Add(o, op.Op{ID: "sign-out", Route: "POST /auth/logout", Perm: op.SignedIn, Status: http.StatusNoContent, Ability: "-", Record: "user",
		Doc: "Sign out of this session."}, s.signOut)
	op.Add(o, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, Ability: "-", Doc: "The session and its user."}, s.getSession)
	op.Add(o, op.Op{ID: "start-two-factor", Route: "POST /auth/two-factor", Perm: op.SignedIn, Ability: "-", Record: "user",
		Doc: "Make a secret for an authenticator; it counts once it is confirmed."}, s.startTwoFactor)
	op.Add(o, op.Op{ID: "confirm-two-factor", Route: "POST /auth/two-factor/confirm", Perm: op.SignedIn, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor on with a code of the authenticator."}, s.confirmTwoFactor)
	op.Add(o, op.Op{ID: "end-two-factor", Route: "DELETE /auth/two-factor", Perm: op.SignedIn, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor off."}, s.endTwoFactor)
	op.Add(o, op.Op{ID: "forgot-password", Route: "POST /auth/password/forgot", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelApp,
		Limits: codeAttempts, LimitKey: "forgot", Doc: "Mail a link to choose a new password; the answer is the same for any address."}, s.forgotPassword)
	op.Add(o, op.Op{ID: "reset-password", Route: "POST /auth/password/reset", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a new password with the token of a mail."}, s.resetPassword)
	op.Add(o, op.Op{ID: "accept-invitation", Route: "POST /auth/invitation", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a password with the token of an invitation."}, s.acceptInvitation)
	op.Add(o, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, Ability: "-", Doc: "The user who asks."}, getMe)
	op.Add(o, op.Op{ID: "list-application-passwords", Route: "GET /me/application-passwords", Perm: op.SignedIn, Ability: "-",
		Doc: "The caller's application passwords."}, listApplicationPasswords)
	op.Add(o, op.Op{ID: "create-application-password", Route: "POST /me/application-passwords", Perm: op.SignedIn, Status: http.StatusCreated,
		Ability: "-", Record: "application_password", Doc: "Make an application password; it is shown this once."}, createApplicationPassword)
	op.Add(o, op.Op{ID: "delete-application-password", Route: "DELETE /me/application-passwords/{id}", Perm: op.SignedIn, Ability: "-",
		Record: "application_password", Doc: "Revoke an application password."}, deleteApplicationPassword)

	// Audit log.
	op.Add(o, op.Op{ID: "find-audit-entries", Route: "GET /audit-log", Perm: auth.ManageIntegrations, Doc: "The audit log, newest first."}, findAuditEntries)
	op.AddDownload(o, op.Op{ID: "export-audit-log", Route: "GET /exports/audit-log.csv", Perm: auth.ManageIntegrations, Audited: true, Record: "audit_log",
		Doc: "The audit log as CSV; the export is itself recorded."}, exportAuditLog)
	op.Add(o, op.Op{ID: "list-mails", Route: "GET /mails", Perm: auth.ManageCRM, Ability: "-", Doc: "Mails of the last 30 days and how they went, newest first."}, listMails)

	// Team.
	op.Add(o, op.Op{ID: "invite-staff", Route: "POST /staff", Perm: auth.ManageCRM, Also: http.StatusCreated, Record: "user",
		Doc: "Invite somebody to the team by mail, or give a user one more role."}, s.inviteStaff)
	op.Add(o, op.Op{ID: "list-invitations", Route: "GET /staff/invitations", Perm: auth.ManageCRM, Doc: "Invitations that wait to be accepted."}, listInvitations)
	op.Add(o, op.Op{ID: "revoke-invitation", Route: "DELETE /staff/invitations/{id}", Perm: auth.ManageCRM, Record: "invitation",
		Doc: "Revoke an invitation; its link stops working."}, revokeInvitation)
	op.Add(o, op.Op{ID: "set-staff-role", Route: "PUT /staff/{user}/role", Perm: auth.ManageCRM, Record: "user", Doc: "Give a member of the team another role."}, s.setStaffRole)
	op.Add(o, op.Op{ID: "list-team", Route: "GET /team", Perm: auth.ViewContacts, Doc: "The people who can own contacts."}, s.listTeam)

	// Site settings.
	op.Add(o, op.Op{ID: "get-api-access", Route: "GET /settings/api-access", Perm: auth.ManageIntegrations,
		Doc: "Roles that reach the API with an application password."}, getAPIAccess)
	op.Add(o, op.Op{ID: "update-api-access", Route: "PATCH /settings/api-access", Perm: auth.ManageIntegrations, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose the roles that reach the API with an application password."}, updateAPIAccess)
	op.Add(o, op.Op{ID: "get-form-style", Route: "GET /settings/form-style", Perm: auth.ViewContacts, Doc: "How forms and the booking widget look."}, getFormStyle)
	op.Add(o, op.Op{ID: "update-form-style", Route: "PATCH /settings/form-style", Perm: auth.ManageCRM, Idempotent: true, Record: "settings",
		Doc: "Change how forms and the booking widget look."}, updateFormStyle)
	op.Add(o, op.Op{ID: "get-general-settings", Route: "GET /settings/general", Perm: auth.ManageCRM, Doc: "The business, its currency and country, and the proxy header."}, s.getGeneral)
	op.Add(o, op.Op{ID: "update-general-settings", Route: "PATCH /settings/general", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the general settings."}, s.updateGeneral)
	op.Add(o, op.Op{ID: "get-portal-settings", Route: "GET /settings/portal", Perm: auth.ManageCRM, Doc: "The portal's settings."}, s.getPortal)
	op.Add(o, op.Op{ID: "update-portal-settings", Route: "PATCH /settings/portal", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the portal's settings."}, s.updatePortal)
	op.AddOutside(o, op.Op{ID: "check-portal-host", Route: "POST /settings/portal/check-host", Perm: auth.ManageCRM, Record: "settings",
		Doc: "Check that the portal's host leads here; the portal moves there once it does."}, s.checkPortalHost)
	op.AddOutside(o, op.Op{ID: "portal-host-proof", Route: "GET /settings/portal/proof", Perm: op.Public, Ability: "-",
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "What check-portal-host asks for, to know its own installation."}, s.hostProof)
	op.Add(o, op.Op{ID: "check-portal-path", Route: "GET /settings/portal/path", Perm: auth.ManageCRM, Doc: "Whether the portal can have a path."}, s.checkPortalPath)
	op.Add(o, op.Op{ID: "get-privacy-settings", Route: "GET /settings/privacy", Perm: auth.ManageCRM, Doc: "How long things are kept."}, getPrivacy)
	op.Add(o, op.Op{ID: "update-privacy-settings", Route: "PATCH /settings/privacy", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose whether removing the installation deletes its data."}, updatePrivacy)

	op.Add(o, op.Op{ID: "get-roles", Route: "GET /settings/roles", Perm: auth.ManageCRM, Doc: "Roles, what they may do and what they see."}, getRoles)
	op.Add(o, op.Op{ID: "update-role", Route: "PATCH /settings/roles/{role}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "role",
		Doc: "Change what a role may do and see."}, updateRole)
	op.Add(o, op.Op{ID: "get-telemetry", Route: "GET /settings/telemetry", Perm: auth.ManageCRM, Doc: "What was agreed to be sent, and what that is."}, s.getTelemetry)
	op.Add(o, op.Op{ID: "update-telemetry", Route: "PATCH /settings/telemetry", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "settings",
		Doc: "Agree to statistics or a company profile, or take that back; only a person in the app can."}, s.updateTelemetry)
	op.Add(o, op.Op{ID: "confirm-telemetry", Route: "POST /settings/telemetry/confirm", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "settings",
		Channel: db.ChannelEmail, Limits: codeAttempts, LimitKey: "token", Doc: "Confirm the company profile with the token of a mail."}, confirmTelemetry)

	// Apps and the rest.
	op.Add(o, op.Op{ID: "list-apps", Route: "GET /apps", Perm: auth.ViewContacts, Doc: "Apps and whether each is on."}, listApps)
	op.AddOutside(o, op.Op{ID: "update-app", Route: "PATCH /apps/{app}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "app",
		Doc: "Switch an app on or off for the whole site."}, s.switchApp)
	op.Add(o, op.Op{ID: "get-setup", Route: "GET /setup", Perm: auth.ManageCRM, Doc: "How far the guide for a new site has come."}, getSetup)
	op.Add(o, op.Op{ID: "update-setup", Route: "PATCH /setup", Perm: auth.ManageCRM, Idempotent: true, Record: "settings", Doc: "Mark the guide as done or put it away."}, updateSetup)
	op.Add(o, op.Op{ID: "get-ai-status", Route: "GET /integrations/ai", Perm: auth.ManageIntegrations, Doc: "Every ability, whether assistants may use it and whether it only reads."}, s.aiStatus)
	op.Add(o, op.Op{ID: "get-support", Route: "GET /support", Perm: auth.ViewContacts, Doc: "What goes along with a request for support."}, s.getSupport)
	op.Add(o, op.Op{ID: "request-support", Route: "POST /support/requests", Perm: auth.ViewContacts, PersonOnly: true, Ability: "-", Record: "support_request",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Send a request for support; only a person in the app can."}, s.requestSupport)
	op.Add(o, op.Op{ID: "send-deactivation-feedback", Route: "POST /feedback/deactivate", Perm: op.SignedIn, Ability: "-", Record: "feedback",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Say why the service is switched off."}, s.deactivationFeedback)
	op.AddOutside(o, op.Op{ID: "get-openapi", Route: "GET /openapi.json", Perm: op.Public, Ability: "-",
		Doc: "The OpenAPI 3.1 description of this installation, with its custom fields."}, s.describe)

	// Pages.
	op.Add(o, op.Op{ID: "list-pages", Route: "GET /pages", Perm: auth.ViewContacts, Ability: "-", Doc: "The site's own pages."}, s.listPages)
	op.Add(o, op.Op{ID: "create-page", Route: "POST /pages", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "page", Doc: "Make a page."}, s.createPage)
	op.Add(o, op.Op{ID: "get-page", Route: "GET /pages/{id}", Perm: auth.ViewContacts, Ability: "-", Doc: "A page."}, s.getPage)
	op.Add(o, op.Op{ID: "update-page", Route: "PATCH /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Change a page."}, s.updatePage)
	op.Add(o, op.Op{ID: "delete-page", Route: "DELETE /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Delete a page."}, s.deletePage)

	// Abilities; each service runs its own.
	op.AddOutside(o, op.Op{ID: "list-abilities", Route: "GET /abilities", Perm: op.SignedIn, ForAssistants: true, Ability: "-", Doc: "Abilities that are exposed to assistants."}, s.listAbilities)
	// An ability has routes of its own in its service, which go before these.
	op.AddOutside(o, op.Op{ID: "get-ability", Route: "GET /abilities/svc/{name}", Perm: op.SignedIn, ForAssistants: true, Ability: "-",
		Doc: "One ability that is exposed to assistants."}, s.noAbility(""))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		op.AddOutside(o, op.Op{ID: "run-ability-" + strings.ToLower(method), Route: method + " /abilities/svc/{name}/run", Perm: op.SignedIn, ForAssistants: true,
			Ability: "-", Doc: "Run an ability: GET when it only reads, DELETE when it destroys and may be repeated, else POST."}, s.noAbility(method))
	}
	return o
}
