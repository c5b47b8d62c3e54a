package contacts

import (
	"testing"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

func TestAPersonWritesTwentyMailsAnHourFromWhateverAddress(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, func(c *app.Config) { c.RateFactor = 1 })
	one, other := s.As("svc_admin"), s.As("svc_admin")
	path := "/contacts/" + one.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id") + "/mails"
	text := object{"subject": "Hello", "body": "There"}
	for range 20 {
		one.Post(path, text).Is(201)
	}
	one.With("X-Forwarded-For", "192.0.2.9").Post(path, text).Fails(429, "svc_rate_limited")
	other.Post(path, text).Is(201)
}
