package settings

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// ByUser names a user in the path.
type ByUser struct {
	User int64 `json:"user" minimum:"1"`
}

// UserAccess is how a user gets in.
type UserAccess struct {
	Sessions             []OpenSession         `json:"sessions" doc:"Their browsers that are signed in."`
	ApplicationPasswords []ApplicationPassword `json:"application_passwords" doc:"Their application passwords."`
	Connections          []Connection          `json:"connections" doc:"Assistants that the user has connected."`
	TwoFactor            bool                  `json:"two_factor" doc:"They have a second factor."`
}

// manageUser locks the user whose access the caller wants to see or end: 403 for a user with more rights than the caller's,
// 404 for an unknown one.
func manageUser(ctx context.Context, tx *db.Tx, userID int64) (person, error) {
	all, err := lockRoles(ctx, tx)
	if err != nil {
		return person{}, err
	}
	giver, err := currentGiver(ctx, tx, all)
	if err != nil {
		return person{}, err
	}
	p, err := lockPerson(ctx, tx, userID)
	if err != nil {
		return p, err
	}
	return p, giver.mayChangeUser(p)
}

// getUserAccess lists the sessions and keys of a user.
func getUserAccess(ctx context.Context, tx *db.Tx, in ByUser) (out UserAccess, err error) {
	all, err := readRoles(ctx, tx)
	if err != nil {
		return out, err
	}
	giver, err := currentGiver(ctx, tx, all)
	if err != nil {
		return out, err
	}
	p, err := personByID(ctx, tx, in.User)
	if err != nil {
		return out, err
	}
	if err := giver.mayChangeUser(p); err != nil {
		return out, err
	}
	if out.Sessions, err = openSessions(ctx, tx, p.ID); err != nil {
		return out, err
	}
	if out.ApplicationPasswords, err = keysOf(ctx, tx, p.ID); err != nil {
		return out, err
	}
	out.Connections, err = connectionsOf(ctx, tx, p.ID)
	out.TwoFactor = p.TwoFactor
	return out, err
}

// AccessOfUser names a session, key or connection of a user in the path.
type AccessOfUser struct {
	ByUser
	ID uuid.UUID `json:"id"`
}

func (s *service) endUserSession(ctx context.Context, tx *db.Tx, in AccessOfUser) (op.None, error) {
	p, err := manageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := endSessionOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, s.notice(ctx, tx, p, "session_ended", "You were signed out", tx.Who.Label+" ended one of your sessions.")
}

func (s *service) endUserKey(ctx context.Context, tx *db.Tx, in AccessOfUser) (op.None, error) {
	p, err := manageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := endKeyOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, s.notice(ctx, tx, p, "key_ended", "An application password was ended", tx.Who.Label+" ended one of your application passwords.")
}

func (s *service) endUserConnection(ctx context.Context, tx *db.Tx, in AccessOfUser) (op.None, error) {
	p, err := manageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := endConnectionOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, s.notice(ctx, tx, p, "connection_ended", "An assistant was disconnected", tx.Who.Label+" ended one of your connected assistants.")
}

// resetTwoFactor takes the second factor and the passkeys of a user away who has lost the device, and signs them out
// everywhere. It is 409 for the caller's own, which goes with a code (end-two-factor).
func (s *service) resetTwoFactor(ctx context.Context, tx *db.Tx, in ByUser) (op.None, error) {
	if err := recentPassword(ctx, tx); err != nil {
		return op.None{}, err
	}
	p, err := manageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if p.ID == tx.Who.UserID {
		return op.None{}, fault.Conflict("own_factor", "Your own second factor goes with one of its codes, on the page of your account.")
	}
	if err := s.turnOffTwoFactor(ctx, tx, p); err != nil {
		return op.None{}, err
	}
	if err := endPasskeys(ctx, tx, p.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, endSessions(ctx, tx, p.ID, nil)
}
