package team

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/typed"
)

// invitation waits for a person to choose a password.
type invitation struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	UserID    int64     `json:"user_id" doc:"The user id of the person who was made for it."`
	Name      string    `json:"name" doc:"The name of the person."`
	Email     string    `json:"email" doc:"The address that the invitation was sent to."`
	Role      string    `json:"role" doc:"The name of the role."`
	ExpiresAt time.Time `json:"expires_at" doc:"From then on the link no longer works."`
}

// invited is the user who was invited, or who was given the role.
type invited struct {
	UserID  int64 `json:"user_id" doc:"The user id of the person."`
	Created bool  `json:"created" doc:"A user was made and mailed to choose a password."`
}

// StatusCode is 201 when a user was made.
func (i invited) StatusCode() int {
	if i.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// RecordID names the user in the audit log.
func (i invited) RecordID() string { return row.Key(i.UserID) }

// inviteStaff gives the user with the address one more role, or makes a user and mails a link to choose a password.
// Errors: 400 for the name and the address, 403 for a role or a user with more rights than the caller's.
func (r *Room) inviteStaff(ctx context.Context, tx *db.Tx, in struct {
	Name  string `json:"name,omitempty" maxLength:"100" doc:"The address when left out."`
	Email string `json:"email" required:"true" maxLength:"190" doc:"The address to invite."`
	Role  string `json:"role,omitempty" enum:"site_admin,svc_admin,staff" doc:"staff when left out."`
}) (invited, error) {
	if in.Role == "" {
		in.Role = roles.Staff
	}
	name := strings.Join(strings.Fields(in.Name), " ")
	email, problem := typed.Email(in.Email)
	wrong := fault.Problems{}
	wrong.Add("email", problem)
	wrong.Add("name", typed.Line(name))
	if err := wrong.Err(); err != nil {
		return invited{}, err
	}
	all, err := roles.Lock(ctx, tx)
	if err != nil {
		return invited{}, err
	}
	giver, err := roles.CurrentGiver(ctx, tx, all)
	if err != nil {
		return invited{}, err
	}
	if err := giver.MayGiveRole(in.Role); err != nil {
		return invited{}, err
	}
	p, err := people.LockByAddress(ctx, tx, email)
	if err == nil {
		return r.addRole(ctx, tx, giver, p, in.Role)
	}
	if row.UnlessRefused(err) != nil {
		return invited{}, err
	}
	if name == "" {
		name = email
	}
	p, err = people.Add(ctx, tx, email, name, in.Role)
	if err != nil {
		return invited{}, err
	}
	tx.Changed(change.Set{"roles": {Old: []string{}, New: p.Roles}})
	if in.Role == roles.SiteAdmin {
		if err := r.noticeAdministrator(ctx, tx, p); err != nil {
			return invited{}, err
		}
	}
	return invited{UserID: p.ID, Created: true}, r.sendInvitation(ctx, tx, p, in.Role)
}

// addRole gives an existing user one more role. A user who has yet to choose a password gets a new link for it.
func (r *Room) addRole(ctx context.Context, tx *db.Tx, giver roles.Giver, p people.Person, role string) (invited, error) {
	if err := giver.MayChangeUser(p); err != nil {
		return invited{}, err
	}
	if !slices.Contains(p.Roles, role) {
		if err := r.mayGiveRoles(p); err != nil {
			return invited{}, err
		}
		next := append(slices.Clone(p.Roles), role)
		tx.Changed(change.Set{"roles": {Old: p.Roles, New: next}})
		var err error
		if p, err = people.SetRoles(ctx, tx, p, next); err != nil {
			return invited{}, err
		}
		if role == roles.SiteAdmin {
			if err := r.noticeAdministrator(ctx, tx, p); err != nil {
				return invited{}, err
			}
		}
	}
	if p.Invited {
		return invited{UserID: p.ID}, r.sendInvitation(ctx, tx, p, role)
	}
	return invited{UserID: p.ID}, nil
}

// invitationLife is for how long an invitation can be accepted.
const invitationLife = 7 * 24 * time.Hour

func (r *Room) sendInvitation(ctx context.Context, tx *db.Tx, p people.Person, role string) error {
	token, l, err := mailer.NewLink(ctx, tx, mailer.Invitation, p.ID, role, invitationLife)
	if err != nil {
		return err
	}
	business, err := site.ReadBusiness(ctx, tx)
	if err != nil {
		return err
	}
	// A password may not let them in.
	if !r.passwords.On(p) {
		c, t := r.people.Letter(p, "invitation.organization", "business", business.Name, "provider", r.Config.OIDCName)
		c.Buttons = []mail.Link{{Text: t.T("invitation.organization_button"), URL: r.Config.PublicURL + "/account/sign-in"}}
		return r.mails.Queue(ctx, tx, c)
	}
	c, t := r.people.Letter(p, "invitation", "business", business.Name)
	c.Paragraphs = append(c.Paragraphs, t.T("invitation_until", "when", people.Moment(tx, t, l.ExpiresAt)))
	c.Buttons = []mail.Link{{Text: t.T("invitation_button"), URL: r.Config.PublicURL + "/account/invitation#token=" + token}}
	return r.mails.Queue(ctx, tx, c)
}

func listInvitations(ctx context.Context, tx *db.Tx, _ op.None) (db.List[invitation], error) {
	type listed struct {
		invitation
		Roles []string
	}
	rows, err := db.Rows[listed](ctx, tx, `select l.id, p.id as user_id, p.name, p.email, '' as role, p.roles, l.expires_at from link l join person p on p.id = l.person_id
		where l.kind = $1 and l.ended_at is null and p.password is null and p.subject is null order by l.id`, mailer.Invitation)
	if err != nil {
		return db.List[invitation]{}, fmt.Errorf("list invitations: %w", err)
	}
	all := make([]invitation, len(rows))
	for i, r := range rows {
		r.Role = roles.Main(r.Roles) // the roles may have changed since the invitation
		all[i] = r.invitation
	}
	return db.All(all), nil
}

// revoked is an invitation to revoke.
type revoked struct {
	ID        string `json:"id" maxLength:"64"`
	Successor int64  `json:"successor,omitempty" minimum:"1" doc:"Takes over contacts, organizations, tasks and appointments; required when the person has any."`
}

// bookingAnswersWithin is how long a revocation waits for booking.
const bookingAnswersWithin = 8 * time.Second

// revokeInvitation ends the link and deletes the user who was made for it and has not chosen a password. Whom booking knows it removes as in
// DELETE /staff/{user}, with the same refusals; the error is svc_unavailable when its answer does not come within bookingAnswersWithin, and
// the person may still go afterwards.
func (r *Room) revokeInvitation(ctx context.Context, d *db.DB, in revoked) (op.None, error) {
	request := db.NewID()
	var p people.Person
	asked := false
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		if p, err = lockInvited(ctx, tx, in.ID); err != nil {
			return err
		}
		if err := op.Audit(ctx, tx, "revoke-invitation", "invitation", in.ID); err != nil {
			return err
		}
		if asked = r.bookingKnows(p.ID); !asked {
			return removePerson(ctx, tx, p)
		}
		return tx.Emit(ctx, db.Event{Topic: proto.BookingCommandTopic, Kind: proto.KindRemoveStaff, Key: row.Key(p.ID),
			Data: &proto.RemoveStaff{RequestId: request.String(), UserId: p.ID, Successor: in.Successor}})
	})
	if err != nil || !asked {
		return op.None{}, err
	}
	return op.None{}, r.awaitRemoval(ctx, d, request, p.ID)
}

