package chaos

import (
	"mime"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
)

// A mail server refuses the mails to two clients for a while. What waits about one appointment goes out in the order in which it happened, a
// reminder that the cancellation overtook does not go out at all, and nobody else waits.
func TestMailsAboutOneAppointmentKeepTheirOrder(t *testing.T) {
	w := start(t)
	w.Settled(t)
	w.Admin.Call(t, "PATCH", "/settings/booking", map[string]any{"reminder_enabled": false, "reminder_hours": 168}).Is(200)
	waiting, cancelled, other := system.Address("waiting"), system.Address("cancelled"), system.Address("other")
	starts, token := w.Slots(t)
	system.Wait()
	book := func(slot int, email string) {
		t.Helper()
		w.System.Visitor().Post(t, "/booking/book", w.Booking(starts[slot], token, email)).Is(201)
	}
	mails := func(email, condition string) int {
		t.Helper()
		return w.number(t, `select count(*) from settings.mail where recipient = $1 and `+condition, email)
	}
	book(4, cancelled)
	until.Holds(t, func() bool { return w.Mails.count(cancelled) == 1 }, time.Minute, 50*time.Millisecond)

	began := time.Now()
	w.Mails.meets(func(_ stage, l letter) error {
		if l.To == waiting || l.To == cancelled {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come back later"}
		}
		return nil
	})
	book(5, waiting)
	until.Holds(t, func() bool { return mails(waiting, `status = 'retrying'`) == 1 }, time.Minute, 50*time.Millisecond)
	_, err := w.DB.Exec(t.Context(), `update booking.appointment set timed_at = now() - interval '30 days'`)
	require.NoError(t, err)
	w.Admin.Call(t, "PATCH", "/settings/booking", map[string]any{"reminder_enabled": true}).Is(200)
	until.Holds(t, func() bool {
		return mails(waiting, `kind = 'appointment.reminder'`) == 1 && mails(cancelled, `kind = 'appointment.reminder' and status = 'retrying'`) == 1
	}, time.Minute, 50*time.Millisecond)
	var id string
	require.NoError(t, w.DB.QueryRow(t.Context(), `select a.id::text from booking.appointment a join booking.contact c on c.id = a.contact_id where c.email = $1`, cancelled).Scan(&id))
	w.Admin.Post(t, "/appointments/"+id+"/cancel", map[string]any{}).Is(200)
	until.Holds(t, func() bool { return mails(cancelled, `kind = 'appointment.cancelled' and status = 'retrying'`) == 1 }, time.Minute, 50*time.Millisecond)
	book(6, other)
	until.Holds(t, func() bool { return w.Mails.count(other) > 0 }, time.Minute, 50*time.Millisecond)
	require.Zero(t, w.Mails.count(waiting))

	w.Mails.meets(nil)
	until.Holds(t, func() bool {
		return mails(waiting, `status = 'sent'`) == 2 && mails(cancelled, `status = 'sent'`) == 2
	}, 2*time.Minute, 100*time.Millisecond)
	took := time.Since(began)
	w.Settled(t)
	subject := func(email, kind string) (s string) {
		t.Helper()
		require.NoError(t, w.DB.QueryRow(t.Context(), `select subject from settings.mail where recipient = $1 and kind = $2`, email, kind).Scan(&s))
		return s
	}
	require.Equal(t, []string{subject(waiting, "appointment.booked"), subject(waiting, "appointment.reminder")}, w.Mails.subjects(t, waiting))
	require.Equal(t, []string{subject(cancelled, "appointment.booked"), subject(cancelled, "appointment.cancelled")}, w.Mails.subjects(t, cancelled))
	reportCounts(t, "a mail server refuses two clients for a while", "3 bookings, 2 reminders, 1 cancellation", took, map[string]int{
		"the confirmation that waited": mails(waiting, `kind = 'appointment.booked' and status = 'sent'`), "its reminder": mails(waiting, `kind = 'appointment.reminder' and status = 'sent'`),
		"the cancellation": mails(cancelled, `kind = 'appointment.cancelled' and status = 'sent'`), "the reminder that it overtook": mails(cancelled, `kind = 'appointment.reminder' and status = 'failed'`)})
}

// subjects are those of the mails that an address has got, in the order in which they came.
func (p *postbox) subjects(t *testing.T, to string) (all []string) {
	t.Helper()
	for _, l := range p.sent() {
		if l.To != to {
			continue
		}
		m, err := mail.ReadMessage(strings.NewReader(l.Raw))
		require.NoError(t, err)
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		require.NoError(t, err)
		all = append(all, subject)
	}
	return all
}
