package booking

import (
	"context"

	"frontdesk/libs/db"
)

// dueRequests are the requests a that have waited too long at the time $1; none if the setting is 0.
const dueRequests = `from appointment a, settings s where a.status = 'pending' and s.request_expires_hours > 0
	and a.timed_at <= $1::timestamptz - make_interval(hours => s.request_expires_hours)`

// expireRequests declines the requests that nobody has answered within the hours that the settings give, counted from when
// their time was last set, and mails their clients. It does nothing if the setting is 0.
func (s *service) expireRequests(ctx context.Context) error {
	return s.eachDue(ctx, s.unexpired, dueRequests, s.expireRequest)
}

func (s *service) expireRequest(ctx context.Context, tx *db.Tx, a record) error {
	_, err := s.become(ctx, tx, a, statusDeclined, "Nobody answered the request in time.", statusPending)
	return err
}
