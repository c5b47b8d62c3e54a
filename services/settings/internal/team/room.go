package team

import (
	"encoding/json"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/twofactor"
)

// Room keeps the team.
type Room struct {
	*app.Kit
	mails     *mailer.Room
	people    *people.Room
	twofactor *twofactor.Room
	passwords *passwords.Room
	// staff is a copy of what booking publishes of the people of the team.
	staff *bus.Table[json.RawMessage]
	// services are copies of booking's, with who does them.
	services *bus.Table[offered]
}

// offered is what the team needs of a service.
type offered struct {
	Staff []int64 `json:"staff"`
}

func New(k *app.Kit, mails *mailer.Room, p *people.Room, second *twofactor.Room, words *passwords.Room) *Room {
	return &Room{k, mails, p, second, words, bus.NewRecordTable[json.RawMessage](k.Bus, proto.StaffTopic), bus.NewRecordTable[offered](k.Bus, proto.ServiceTopic)}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.StaffTopic, Handle: onStaff},
			{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindRemovalRefused, onRefusal)},
		},
		Tables:   []app.Table{r.staff, r.services},
		Personal: app.Personal{Holds: map[string]app.Holds{"refused_removal": app.Nobody}},
	}
}

// Invitations declares the operation by which somebody accepts an invitation.
func (r *Room) Invitations(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "accept-invitation", Route: "POST /auth/invitation", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: secrets.Attempts, LimitKey: "token", Doc: "Choose a password with the token of an invitation.",
		Fails: op.Fails{"svc_invalid_token": mailer.FailLink, "svc_token_expired": mailer.FailExpired, "svc_not_found": "The user is gone by now."}}, r.acceptInvitation)
}

// failClaim is when nobody gives somebody a role, see op.Fails.
const failClaim = "Their roles are those of their account at the organization's provider, and change there (SVC_OIDC_ROLES)."

// Operations declares the operations on the team and its access.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "invite-staff", Undo: op.Undo{Never: op.Access}, Route: "POST /staff", Perm: auth.ManageCRM, Also: http.StatusCreated, Record: "user",
		Outside: true, Doc: "Invite somebody to the team by mail, or give a user one more role.",
		Use: "A mail goes out, and whoever accepts it sees data of clients: be sure of address and role. Answers with the user's id and whether the account is new.",
		Fails: op.Fails{
			"svc_duplicate":              "Somebody invited this address just now.",
			"svc_conflict role_of_claim": failClaim,
			"svc_forbidden rights":       roles.FailRights,
			"svc_forbidden site_admin":   roles.FailAdministrator}}, r.inviteStaff)
	op.Add(set, op.Op{ID: "list-invitations", Route: "GET /staff/invitations", Perm: auth.ManageCRM, Doc: "List invitations that wait to be accepted.",
		Use: "Use it to see who has not accepted yet, with ids for revoke-invitation."}, listInvitations)
	op.AddOutside(set, op.Op{ID: "revoke-invitation", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/invitations/{id}", Perm: auth.ManageCRM, Record: "invitation",
		Doc: "Revoke an invitation. Its link stops working; a successor takes over contacts, organizations, tasks and appointments.",
		Use: "The account that was made for it is deleted. invite-staff invites again. Where the person has appointments already, clients are mailed who does them now.",
		Fails: op.Fails{
			"svc_conflict successor":       "The successor is not on the team, or is the person who goes.",
			"svc_conflict no_meeting_link": "One of the appointments is online, and neither it nor the successor has a meeting link. data.appointments are these.",
			"svc_conflict overlap":         "One of the appointments falls on one of the successor's. data.appointments are these.",
			"svc_forbidden rights":         roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator}}, r.revokeInvitation)
	op.Add(set, op.Op{ID: "set-staff-role", Undo: op.Undo{Never: op.Access}, Versioned: true, Route: "PUT /staff/{user}/role", Perm: auth.ManageCRM, Record: "user", Doc: "Give a member of the team another role.",
		Use: "It counts at once, for all that the person does. svc_conflict keeps your own role and the last administrator. Answers with the staff member.",
		Fails: op.Fails{
			"svc_conflict own_role":           "Nobody changes their own role.",
			"svc_conflict last_administrator": "The person is the last site administrator.",
			"svc_conflict role_of_claim":      failClaim,
			"svc_forbidden rights":            roles.FailRights,
			"svc_forbidden site_admin":        roles.FailAdministrator}}, r.setStaffRole)
	op.Add(set, op.Op{ID: "get-user-access", Route: "GET /staff/{user}/access", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-",
		Doc:   "List the sessions and application passwords of a member of the team.",
		Fails: op.Fails{"svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator}}, getUserAccess)
	op.Add(set, op.Op{ID: "end-user-session", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}/sessions/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "Sign a browser of a member of the team out. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator}}, r.endUserSession)
	op.Add(set, op.Op{ID: "end-user-application-password", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}/application-passwords/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "Revoke an application password of a member of the team. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator}}, r.endUserKey)
	op.Add(set, op.Op{ID: "end-user-connection", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}/connections/{id}", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc:   "End an assistant's connection of a member of the team. The member is mailed.",
		Fails: op.Fails{"svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator}}, r.endUserConnection)
	op.Add(set, op.Op{ID: "reset-two-factor", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}/two-factor", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc: "Take away the second factor of a member of the team who has lost it. The member is mailed and signed out everywhere.",
		Fails: op.Fails{"svc_password_required": sessions.FailPassword, "svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator,
			"svc_conflict own_factor": "The caller's own second factor goes with one of its codes (end-two-factor)."}}, r.resetTwoFactor)
	op.Add(set, op.Op{ID: "list-team", Route: "GET /team", Perm: auth.ViewContacts, Doc: "List the people who can own contacts.",
		Use: "Use it to find the user id of an owner, for owner_user_id."}, r.listTeam)
}
