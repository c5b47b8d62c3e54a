package sso

import (
	"context"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/signin"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/team"
)

// Room signs people in by the organization's provider.
type Room struct {
	*app.Kit
	site     *site.Room
	people   *people.Room
	sessions *sessions.Room
	signin   *signin.Room
	team     *team.Room
	provider *provider
}

func New(k *app.Kit, at *site.Room, p *people.Room, s *sessions.Room, in *signin.Room, t *team.Room) *Room {
	for _, outcome := range []string{admitted, refused, rejected, unreachable} {
		signIns.Add(context.Background(), outcome, 0) // a count that begins with its first sign-in has no increase
	}
	return &Room{k, at, p, s, in, t, newProvider(k)}
}

// Outcomes of sign-ins.
const (
	admitted    = "admitted"
	refused     = "refused"     // nobody here, or without a role
	rejected    = "rejected"    // the answer of the provider did not fit
	unreachable = "unreachable" // the provider did not answer, or said that we ask wrongly
)

// signIns counts those who came back, by what became of it.
var signIns = app.NewOutcomes("organization.sign_ins", "{sign-in}", "sign-ins by the organization's provider: admitted, refused, rejected or unreachable")

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"provider_request": app.Nobody, "provider_logout": app.Nobody}}}
}

const (
	failProvider = "The provider does not answer, or refuses our client."
	failNone     = "No provider is set up (SVC_OIDC_ISSUER)."
	failNoRole   = "Nobody here has this account: no verified address is known, and no claim gives a role."
	failTaken    = "The address is that of somebody who signs in with another account."
)

// logouts are generous: one provider ends the sessions of everybody.
var logouts = []db.Limit{{N: 600, Per: time.Minute}}

// Operations declares the operations by which people sign in with the organization's account.
func (r *Room) Operations(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "start-organization-sign-in", Route: "POST /auth/login/organization", Perm: op.Public, Ability: "-", Unaudited: true, Channel: db.ChannelApp,
		Limits: []db.Limit{passwords.Attempts}, Doc: "Start to sign in with the organization's account. The answer sets a cookie that the browser has to bring back.",
		Fails: op.Fails{"svc_not_found": failNone, "svc_unavailable": failProvider}}, r.start)
	op.AddOutside(set, op.Op{ID: "organization-sign-in", Route: "POST /auth/login/organization/answer", Perm: op.Public, Ability: "-", Record: "user", Action: "sign-in", Channel: db.ChannelApp,
		Limits: []db.Limit{passwords.Attempts}, Doc: "Sign in with what the provider has added to the address that it led the browser back to. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_not_found":               failNone,
			"svc_unavailable":             failProvider,
			"svc_unauthorized":            "The answer is not one to a request of this browser within ten minutes, or cannot be trusted.",
			"svc_two_factor_required":     "The person has a second factor here, and the provider has asked for none. data.ticket goes to organization-second-factor.",
			"svc_forbidden no_role":       failNoRole,
			"svc_forbidden account_taken": failTaken,
			"svc_forbidden other_account": "The account is not that of the person who confirms.",
			"svc_forbidden not_fresh":     "The provider does not say that the person has just signed in there."}}, r.finish)
	op.AddOutside(set, op.Op{ID: "organization-second-factor", Route: "POST /auth/login/organization/code", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Action: "sign-in", Channel: db.ChannelApp,
		Limits: []db.Limit{passwords.Attempts}, Doc: "Give the second factor that signing in with the organization's account asks for. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_not_found":           failNone,
			"svc_two_factor_required": "The second factor is missing.",
			"svc_unauthorized":        "The second factor is wrong, or the ticket is older than five minutes or another browser's."}}, r.secondFactor)
	op.AddOutside(set, op.Op{ID: "confirm-by-organization", Route: "POST /auth/confirm/organization", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Unaudited: true,
		Limits: secrets.Attempts, LimitKey: "code", Doc: "Start to sign in once more with the organization's account, in place of confirm-password.",
		Fails: op.Fails{
			"svc_not_found":                  failNone,
			"svc_unavailable":                failProvider,
			"svc_conflict no_linked_account": "The caller does not sign in with the organization's account."}}, r.startConfirming)
	op.AddOutside(set, op.Op{ID: "organization-logout", Route: "POST /auth/organization/logout", Perm: op.Public, Status: http.StatusNoContent, Ability: "-", Record: "user", Action: "sign-out", Channel: db.ChannelAPI,
		Limits: logouts, Doc: "End the sessions that a logout token of the provider names (OpenID Connect Back-Channel Logout).",
		Fails: op.Fails{"svc_not_found": failNone, "svc_unavailable": failProvider, "svc_invalid_token": "The token is not a logout token of the provider for us, or was used before."}}, r.logout)
}

// Accounts declares what administrators do about the accounts of others.
func (r *Room) Accounts(set *op.Set) {
	op.Add(set, op.Op{ID: "unlink-organization-account", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}/organization-account", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "user",
		Doc: "Unlink a member of the team from their account at the organization's provider, and sign them out everywhere. Another account with their verified address can take its place.",
		Fails: op.Fails{"svc_password_required": sessions.FailPassword, "svc_forbidden rights": roles.FailRights, "svc_forbidden site_admin": roles.FailAdministrator,
			"svc_conflict last_administrator": "The person is the last site administrator who can sign in."}}, r.unlink)
}

// on refuses everything while no provider is set up.
func (r *Room) on() error {
	if r.Config.OIDCIssuer == "" {
		return fault.NotFound("provider")
	}
	return nil
}

// DeleteOutdated deletes up to n requests and logout tokens that nobody can use any more, and returns how many.
func DeleteOutdated(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	for _, sql := range []string{
		`delete from provider_request where state_hash = any(array(select state_hash from provider_request where created_at < $1 order by created_at limit $2 for update skip locked))`,
		`delete from provider_logout where hash = any(array(select hash from provider_logout where expires_at < $1 order by expires_at limit $2 for update skip locked))`,
	} {
		tag, err := tx.Exec(ctx, sql, tx.Now.Add(-requestLife), n)
		if err != nil {
			return deleted, err
		}
		deleted += int(tag.RowsAffected())
	}
	return deleted, nil
}
