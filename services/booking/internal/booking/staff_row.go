package booking

import (
	"context"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// staffRow is a row of the table staff as far as booking needs it. Name and meeting link are those the person has chosen.
type staffRow struct {
	UserID     int64
	Name       string
	MeetingURL string
	Removed    bool
	Hours      slots.Week
}

// queueStaff reads, with a batch, the rows that where allows into byUser.
func queueStaff(b *pgx.Batch, byUser map[int64]staffRow, where string, args ...any) {
	b.Queue(`select user_id, name, meeting_url, removed_at is not null as removed, hours from staff `+where, args...).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[staffRow])
		for _, row := range all {
			byUser[row.UserID] = row
		}
		return err
	})
}

// ensureStaff makes a row for a user who has none.
func ensureStaff(ctx context.Context, tx *db.Tx, user int64) error {
	_, err := tx.Exec(ctx, `insert into staff (user_id) values ($1) on conflict do nothing`, user)
	return err
}

// StaffRef names a staff member as clients see the name.
type StaffRef struct {
	UserID int64  `json:"user_id" doc:"The user id of the person."`
	Name   string `json:"name" doc:"The name of the person."`
}

// staffName is the name clients see: the chosen one, else the user's own.
func (s *service) staffName(id int64, chosen string) string {
	if chosen != "" {
		return chosen
	}
	if u, ok := s.Identity.User(id); ok {
		if u.GetName() != "" {
			return u.GetName()
		}
		return u.GetLogin()
	}
	return "Former staff member"
}
