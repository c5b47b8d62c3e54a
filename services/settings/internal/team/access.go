package team

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/keys"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/sessions"
)

// byUser names a user in the path.
type byUser struct {
	User int64 `json:"user" minimum:"1"`
}

// userAccess is how a user gets in.
type userAccess struct {
	Sessions             []sessions.OpenSession     `json:"sessions" doc:"Their browsers that are signed in."`
	ApplicationPasswords []keys.ApplicationPassword `json:"application_passwords" doc:"Their application passwords."`
	Connections          []assistants.Connection    `json:"connections" doc:"Assistants that the user has connected."`
	TwoFactor            bool                       `json:"two_factor" doc:"They have a second factor."`
}

// ManageUser locks the user whose access the caller wants to see or end: 403 for a user with more rights than the caller's,
// 404 for an unknown one.
func ManageUser(ctx context.Context, tx *db.Tx, userID int64) (people.Person, error) {
	all, err := roles.Lock(ctx, tx)
	if err != nil {
		return people.Person{}, err
	}
	giver, err := roles.CurrentGiver(ctx, tx, all)
	if err != nil {
		return people.Person{}, err
	}
	p, err := people.Lock(ctx, tx, userID)
	if err != nil {
		return p, err
	}
	return p, giver.MayChangeUser(p)
}

// getUserAccess lists the sessions and keys of a user.
func getUserAccess(ctx context.Context, tx *db.Tx, in byUser) (out userAccess, err error) {
	all, err := roles.Read(ctx, tx)
	if err != nil {
		return out, err
	}
	giver, err := roles.CurrentGiver(ctx, tx, all)
	if err != nil {
		return out, err
	}
	p, err := people.ByID(ctx, tx, in.User)
	if err != nil {
		return out, err
	}
	if err := giver.MayChangeUser(p); err != nil {
		return out, err
	}
	if out.Sessions, err = sessions.Of(ctx, tx, p.ID); err != nil {
		return out, err
	}
	if out.ApplicationPasswords, err = keys.Of(ctx, tx, p.ID); err != nil {
		return out, err
	}
	out.Connections, err = assistants.Of(ctx, tx, p.ID)
	out.TwoFactor = p.TwoFactor
	return out, err
}

// accessOfUser names a session, key or connection of a user in the path.
type accessOfUser struct {
	byUser
	ID uuid.UUID `json:"id"`
}

func (r *Room) endUserSession(ctx context.Context, tx *db.Tx, in accessOfUser) (op.None, error) {
	p, err := ManageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := sessions.EndOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, r.people.Notice(ctx, tx, p, "session_ended", "by", tx.Who.Label)
}

func (r *Room) endUserKey(ctx context.Context, tx *db.Tx, in accessOfUser) (op.None, error) {
	p, err := ManageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := keys.EndOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, r.people.Notice(ctx, tx, p, "key_ended", "by", tx.Who.Label)
}

func (r *Room) endUserConnection(ctx context.Context, tx *db.Tx, in accessOfUser) (op.None, error) {
	p, err := ManageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if err := assistants.EndOf(ctx, tx, p.ID, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, r.people.Notice(ctx, tx, p, "connection_ended", "by", tx.Who.Label)
}

// resetTwoFactor takes the second factor and the passkeys of a user away who has lost the device, and signs them out
// everywhere. It is 409 for the caller's own, which goes with a code (end-two-factor).
func (r *Room) resetTwoFactor(ctx context.Context, tx *db.Tx, in byUser) (op.None, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return op.None{}, err
	}
	p, err := ManageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if p.ID == tx.Who.UserID {
		return op.None{}, fault.Conflict("own_factor", "Your own second factor goes with one of its codes, on the page of your account.")
	}
	if err := r.twofactor.TurnOff(ctx, tx, p); err != nil {
		return op.None{}, err
	}
	if err := passkeys.EndAll(ctx, tx, p.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, sessions.EndAll(ctx, tx, p.ID, nil)
}
