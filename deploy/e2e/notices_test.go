package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	ical "github.com/emersion/go-ical"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestAPersonIsMailedWhatAVisitorBooks(t *testing.T) {
	t.Parallel()
	d := sys.SetUp(t)
	me, email, _ := member(t, d.Admin, "Noor", "staff")
	id := userIDOf(t, me)
	service := d.Admin.Post(t, "/services", map[string]any{"name": "Intake", "duration_min": 30, "bookable_online": true, "staff": []int64{id}}).Is(201).Text("id")
	week := map[string]any{}
	for _, day := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		week[day] = [][2]string{{"09:00", "17:00"}}
	}
	system.Eventually(t, func() bool {
		return d.Admin.Call(t, "PUT", fmt.Sprintf("/staff/%d/hours", id), map[string]any{"hours": week}).Status == 200
	}, "booking does not know the person")
	me.Call(t, "PATCH", "/me/notifications", map[string]any{"language": "fr"}).Is(200)
	d.Service = service
	starts, token := d.Slots(t)
	system.Wait()
	client := system.Address("ada")
	visitor.Post(t, "/booking/book", d.Booking(starts[3], token, client)).Is(201)

	var mail system.Mail
	system.Eventually(t, func() bool {
		for _, m := range sys.Mails(t, email) {
			if strings.HasPrefix(m.Subject, "Nouveau rendez-vous : Ada Visitor") {
				mail = m
				return true
			}
		}
		return false
	}, "no mail to the person")
	require.Contains(t, mail.Text, client)
	require.NotContains(t, mail.Text, "#token=", "the link is the client's")
	require.NotEmpty(t, mail.Attachments)
	res, err := http.Get(sys.Now(t).MailPage + mail.Attachments[0].URL)
	require.NoError(t, err)
	defer res.Body.Close()
	file, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	calendar, err := ical.NewDecoder(strings.NewReader(string(file))).Decode()
	require.NoError(t, err)
	method, err := calendar.Props.Text(ical.PropMethod)
	require.NoError(t, err)
	require.Equal(t, "REQUEST", method)
	require.Len(t, calendar.Events(), 1)
	n := me.Get(t, "/me/news").Is(200)
	require.EqualValues(t, 1, n.Field("appointments"))
	me.Post(t, "/me/news/seen", nil).Is(200)
	require.EqualValues(t, 0, me.Get(t, "/me/news").Is(200).Field("appointments"))
}
