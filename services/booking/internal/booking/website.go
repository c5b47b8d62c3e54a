package booking

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	ui "frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/booking/web"
)

// fieldTable is the copy of the custom fields, which say what the details step asks.
type fieldTable struct{ *bus.Table[form.Field] }

func newFieldTable(b *bus.Bus) fieldTable {
	return fieldTable{bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (form.Field, int64, error) {
		var f struct {
			Entity, Key, Label, Type string
			Options                  []string
			Archived                 bool
		}
		env, err := bus.OpenEnvelope(value, &f)
		return form.Field(f), env.GetVersion(), err
	})}
}

// named gives all fields, archived ones too, by the targets that name them.
func (t fieldTable) named() form.Fields {
	return form.FieldsOf(slices.Collect(maps.Values(t.All()))...)
}

// website is the pages and assets of booking.
func (s *service) website(ops *op.Set) http.Handler {
	return web.Pages(web.Desk{
		Site:   ui.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: ops.Handler()},
		Now:    s.DB.Now,
		Key:    s.Keys.For("manage page"),
		Fields: s.fields.named,
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
