package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/services"
)

func TestWhatAMoveChanges(t *testing.T) {
	t.Parallel()
	reminded, now := monday9.Add(-20*time.Hour), monday9.Add(-2*time.Hour)
	was := appointments.Record{UserID: 1, StartsAt: monday9, EndsAt: monday9.Add(time.Hour), TimedAt: monday9.AddDate(0, 0, -7), RemindedAt: &reminded}
	along, before := reminded.Add(3*time.Hour), reminded.Add(-time.Hour)
	for name, c := range map[string]struct {
		by       time.Duration
		longer   time.Duration
		staff    int64
		mail     string
		fields   []string
		reminded *time.Time
	}{
		"another time":         {3 * time.Hour, 0, 1, proto.KindAppointmentRescheduled, []string{"starts_at", "ends_at"}, &along},
		"another day":          {-25 * time.Hour, 0, 1, proto.KindAppointmentRescheduled, []string{"starts_at", "ends_at"}, nil},
		"another person":       {0, 0, 2, mails.HandedOver, []string{"staff"}, &reminded},
		"both, by a long time": {25 * time.Hour, 0, 2, proto.KindAppointmentRescheduled, []string{"starts_at", "ends_at", "staff"}, nil},
		"longer":               {0, 30 * time.Minute, 1, proto.KindAppointmentRescheduled, []string{"ends_at"}, &reminded},
		"earlier and longer":   {-time.Hour, time.Hour, 1, proto.KindAppointmentRescheduled, []string{"starts_at"}, &before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rescheduled(was, monday9.Add(c.by), time.Hour+c.longer, c.staff, services.Settings{ReminderHours: 24}, now)
			require.Equal(t, []any{c.mail, c.fields, c.staff}, []any{got.Mail, got.Fields, got.Now.UserID})
			require.Equal(t, []time.Time{monday9.Add(c.by), monday9.Add(c.by + time.Hour + c.longer)}, []time.Time{got.Now.StartsAt, got.Now.EndsAt})
			require.Equal(t, c.reminded, got.Now.RemindedAt)
			require.Equal(t, c.by != 0, got.Now.TimedAt.Equal(now))
			require.Equal(t, was, got.Was)
		})
	}
}
