package team

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/calendars"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/feed"
	"frontdesk/services/booking/internal/life"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/times"
)

type removedStaff struct {
	User      int64 `json:"user" minimum:"1"`
	Successor int64 `json:"successor,omitempty" minimum:"1" doc:"Takes over contacts, organizations, tasks and appointments; required when there are any."`
}

// staffRemoval is what becomes of the account.
type staffRemoval struct {
	Deleted    bool `json:"deleted" doc:"The account has nothing else on the site and goes."`
	AccessLeft bool `json:"access_left" doc:"Another role still lets the person in."`
}

// removeStaff hands the person's coming appointments to the successor, or refuses, in one transaction. What is
// over keeps the name of who did it. Contacts and settings follow the event.
func (r *Room) removeStaff(ctx context.Context, tx *db.Tx, in removedStaff) (staffRemoval, error) {
	if _, err := r.staff.Member(ctx, tx, in.User); err != nil {
		return staffRemoval{}, err
	}
	u, _ := r.Identity.User(in.User)
	switch {
	case in.User == tx.Who.UserID:
		return staffRemoval{}, fault.Conflict("self", "You cannot remove yourself.")
	case r.giver(tx).MayChange(r.Identity.RolesNamed(u.GetRoles())...) != nil:
		return staffRemoval{}, fault.Refused("role", "You cannot remove somebody whose rights you do not hold.")
	case r.lastAdministrator(in.User):
		return staffRemoval{}, fault.Conflict("last_administrator", "This is the last site administrator.")
	}
	rest := slices.DeleteFunc(slices.Clone(u.GetRoles()), func(role string) bool { return slices.Contains(teamRoles, role) })
	out := staffRemoval{Deleted: len(rest) == 0}
	out.AccessLeft = auth.Sum(r.Identity.RolesNamed(rest)...).Can(auth.ViewContacts)
	return out, r.remove(ctx, tx, in, "")
}

// onRemoveStaff removes somebody whose invitation settings revokes, and answers why not where something is in the way. Whoever is gone
// already has been answered.
func (r *Room) onRemoveStaff(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.RemoveStaff) error {
	if _, err := r.staff.Member(ctx, tx, m.GetUserId()); err != nil {
		if fault.From(err).Status == http.StatusNotFound {
			return nil
		}
		return err
	}
	err := r.remove(ctx, tx, removedStaff{m.GetUserId(), m.GetSuccessor()}, m.GetRequestId())
	refused, ok := errors.AsType[*fault.Fault](err)
	if !ok || fault.Transient(err) {
		return err
	}
	data, err := json.Marshal(refused.Data)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, db.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindRemovalRefused, Key: m.GetRequestId(), Data: &proto.RemovalRefused{
		RequestId: m.GetRequestId(), Status: int32(refused.Status), Code: refused.Code, Message: refused.Message, Data: data}})
}

// remove removes a member, who may be removed. All that it refuses it refuses before it changes anything.
func (r *Room) remove(ctx context.Context, tx *db.Tx, in removedStaff, request string) error {
	if in.Successor == in.User {
		return fault.Conflict("successor", "The successor must be somebody else.")
	}
	if err := times.LockCatalog(ctx, tx); err != nil {
		return err
	}
	held := []int64{in.User}
	if in.Successor != 0 {
		present, err := staff.Present(ctx, tx, r.Identity, in.Successor)
		if err != nil {
			return err
		}
		if !present {
			return fault.Conflict("successor", "The successor must be on the team.")
		}
		held = append(held, in.Successor)
	}
	if err := times.LockCalendars(ctx, tx, held...); err != nil {
		return err
	}
	coming, err := appointments.Coming(ctx, tx, in.User)
	if err != nil {
		return err
	}
	if in.Successor == 0 {
		has, err := clients.Owns(ctx, tx, in.User)
		if err != nil {
			return err
		}
		if has || len(coming) > 0 {
			return fault.Invalid("successor", fault.NewProblem("required", "is required: the person has contacts, organizations, open tasks or appointments"))
		}
	}
	if err := appointments.Overlapped(ctx, tx, coming, in.Successor); err != nil {
		return err
	}
	if err := appointments.Unlinked(ctx, tx, coming, in.Successor); err != nil {
		return err
	}
	if err := services.Drop(ctx, tx, in.User); err != nil {
		return err
	}
	p, err := r.staff.Lock(ctx, tx, in.User)
	if err != nil {
		return err
	}
	if err := r.handOver(ctx, tx, coming, in.Successor); err != nil {
		return err
	}
	if err := calendar.DeleteExceptions(ctx, tx, in.User); err != nil {
		return err
	}
	if err := feed.End(ctx, tx, in.User); err != nil {
		return err
	}
	if err := calendars.End(ctx, tx, in.User); err != nil {
		return err
	}
	return p.Leave(ctx, tx, r.Identity, in.Successor, request)
}

// handOver gives appointments to somebody whose calendar is held and has the time free.
func (r *Room) handOver(ctx context.Context, tx *db.Tx, ids []uuid.UUID, to int64) error {
	if len(ids) == 0 {
		return nil
	}
	if err := staff.Ensure(ctx, tx, to); err != nil {
		return err
	}
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := r.appointments.Lock(ctx, tx, id)
		if err != nil {
			return err
		}
		given := a
		given.UserID = to
		c := life.Change{Was: a, Now: given, Kind: proto.KindAppointmentUpdated, Mail: mails.HandedOver, Fields: []string{"staff"}}
		if _, err := r.life.Commit(ctx, tx, c, settings); err != nil {
			return err
		}
	}
	return nil
}