// lockInvited locks the user of an invitation that the caller may revoke.
func lockInvited(ctx context.Context, tx *db.Tx, id string) (p people.Person, err error) {
	linkID, err := uuid.Parse(id)
	if err != nil {
		return p, fault.NotFound("invitation")
	}
	all, err := roles.Lock(ctx, tx)
	if err != nil {
		return p, err
	}
	var userID *int64
	err = tx.QueryRow(ctx, `select person_id from link where id = $1 and kind = $2 and ended_at is null`, linkID, mailer.Invitation).Scan(&userID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && userID == nil {
		return p, fault.NotFound("invitation")
	}
	if err != nil {
		return p, fmt.Errorf("find invitation: %w", err)
	}
	if p, err = people.Lock(ctx, tx, *userID); err != nil {
		return p, err
	}
	if !p.Invited {
		return p, fault.NotFound("invitation")
	}
	giver, err := roles.CurrentGiver(ctx, tx, all)
	if err != nil {
		return p, err
	}
	return p, giver.MayChangeUser(p)
}

// bookingKnows reports whether booking has published anything about a person: hours, a name, or a service that they do.
func (r *Room) bookingKnows(user int64) bool {
	if _, ok := r.staff.Get(row.Key(user)); ok {
		return true
	}
	for _, s := range r.services.All() {
		if slices.Contains(s.Staff, user) {
			return true
		}
	}
	return false
}

// awaitRemoval returns once the person is gone, with the refusal if booking refuses.
func (r *Room) awaitRemoval(ctx context.Context, d *db.DB, request uuid.UUID, user int64) error {
	ctx, cancel := context.WithTimeout(ctx, bookingAnswersWithin)
	defer cancel()
	for {
		refused, there := fault.Fault{}, false
		err := d.Pool.QueryRow(ctx, `select status, code, message, data, true from refused_removal where request_id = $1
			union all select 0, '', '', null, exists (select from person where id = $2 and password is null and subject is null) limit 1`, request, user).
			Scan(&refused.Status, &refused.Code, &refused.Message, &refused.Data, &there)
		switch {
		case err != nil && ctx.Err() == nil:
			return fmt.Errorf("look for the answer of booking: %w", err)
		case err == nil && refused.Status != 0:
			return &refused
		case err == nil && !there:
			return nil
		}
		select {
		case <-ctx.Done():
			return fault.Unavailable()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keepRefusals is how long the answers of booking are kept, in case whoever asked still waits.
const keepRefusals = time.Hour

// onRefusal keeps why booking did not remove somebody, for the request that waits.
func onRefusal(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.RemovalRefused) error {
	b := &pgx.Batch{}
	b.Queue(`delete from refused_removal where at < $1`, tx.Now.Add(-keepRefusals))
	b.Queue(`insert into refused_removal (request_id, status, code, message, data, at) values ($1::uuid, $2, $3, $4, $5::jsonb, $6) on conflict do nothing`,
		m.GetRequestId(), m.GetStatus(), m.GetCode(), m.GetMessage(), string(m.GetData()), tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

// accepted is the login of a person who has chosen a password.
type accepted struct {
	Login string `json:"login" doc:"The name to sign in with."`
}

func (r *Room) acceptInvitation(ctx context.Context, d *db.DB, in passwords.NewPassword) (accepted, error) {
	p, err := r.passwords.Choose(ctx, d, mailer.Invitation, in, func(tx *db.Tx, p people.Person) error {
		return op.Audit(ctx, tx, "accept-invitation", "user", row.Key(p.ID))
	})
	return accepted{p.Login}, err
}

// noticeAdministrator mails all other administrators that the caller has made p one.
func (r *Room) noticeAdministrator(ctx context.Context, tx *db.Tx, p people.Person) error {
	maker, err := people.ByID(ctx, tx, tx.Who.UserID)
	if err != nil {
		return fmt.Errorf("read who made an administrator: %w", err)
	}
	// The name of a key is whatever its maker called it.
	by := maker.Name + " (" + maker.Email + ")"
	if !tx.Who.Session {
		return r.NoticeAdministrator(ctx, tx, p, "key", "by", by, "key", tx.Who.Label)
	}
	return r.NoticeAdministrator(ctx, tx, p, "person", "by", by)
}

// NoticeAdministrator mails all other administrators that p has become one, and how: by a "person", a person's "key", or a "claim" of their account at
// the organization's provider, with the pairs that the text of it needs.
func (r *Room) NoticeAdministrator(ctx context.Context, tx *db.Tx, p people.Person, how string, pairs ...any) error {
	others, err := people.Administrators(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	for _, to := range others {
		c, t := r.people.Letter(to, "new_administrator", "email", p.Email, "name", p.Name)
		c.Paragraphs[0] += " " + t.T("new_administrator."+how, append([]any{"when", people.Moment(tx, t, tx.Now), "origin", people.Origin(ctx, tx, t)}, pairs...)...)
		c.Closing = []string{t.T("new_administrator_closing")}
		if err := r.mails.Queue(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}
