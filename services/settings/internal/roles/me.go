package roles

import (
	"context"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
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

func meOf(p people.Person, r auth.Rights) Me {
	return Me{UserID: p.ID, Login: p.Login, Name: p.Name, Email: p.Email, Role: Main(p.Roles),
		Capabilities: r.Capabilities, Visibility: r.Visibility(), TwoFactor: p.TwoFactor}
}

// Me is the giver as the caller who asks.
func (g Giver) Me() Me { return meOf(g.Person, g.Rights) }

// MeOf is somebody who signs in, with all rights of their roles.
func MeOf(ctx context.Context, tx *db.Tx, userID int64) (Me, error) {
	p, all, err := ofUser(ctx, tx, userID)
	return meOf(p, RightsOf(all, p.Roles)), err
}

func getMe(ctx context.Context, tx *db.Tx, _ op.None) (Me, error) {
	g, err := ReadGiver(ctx, tx)
	return g.Me(), err
}
