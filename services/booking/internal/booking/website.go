package booking

import (
	"context"
	"net/http"

	"frontdesk/libs/db"
	ui "frontdesk/libs/web"
	"frontdesk/services/booking/internal/booking/web"
)

// website is the pages and assets of booking.
func (s *service) website(api http.Handler) http.Handler {
	return web.Pages(web.Desk{
		Site:   ui.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: api},
		Now:    s.DB.Now,
		Key:    s.Keys.For("manage page"),
		Fields: s.customFields,
		Rules: func(ctx context.Context) (rules web.Rules, err error) {
			err = s.DB.Read(ctx, func(tx *db.Tx) error {
				settings, err := readSettings(ctx, tx)
				rules = web.Rules{ClientChanges: settings.ClientChanges, CancelNoticeHours: settings.CancelNoticeHours, LateCancelText: settings.LateCancelText}
				return err
			})
			return rules, err
		},
	})
}
