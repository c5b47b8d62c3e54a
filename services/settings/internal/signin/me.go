package signin

import (
	"context"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/site"
)

// Me is the user who asks.
type Me struct {
	UserID       int64    `json:"user_id" doc:"The user id of the caller."`
	Login        string   `json:"login" doc:"The name to sign in with."`
	Name         string   `json:"name" doc:"The name of the caller."`
	Email        string   `json:"email" doc:"The email address of the caller."`
	Role         string   `json:"role" doc:"The strongest role; empty for none."`
	Capabilities []string `json:"capabilities" doc:"The permissions that the caller holds."`
	Visibility   string   `json:"visibility" enum:"all,own" doc:"all for the records of everybody, own for those of the person."`
	TwoFactor    bool     `json:"two_factor" doc:"Signing in asks for a second factor."`
}

func getMe(ctx context.Context, tx *db.Tx, _ op.None) (Me, error) {
	g, err := roles.ReadGiver(ctx, tx)
	return meOf(g.Person, g.Rights), err
}

// me is somebody who signs in, with all rights of their roles.
func me(ctx context.Context, tx *db.Tx, userID int64) (Me, error) {
	p, all, err := roles.OfUser(ctx, tx, userID)
	return meOf(p, roles.RightsOf(all, p.Roles)), err
}

func meOf(p people.Person, r auth.Rights) Me {
	return Me{UserID: p.ID, Login: p.Login, Name: p.Name, Email: p.Email, Role: roles.Main(p.Roles),
		Capabilities: r.Capabilities, Visibility: r.Visibility(), TwoFactor: p.TwoFactor}
}

// Session is the browser's session and whose it is.
type Session struct {
	Me
	Channel          string    `json:"channel" enum:"app,portal" doc:"app or portal."`
	ExpiresAt        time.Time `json:"expires_at" doc:"When it ends."`
	IdleHours        int       `json:"idle_hours" doc:"Hours without a request after which the session ends."`
	TwoFactorMissing bool      `json:"two_factor_missing" doc:"The site asks for a second factor that this session was not given."`
	RolesYouCanGive  []string  `json:"roles_you_can_give" doc:"The roles of the team that the caller may give to somebody; none for a caller who may not manage the site."`
}

func (r *Room) getSession(ctx context.Context, tx *db.Tx, _ op.None) (Session, error) {
	hash, err := sessions.Current(tx.Who)
	if err != nil {
		return Session{}, err
	}
	g, err := roles.ReadGiver(ctx, tx)
	if err != nil {
		return Session{}, err
	}
	out := Session{Me: meOf(g.Person, g.Rights), TwoFactorMissing: tx.Who.TwoFactorMissing, RolesYouCanGive: g.Gives()}
	if out.IdleHours, err = site.IdleHours(ctx, tx); err != nil {
		return out, err
	}
	here, err := sessions.ByHash(ctx, tx, hash)
	if err != nil {
		return out, err
	}
	out.Channel, out.ExpiresAt = here.Channel, here.ExpiresAt
	return out, nil
}
