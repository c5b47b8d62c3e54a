package booking

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// records declares what other services keep copies of.
func (s *service) records() []app.Published {
	return []app.Published{
		app.OneRecord(proto.ServiceTopic, settingsKey, publishSettings, func(ctx context.Context, tx *db.Tx, version int64) (int, error) {
			tag, err := tx.Exec(ctx, `update settings set version = $1 + 1 where version < $1`, version)
			return int(tag.RowsAffected()), err
		}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.ServiceTopic, Table: "service", Emit: publishServices}),
		// A row without a version was never published.
		app.Records(app.Rows[int64]{Topic: proto.StaffTopic, Table: "staff", Column: "user_id", Where: "version > 0", Emit: s.publishStaff}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.AppointmentTopic, Table: "appointment", Emit: s.publishAppointments}),
	}
}

func publishSettings(ctx context.Context, tx *db.Tx) error {
	v, err := lockSettings(ctx, tx)
	if err != nil {
		return err
	}
	return emitSettings(ctx, tx, v)
}

func publishServices(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	found, err := queryServices(ctx, tx, `where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	for _, v := range found {
		kind := proto.KindServiceUpdated
		if v.Archived {
			kind = proto.KindServiceArchived
		}
		if err := emitService(ctx, tx, v, kind); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) publishStaff(ctx context.Context, tx *db.Tx, ids []int64) error {
	found, err := s.profiles(ctx, tx, `where user_id = any($1) order by user_id`, ids)
	if err != nil {
		return err
	}
	for _, p := range found {
		if err := tx.Emit(ctx, p.event(proto.KindStaffUpdated, nil)); err != nil {
			return err
		}
	}
	return nil
}

// publishAppointments publishes appointment.updated for appointments as they are now, with the hashes of their clients'
// addresses, by which contacts finds those of a person who is no contact.
func (s *service) publishAppointments(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	found, err := s.queryAppointments(ctx, tx, `where a.id = any($1) order by a.id`, ids)
	if err != nil {
		return err
	}
	for _, a := range found {
		named := &proto.PeopleNamed{Called: tx.PeopleNamed([]byte(a.client.email))}
		if err := tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, named)); err != nil {
			return err
		}
	}
	return nil
}
