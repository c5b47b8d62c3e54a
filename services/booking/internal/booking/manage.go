package booking

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

type withToken struct {
	Token string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
}

func (s *service) manage(ctx context.Context, tx *db.Tx, in withToken) (PublicAppointment, error) {
	a, err := s.behind(ctx, tx, in.Token, "")
	return publicly(a), err
}

type manageCancel struct {
	withToken
	Reason string `json:"reason" maxLength:"500" doc:"Why, in words; the team reads it."`
}

func (s *service) manageCancel(ctx context.Context, tx *db.Tx, in manageCancel) (PublicAppointment, error) {
	a, err := s.changeable(ctx, tx, in.Token)
	if err != nil {
		return PublicAppointment{}, err
	}
	a, err = s.become(ctx, tx, a, statusCancelled, in.Reason, manageable...)
	return publicly(a), err
}

type manageReschedule struct {
	withToken
	StartsAt time.Time `json:"starts_at" required:"true" doc:"The begin of a free time."`
	Staff    int64     `json:"staff" minimum:"1" doc:"The user id of the person; anybody who is free when left out."`
}

func (s *service) manageReschedule(ctx context.Context, tx *db.Tx, in manageReschedule) (PublicAppointment, error) {
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return PublicAppointment{}, err
	}
	a, err := s.changeable(ctx, tx, in.Token)
	if err != nil {
		return PublicAppointment{}, err
	}
	a, err = s.move(ctx, tx, a, in.StartsAt, in.Staff, toVisitors)
	return publicly(a), err
}

// changeable locks the appointment of a token for a change by its client, who must be allowed and in time.
func (s *service) changeable(ctx context.Context, tx *db.Tx, token string) (record, error) {
	a, err := s.behind(ctx, tx, token, "for no key update")
	if err != nil {
		return a, err
	}
	tx.Who.Label = a.client.label()
	settings, err := readSettings(ctx, tx)
	if err != nil {
		return a, err
	}
	return a, a.refuseChange(settings, tx.Now)
}
