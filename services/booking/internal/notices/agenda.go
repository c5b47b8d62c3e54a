package notices

import (
	"context"
	"fmt"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// onSendAgenda tells each of the people the appointments that they have on a day; nobody who has none, and nobody while the app is off.
func (r *Room) onSendAgenda(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.SendAgenda) error {
	day, err := time.ParseInLocation(time.DateOnly, m.GetDay(), r.Config.Zone)
	if err != nil {
		return fmt.Errorf("day of an agenda: %w", err)
	}
	if !r.Apps.On(r.Service) {
		return nil
	}
	end := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, r.Config.Zone)
	found, err := r.appointments.Query(ctx, tx, `where a.user_id = any($1) and a.starts_at >= $2 and a.starts_at < $3 and a.status in ('pending', 'confirmed')
		order by a.starts_at, a.id`, m.GetUserIds(), day, end)
	if err != nil {
		return err
	}
	visits := map[int64][]*proto.Notice_Visit{}
	for _, a := range found {
		visits[a.UserID] = append(visits[a.UserID], visit(a, a))
	}
	for _, user := range m.GetUserIds() {
		if len(visits[user]) == 0 {
			continue
		}
		n := &proto.Notice{To: []*proto.Notice_Addressee{{UserId: user, Kind: agenda, How: "day"}}, App: r.Service, Visits: visits[user], NotBefore: m.GetAt(), NotAfter: end.Unix()}
		if err := tx.Tell(ctx, fmt.Sprintf("agenda/%d", user), n); err != nil {
			return err
		}
	}
	return nil
}
