package settings

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// Me is the user who asks.
type Me struct {
	UserID       int64    `json:"user_id"`
	Login        string   `json:"login"`
	Name         string   `json:"name"`
	Email        string   `json:"email"`
	Role         string   `json:"role" doc:"The strongest role; empty for none."`
	Capabilities []string `json:"capabilities"`
	Visibility   string   `json:"visibility" enum:"all,own"`
	TwoFactor    bool     `json:"two_factor" doc:"Signing in asks for a second factor."`
}

func getMe(ctx context.Context, tx *db.Tx, _ op.None) (Me, error) { return me(ctx, tx, tx.Who.UserID) }

func me(ctx context.Context, tx *db.Tx, userID int64) (Me, error) {
	p, err := personByID(ctx, tx, userID)
	if err != nil {
		return Me{}, err
	}
	all, err := readRoles(ctx, tx)
	r := rightsOf(all, p.Roles)
	return Me{UserID: p.ID, Login: p.Login, Name: p.Name, Email: p.Email, Role: mainRole(p.Roles),
		Capabilities: r.capabilities, Visibility: r.visibility, TwoFactor: p.TwoFactor}, err
}

// Session is the browser's session and whose it is.
type Session struct {
	Me
	Channel          string    `json:"channel" enum:"app,portal"`
	ExpiresAt        time.Time `json:"expires_at"`
	IdleHours        int       `json:"idle_hours" doc:"Hours without a request after which the session ends."`
	TwoFactorMissing bool      `json:"two_factor_missing" doc:"The site asks for a second factor that this session was not given."`
}

func (s *service) getSession(ctx context.Context, tx *db.Tx, _ op.None) (Session, error) {
	hash, err := currentSession(tx.Who)
	if err != nil {
		return Session{}, err
	}
	out := Session{TwoFactorMissing: tx.Who.TwoFactorMissing}
	if out.Me, err = me(ctx, tx, tx.Who.UserID); err != nil {
		return out, err
	}
	var portal portalDoc
	if _, err := readDocument(ctx, tx, docPortal, &portal); err != nil {
		return out, err
	}
	here, err := oneSession(ctx, tx, `select `+sessionColumns+` from session where hash = $1`, hash)
	if err != nil {
		return out, err
	}
	out.Channel, out.ExpiresAt, out.IdleHours = here.Channel, here.ExpiresAt, portal.IdleHours
	return out, nil
}
