package bookings

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/times"
)

type withToken struct {
	Token string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
}

func (r *Room) manage(ctx context.Context, tx *db.Tx, in withToken) (appointments.PublicAppointment, error) {
	a, err := r.appointments.Behind(ctx, tx, in.Token)
	return a.ForVisitor(), err
}

type manageCancel struct {
	withToken
	Reason string `json:"reason" maxLength:"500" doc:"Why, in words; the team reads it."`
}

func (r *Room) manageCancel(ctx context.Context, tx *db.Tx, in manageCancel) (appointments.PublicAppointment, error) {
	a, err := r.changeable(ctx, tx, in.Token, r.appointments.LockBehind)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	a, err = r.life.Become(ctx, tx, a, appointments.StatusCancelled, in.Reason, appointments.Manageable...)
	return a.ForVisitor(), err
}

type manageSlots struct {
	withToken
	times.Days
}

func (r *Room) manageSlots(ctx context.Context, tx *db.Tx, in manageSlots) (times.Slots, error) {
	a, err := r.changeable(ctx, tx, in.Token, r.appointments.Behind)
	if err != nil {
		return times.Slots{}, err
	}
	return r.times.ListMoves(ctx, tx, a, in.Days, times.ToVisitors)
}

type manageReschedule struct {
	withToken
	StartsAt time.Time `json:"starts_at" required:"true" doc:"The begin of a free time."`
	Staff    int64     `json:"staff" minimum:"1" doc:"The user id of the person; when left out the same one if free then, else anybody who is."`
}

func (r *Room) manageReschedule(ctx context.Context, tx *db.Tx, in manageReschedule) (appointments.PublicAppointment, error) {
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return appointments.PublicAppointment{}, err
	}
	a, err := r.changeable(ctx, tx, in.Token, r.appointments.LockBehind)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	a, err = r.move(ctx, tx, a, in.StartsAt, in.Staff, 0, times.ToVisitors)
	return a.ForVisitor(), err
}

// changeable is the appointment of a token that its client may change, in time, as find finds it.
func (r *Room) changeable(ctx context.Context, tx *db.Tx, token string, find func(context.Context, *db.Tx, string) (appointments.Record, error)) (appointments.Record, error) {
	a, err := find(ctx, tx, token)
	if err != nil {
		return a, err
	}
	tx.Who.Label = a.Client.Label()
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return a, err
	}
	return a, a.RefuseChange(settings, tx.Now)
}
