package signin

import (
	"context"
	"slices"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/site"
)

// session is the browser's session and whose it is.
type session struct {
	roles.Me
	Channel          string    `json:"channel" enum:"app,portal" doc:"app or portal."`
	ExpiresAt        time.Time `json:"expires_at" doc:"When it ends."`
	IdleHours        int       `json:"idle_hours" doc:"Hours without a request after which the session ends."`
	TwoFactorMissing bool      `json:"two_factor_missing" doc:"The site asks for a second factor that this session was not given."`
	SignsInBy        []string  `json:"signs_in_by" enum:"password,organization" doc:"How the user can sign in: by a password, by the organization's account."`
	RolesOfClaim     bool      `json:"roles_of_claim" doc:"Whoever signs in by the organization's account has the roles of a claim there, and is given none here."`
	RolesYouCanGive  []string  `json:"roles_you_can_give" doc:"The roles of the team that the caller may give to somebody; none for a caller who may not manage the site."`
}

func (r *Room) getSession(ctx context.Context, tx *db.Tx, _ op.None) (session, error) {
	hash, err := sessions.Current(tx.Who)
	if err != nil {
		return session{}, err
	}
	g, err := roles.ReadGiver(ctx, tx)
	if err != nil {
		return session{}, err
	}
	out := session{Me: g.Me(), TwoFactorMissing: tx.Who.TwoFactorMissing, SignsInBy: r.ways(g.Person), RolesOfClaim: len(r.Config.ClaimRoles) > 0, RolesYouCanGive: g.Gives()}
	if out.IdleHours, err = site.IdleHours(ctx, tx); err != nil {
		return out, err
	}
	out.Channel, out.ExpiresAt, err = sessions.ByHash(ctx, tx, hash)
	return out, err
}

// ways are those of the user that count: no password where the organization's account is the only way in.
func (r *Room) ways(p people.Person) []string {
	return slices.DeleteFunc(p.SignsInBy(), func(way string) bool {
		return way == people.ByPassword && !r.passwords.On(p) || way == people.ByOrganization && p.Issuer != r.Config.OIDCIssuer
	})
}
