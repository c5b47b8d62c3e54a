package booking

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// Booking has no SVC_MAIL_FROM: what settings publishes of its own is what counts.
func TestTheSenderOfTheSiteOrganizesWhereTheBusinessHasNoAddress(t *testing.T) {
	o := open9to5(t, object{}, func(c *app.Config) { c.MailFrom = "not-mine@example.com" })
	for i, c := range []struct {
		site object
		want string
	}{
		{object{"business": object{"name": "Jansen", "email": "office@example.com"}, "mail_from": "desk@example.com"}, "mailto:office@example.com"},
		{object{"business": object{"name": "Jansen", "email": ""}, "mail_from": "desk@example.com"}, "mailto:desk@example.com"},
		{object{"business": object{"name": "Jansen", "email": ""}}, "mailto:frontdesk@localhost"}, // of an older version
	} {
		o.Send(apptest.Event{Topic: proto.SiteTopic, Kind: proto.KindSiteUpdated, Key: "general", Version: int64(i + 2), Data: c.site})
		o.Settle()
		email := []string{"a@example.com", "b@example.com", "c@example.com"}[i]
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(i+1, "10:00"), email)).Is(201)
		o.Settle()
		require.Contains(t, unfolded(o.mails(email)[0]), c.want)
	}
}
