package settings

import (
	_ "embed"
	"net/http"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// codeAttempts are the tries of a second factor or a token per address.
var codeAttempts = []db.Limit{{N: 10, Per: time.Minute}}

// When operations are refused, see op.Fails.
const (
	failPassword      = "The session has not seen the password within ten minutes: POST /auth/confirm first."
	failPerson        = "Only a person who is signed in may do this, and no application password."
	failLink          = "The link is not one of ours."
	failExpired       = "The link was used, replaced or is too old."
	failRights        = "The person or the role has rights that the caller does not hold."
	failAdministrator = "Only a site administrator may do this to a site administrator."
	failAPIAccess     = "The role of the caller does not reach the API."
	failSlug          = "The address belongs to something else."
	failAbilityTaken  = "The person who connected the assistant has taken this ability away from it."
)

func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)

	set.Under("Signing in", "Sessions of people, second factors and passkeys. Integrations do not need them: they send an application password with each call.")
	// Signing in.
	op.AddOutside(set, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with login and password, and with a second factor where one is set up. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_unauthorized":        "Login and password do not fit, or the code of the second factor is wrong.",
			"svc_two_factor_required": "The second factor is set up: send its code along."}}, s.signIn)
	op.Add(set, op.Op{ID: "start-passkey-sign-in", Route: "POST /auth/login/options", Perm: op.Public, SameOrigin: true, Ability: "-", Reads: true,
		Limits: codeAttempts, LimitKey: "passkey", Doc: "Make the challenge for signing in with a passkey."}, s.startPasskeySignIn)
	op.AddOutside(set, op.Op{ID: "passkey-sign-in", Route: "POST /auth/login/passkey", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with a passkey, which needs neither password nor second factor. The answer sets the session cookie.",
		Fails: op.Fails{"svc_unauthorized": "The passkey was not accepted."}}, s.passkeySignIn)
	op.Add(set, op.Op{ID: "sign-out", Route: "POST /auth/logout", Perm: op.SignedIn, BeforeTwoFactor: true, Status: http.StatusNoContent, Ability: "-", Record: "user",
		Doc: "Sign out of this session."}, s.signOut)
	op.Add(set, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the session and its user."}, s.getSession)
	op.Add(set, op.Op{ID: "start-two-factor", Route: "POST /auth/two-factor", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Doc: "Make a secret for an authenticator. It is in force once it is confirmed.",
		Fails: op.Fails{
			"svc_invalid_status":        "The second factor is on already.",
			"svc_password_required":     failPassword,
			"svc_forbidden person_only": failPerson}}, s.startTwoFactor)
	op.AddOutside(set, op.Op{ID: "confirm-two-factor", Route: "POST /auth/two-factor/confirm", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor on with a code of the authenticator.",
		Fails: op.Fails{
			"svc_invalid_status":        "There is no secret to confirm: ask for one first.",
			"svc_password_required":     failPassword,
			"svc_forbidden person_only": failPerson}}, s.confirmTwoFactor)
	op.AddOutside(set, op.Op{ID: "end-two-factor", Route: "DELETE /auth/two-factor", Perm: op.SignedIn, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor off.",
		Fails: op.Fails{"svc_invalid_status": "There is no second factor.", "svc_password_required": failPassword, "svc_forbidden person_only": failPerson}}, s.endTwoFactor)
	op.Add(set, op.Op{ID: "forgot-password", Route: "POST /auth/password/forgot", Perm: op.Public, SameOrigin: true, Ability: "-", Unaudited: true, Channel: db.ChannelApp,
		Limits: codeAttempts, LimitKey: "forgot", Doc: "Mail a link to choose a new password. The answer is the same for any address."}, forgotPassword)
	op.AddOutside(set, op.Op{ID: "reset-password", Route: "POST /auth/password/reset", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a new password with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The user is gone by now."}}, s.resetPassword)
	op.AddOutside(set, op.Op{ID: "accept-invitation", Route: "POST /auth/invitation", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a password with the token of an invitation.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The user is gone by now."}}, s.acceptInvitation)
	op.AddOutside(set, op.Op{ID: "confirm-password", Route: "POST /auth/confirm", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Confirm that the person at the session knows the password. Second factors and application passwords need that within ten minutes."}, s.confirmPassword)
	op.Add(set, op.Op{ID: "list-sessions", Route: "GET /auth/sessions", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the caller's browsers that are signed in."}, listSessions)
	op.Add(set, op.Op{ID: "end-session", Route: "DELETE /auth/sessions/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "session",
		Doc: "Sign one of the caller's browsers out."}, endOpenSession)
	op.Add(set, op.Op{ID: "list-passkeys", Route: "GET /auth/passkeys", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the caller's passkeys."}, listPasskeys)
	op.Add(set, op.Op{ID: "start-passkey", Route: "POST /auth/passkeys/options", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Reads: true,
		Doc:   "Make the challenge for a new passkey. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{"svc_password_required": failPassword}}, s.startPasskey)
	op.Add(set, op.Op{ID: "create-passkey", Route: "POST /auth/passkeys", Perm: op.SignedIn, PersonOnly: true, Status: http.StatusCreated, Ability: "-", Record: "passkey",
		Doc:   "Add the passkey that a device has made.",
		Fails: op.Fails{"svc_conflict too_many": "The caller has as many passkeys as one can have.", "svc_password_required": failPassword}}, s.addPasskey)
	op.Add(set, op.Op{ID: "delete-passkey", Route: "DELETE /auth/passkeys/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "passkey",
		Doc:   "Remove one of the caller's passkeys.",
		Fails: op.Fails{"svc_password_required": failPassword}}, deletePasskey)
	set.Under("Me and my keys", "The caller, and the application passwords by which integrations call in their name.")
	op.Add(set, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the user who asks."}, getMe)
	op.Add(set, op.Op{ID: "list-application-passwords", Route: "GET /me/application-passwords", Perm: op.SignedIn, Ability: "-",
		Doc: "List the caller's application passwords."}, listApplicationPasswords)
	op.Add(set, op.Op{ID: "create-application-password", Route: "POST /me/application-passwords", Perm: op.SignedIn, Status: http.StatusCreated,
		Ability: "-", Record: "application_password", Doc: "Create an application password. It is shown this once. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{
			"svc_conflict too_many":     "The caller has as many application passwords as one can have.",
			"svc_password_required":     failPassword,
			"svc_forbidden person_only": failPerson}}, s.createApplicationPassword)
	op.Add(set, op.Op{ID: "delete-application-password", Route: "DELETE /me/application-passwords/{id}", Perm: op.SignedIn, Ability: "-",
		Record: "application_password", Doc: "Revoke an application password."}, deleteApplicationPassword)

	set.Under("Connected assistants", "Assistants that were connected by OAuth.")
	// Connected assistants. What follows a consent is OAuth: see oauth.go.
	op.Add(set, op.Op{ID: "list-connections", Route: "GET /me/connections", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the assistants that the caller has connected."}, listConnections)
	op.Add(set, op.Op{ID: "check-connection", Route: "GET /me/connections/check", Perm: op.SignedIn, PersonOnly: true, Ability: "-",
		Doc:   "Check what an assistant asks for before the caller agrees to it.",
		Fails: op.Fails{"svc_conflict api_access": failAPIAccess}}, s.checkConnection)
	op.Add(set, op.Op{ID: "connect-assistant", Route: "POST /me/connections", Perm: op.SignedIn, PersonOnly: true, Status: http.StatusCreated, Ability: "-", Record: "connection",
		Doc: "Agree that an assistant acts in the caller's name. The answer says where to lead the caller now. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{
			"svc_conflict api_access": failAPIAccess,
			"svc_conflict too_many":   "The caller has as many connections as one can have.",
			"svc_password_required":   failPassword}}, s.connect)
	op.Add(set, op.Op{ID: "delete-connection", Route: "DELETE /me/connections/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "connection",
		Doc: "End the connection of an assistant, and all of its tokens."}, deleteConnection)

	set.Under("Audit log and mails", "Who did what through which channel, and what was mailed.")
	// Audit log.
	op.Add(set, op.Op{ID: "find-audit-entries", Route: "GET /audit-log", Perm: auth.ManageIntegrations, Doc: "List the audit log, newest first.",
		Use: "Use it to find who did what, and through which channel. Answers with one page and next_cursor; entries are kept for a year."}, findAuditEntries)
	op.AddDownload(set, op.Op{ID: "export-audit-log", Route: "GET /exports/audit-log.csv", Perm: auth.ManageIntegrations, Audited: true, Record: "audit_log",
		Doc: "Export the audit log as CSV. The export is itself recorded.",
		Use: "Use it for a file that the person asked for; to read, find-audit-entries is better. Answers with the CSV as text, at most 4 MiB."}, exportAuditLog)
	op.Add(set, op.Op{ID: "list-mails", Route: "GET /mails", Perm: auth.ManageCRM, Ability: "-", Doc: "List the mails of the last 30 days and their outcome, newest first."}, listMails)

	set.Under("Team", "People of the team: their hours, time off, roles and access.")
	// Team.
	op.Add(set, op.Op{ID: "invite-staff", Route: "POST /staff", Perm: auth.ManageCRM, Also: http.StatusCreated, Record: "user",
		Outside: true, Doc: "Invite somebody to the team by mail, or give a user one more role.",
		Use: "A mail goes out, and whoever accepts it sees data of clients: be sure of address and role. Answers with the user's id and whether the account is new.",
		Fails: op.Fails{
			"svc_duplicate":            "Somebody invited this address just now.",
			"svc_forbidden rights":     failRights,
			"svc_forbidden site_admin": failAdministrator}}, s.inviteStaff)
	op.Add(set, op.Op{ID: "list-invitations", Route: "GET /staff/invitations", Perm: auth.ManageCRM, Doc: "List invitations that wait to be accepted.",
		Use: "Use it to see who has not accepted yet, with ids for revoke-invitation."}, listInvitations)
	op.Add(set, op.Op{ID: "revoke-invitation", Route: "DELETE /staff/invitations/{id}", Perm: auth.ManageCRM, Record: "invitation",
		Doc:   "Revoke an invitation. Its link stops working.",
		Use:   "The account that was made for it is deleted. invite-staff invites again.",
		Fails: op.Fails{"svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator}}, revokeInvitation)
	op.Add(set, op.Op{ID: "set-staff-role", Route: "PUT /staff/{user}/role", Perm: auth.ManageCRM, Record: "user", Doc: "Give a member of the team another role.",
		Use: "It counts at once, for all that the person does. svc_conflict keeps your own role and the last administrator. Answers with the staff member.",
		Fails: op.Fails{
			"svc_conflict own_role":           "Nobody changes their own role.",
			"svc_conflict last_administrator": "The person is the last site administrator.",
			"svc_forbidden rights":            failRights,
			"svc_forbidden site_admin":        failAdministrator}}, s.setStaffRole)
	op.Add(set, op.Op{ID: "get-user-access", Route: "GET /staff/{user}/access", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-",
		Doc:   "List the sessions and application passwords of a member of the team.",
		Fails: op.Fails{"svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator}}, getUserAccess)
	op.Add(set, op.Op{ID: "end-user-session", Route: "DELETE /staff/{user}/sessions/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "Sign a browser of a member of the team out. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator}}, s.endUserSession)
	op.Add(set, op.Op{ID: "end-user-application-password", Route: "DELETE /staff/{user}/application-passwords/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "Revoke an application password of a member of the team. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator}}, s.endUserKey)
	op.Add(set, op.Op{ID: "end-user-connection", Route: "DELETE /staff/{user}/connections/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "End an assistant's connection of a member of the team. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator}}, s.endUserConnection)
	op.Add(set, op.Op{ID: "reset-two-factor", Route: "DELETE /staff/{user}/two-factor", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc: "Take away the second factor of a member of the team who has lost it. The member is mailed and signed out everywhere.",
		Fails: op.Fails{"svc_password_required": failPassword, "svc_forbidden rights": failRights, "svc_forbidden site_admin": failAdministrator,
			"svc_conflict own_factor": "The caller's own second factor goes with one of its codes (end-two-factor)."}}, s.resetTwoFactor)
	op.Add(set, op.Op{ID: "list-team", Route: "GET /team", Perm: auth.ViewContacts, Doc: "List the people who can own contacts.",
		Use: "Use it to find the user id of an owner, for owner_user_id."}, s.listTeam)

	set.Under("Site settings", "What holds for the whole site: the business, how forms look, the portal, privacy, roles.")
	// Site settings.
	op.Add(set, op.Op{ID: "get-api-access", Route: "GET /settings/api-access", Perm: auth.ManageIntegrations,
		Doc: "Get the roles that reach the API with an application password.",
		Use: "Use it when a key is refused with 401 although it is right."}, getAPIAccess)
	op.Add(set, op.Op{ID: "update-api-access", Route: "PATCH /settings/api-access", Perm: auth.ManageIntegrations, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose the roles that reach the API with an application password.",
		Use: "Keys and assistants of roles that are not in the list stop working at once, perhaps your own too. Answers with the list."}, updateAPIAccess)
	op.Add(set, op.Op{ID: "get-form-style", Route: "GET /settings/form-style", Perm: auth.ViewContacts, Doc: "Get how forms and the booking widget look.",
		Use: "Answers with what was set; what is missing follows the theme."}, getFormStyle)
	op.Add(set, op.Op{ID: "update-form-style", Versioned: true, Route: "PATCH /settings/form-style", Perm: auth.ManageCRM, Idempotent: true, Record: "settings",
		Doc: "Change how forms and the booking widget look.",
		Use: "What is left out stays; an empty text or null returns to the theme. All forms and the widget change at once. Answers with the style."}, updateFormStyle)
	op.Add(set, op.Op{ID: "get-general-settings", Route: "GET /settings/general", Perm: auth.ManageCRM, Doc: "Get the business, its currency and country, and the proxy header.",
		Use: "Use it to learn name, address, currency, country and time zone of the business."}, s.getGeneral)
	op.Add(set, op.Op{ID: "update-general-settings", Versioned: true, Route: "PATCH /settings/general", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the general settings.",
		Use: "What is left out stays. A wrong ip_header breaks the limits that keep abuse away. Answers with the settings."}, s.updateGeneral)
	op.Add(set, op.Op{ID: "get-portal-settings", Route: "GET /settings/portal", Perm: auth.ManageCRM, Doc: "Get the portal's settings.",
		Use: "Answers with addresses, sign-out and second factor, and whether the booking page is on."}, s.getPortal)
	op.Add(set, op.Op{ID: "update-portal-settings", Versioned: true, Route: "PATCH /settings/portal", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc:   "Change the portal's settings.",
		Use:   "What is left out stays. Another path or host moves the team's sign-in, and require_2fa keeps out who has none. Answers with the settings.",
		Fails: op.Fails{"svc_conflict reserved": "The path belongs to the platform.", "svc_conflict in_use": "The path belongs to a page."}}, s.updatePortal)
	op.AddOutside(set, op.Op{ID: "check-portal-host", Route: "POST /settings/portal/check-host", Perm: auth.ManageCRM, Record: "settings",
		Outside: true, Doc: "Check that the portal's host leads here. The portal moves there once it does.",
		Use:   "It asks that host over https. Answers with the portal's settings, where host_reachable and host_https say how it went.",
		Fails: op.Fails{"svc_conflict no_host": "No host is set."}}, s.checkPortalHost)
	op.AddOutside(set, op.Op{ID: "portal-host-proof", Route: "GET /settings/portal/proof", Perm: op.Public, Ability: "-",
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "Prove to check-portal-host that an address leads to this installation."}, s.hostProof)
	op.Add(set, op.Op{ID: "check-portal-path", Route: "GET /settings/portal/path", Perm: auth.ManageCRM, Doc: "Check whether the portal can have a path.",
		Use: "Use it before update-portal-settings. status is null when the path is free."}, s.checkPortalPath)
	op.Add(set, op.Op{ID: "get-privacy-settings", Route: "GET /settings/privacy", Perm: auth.ManageCRM, Doc: "Get for how long data is kept.",
		Use: "Answers with days per kind of data."}, getPrivacy)
	op.Add(set, op.Op{ID: "update-privacy-settings", Versioned: true, Route: "PATCH /settings/privacy", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose whether removing the installation deletes its data.",
		Use: "With delete_on_uninstall all data is lost when the installation is removed. Answers with the settings."}, updatePrivacy)

	op.Add(set, op.Op{ID: "get-roles", Route: "GET /settings/roles", Perm: auth.ManageCRM, Doc: "List roles, what they may do and what they see.",
		Use: "Answers with every role, its permissions and whether it sees all or its own."}, getRoles)
	op.Add(set, op.Op{ID: "update-role", Route: "PATCH /settings/roles/{role}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "role",
		Doc: "Change what a role may do and see.",
		Use: "capabilities replaces the whole list, for all who have the role, at once. An empty list takes the role out. Answers with the role.",
		Fails: op.Fails{
			"svc_conflict fixed":    "The role cannot be changed.",
			"svc_conflict own_role": "Nobody lowers their own role.",
			"svc_forbidden rights":  failRights}}, updateRole)
	op.Add(set, op.Op{ID: "get-telemetry", Route: "GET /settings/telemetry", Perm: auth.ManageCRM, Doc: "Get what a person has agreed to send, and exactly what that is.",
		Use: "Only a person can change it."}, s.getTelemetry)
	op.Add(set, op.Op{ID: "update-telemetry", Route: "PATCH /settings/telemetry", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "settings",
		Doc: "Agree to statistics or a company profile, or withdraw that. Only a person in the app can."}, s.updateTelemetry)
	op.Add(set, op.Op{ID: "confirm-telemetry", Route: "POST /settings/telemetry/confirm", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "settings",
		Channel: db.ChannelEmail, Limits: codeAttempts, LimitKey: "token", Doc: "Confirm the company profile with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired}}, confirmTelemetry)

	set.Under("Apps and setup", "Apps that can be switched on and off, the guide for a new site, support.")
	// Apps and the rest.
	op.Add(set, op.Op{ID: "list-apps", Route: "GET /apps", Perm: auth.ViewContacts, Doc: "List apps and whether each is on.",
		Use: "Use it when an ability you expect is missing: those of an app that is off do not exist."}, listApps)
	op.AddOutside(set, op.Op{ID: "update-app", Route: "PATCH /apps/{app}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "app",
		Doc:   "Switch an app on or off for the whole site.",
		Use:   "Off, its pages, forms or bookings are gone for visitors at once; data stays and returns with it. Answers with the app.",
		Fails: op.Fails{"svc_conflict always_on": "The app cannot be switched off."}}, s.switchApp)
	op.Add(set, op.Op{ID: "get-setup", Route: "GET /setup", Perm: auth.ManageCRM, Doc: "Get how far the guide for a new site has come.",
		Use: "Answers with done and dismissed."}, getSetup)
	op.Add(set, op.Op{ID: "update-setup", Route: "PATCH /setup", Perm: auth.ManageCRM, Idempotent: true, Record: "settings", Doc: "Mark the guide for a new site as done or dismissed.",
		Use: "It changes nothing but the guide. Answers with done and dismissed."}, updateSetup)
	op.Add(set, op.Op{ID: "get-ai-status", Route: "GET /integrations/ai", Perm: auth.ManageIntegrations, Doc: "List every ability, whether assistants may use it and whether it only reads.",
		Use: "Use it when an ability is refused as unknown: mcp says whether it is exposed. A person changes that."}, s.aiStatus)
	op.Add(set, op.Op{ID: "update-ai-exposure", Route: "PATCH /integrations/ai", Perm: auth.ManageIntegrations, PersonOnly: true, Idempotent: true, Ability: "-", Record: "settings",
		Doc: "Choose which abilities assistants may use. Only a person in the app can."}, s.updateAI)
	op.Add(set, op.Op{ID: "get-support", Route: "GET /support", Perm: auth.ViewContacts, Doc: "Get what goes along with a request for support.",
		Use: "Answers with versions and environment, without anything about people."}, s.getSupport)
	op.Add(set, op.Op{ID: "request-support", Route: "POST /support/requests", Perm: auth.ViewContacts, PersonOnly: true, Ability: "-", Record: "support_request",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Send a request for support. Only a person in the app can."}, s.requestSupport)
	op.Add(set, op.Op{ID: "send-deactivation-feedback", Route: "POST /feedback/deactivate", Perm: op.SignedIn, Ability: "-", Record: "feedback",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Say why the service is switched off."}, s.deactivationFeedback)
	op.AddOutside(set, op.Op{ID: "get-openapi", Route: "GET /openapi.json", Perm: op.Public, Ability: "-",
		Doc: "Get the OpenAPI 3.1 description of this installation, with its custom fields."}, s.describe)

	set.Under("Site and changes", "Facts about the site that everybody of the team may read, and a stream of what changes.")
	op.Add(set, op.Op{ID: "get-site", Route: "GET /site", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Get name, zone, currency and addresses of the business, for those who may not read its settings."}, s.getSite)
	op.AddEvents(set, op.Op{ID: "get-live", Route: "GET /live", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Follow changes as server-sent events: which kind of record changed, and if the caller may see it its id and version, and by whom."}, s.live.Listen)

	set.Under("Pictures", "Pictures of the site's own, such as its logo.")
	op.AddOutside(set, op.Op{ID: "upload-media", Route: "POST /media", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "media", Accepts: pictureTypes,
		Doc:   "Upload a picture, such as the logo: PNG, JPEG or WebP, at most 1 MiB and 8 million pixels. It is encoded anew, at most 1024 pixels wide and high.",
		Fails: op.Fails{"svc_conflict too_many": "The site has 200 pictures, which is the most."}}, s.uploadMedia)
	op.Add(set, op.Op{ID: "list-media", Route: "GET /media", Perm: auth.ManageCRM, Doc: "List the site's pictures, newest first.",
		Use: "Use it to find the id for logo_id of update-portal-settings. Only a person or a program can upload one."}, s.listMedia)
	op.Add(set, op.Op{ID: "get-media", Route: "GET /media/{id}", Perm: auth.ManageCRM, Doc: "Get a picture's public address and size.",
		Use: "Answers with url, which everybody can open."}, s.getMedia)
	op.Add(set, op.Op{ID: "delete-media", Route: "DELETE /media/{id}", Perm: auth.ManageCRM, Record: "media",
		Doc:   "Delete a picture. Its address stops working.",
		Use:   "It cannot be brought back. The logo cannot be deleted: set logo_id to null or another picture first.",
		Fails: op.Fails{"svc_conflict in_use": "The picture is the logo."}}, deleteMedia)

	set.Under("Pages", "The site's own pages.")
	// Pages.
	op.Add(set, op.Op{ID: "list-pages", Route: "GET /pages", Perm: auth.ViewContacts, Ability: "-", Doc: "List the site's own pages."}, s.listPages)
	op.Add(set, op.Op{ID: "create-page", Route: "POST /pages", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "page", Doc: "Create a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, s.createPage)
	op.Add(set, op.Op{ID: "get-page", Route: "GET /pages/{id}", Perm: auth.ViewContacts, Ability: "-", Doc: "Get a page."}, s.getPage)
	op.Add(set, op.Op{ID: "update-page", Versioned: true, Route: "PATCH /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Change a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, s.updatePage)
	op.Add(set, op.Op{ID: "delete-page", Versioned: true, Route: "DELETE /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Delete a page."}, s.deletePage)

	set.Under("Abilities", "The operations as assistants call them: by name, with one input and a bare answer.")
	// Abilities; each service runs its own.
	op.AddOutside(set, op.Op{ID: "list-abilities", Route: "GET /abilities", Perm: op.SignedIn, ForAssistants: true, Ability: "-", Doc: "List abilities that are exposed to assistants."}, s.listAbilities)
	// An ability has routes of its own in its service, which go before these.
	op.AddOutside(set, op.Op{ID: "get-ability", Route: "GET /abilities/svc/{name}", Perm: op.SignedIn, ForAssistants: true, Ability: "-",
		Doc: "Get one ability that is exposed to assistants.", Fails: op.Fails{"svc_forbidden ability": failAbilityTaken}}, s.noAbility(""))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		op.AddOutside(set, op.Op{ID: "run-ability-" + strings.ToLower(method), Route: method + " /abilities/svc/{name}/run", Perm: op.SignedIn, ForAssistants: true,
			Ability: "-", Doc: "Run an ability: GET when it only reads, DELETE when it destroys and may be repeated, else POST.",
			Fails: op.Fails{"svc_method_not_allowed": "The ability runs with another method, which data.allow names.",
				"svc_forbidden ability": failAbilityTaken, op.AnyRefusal: "A refusal of the operation that the ability runs."}}, s.noAbility(method))
	}
	return set
}
