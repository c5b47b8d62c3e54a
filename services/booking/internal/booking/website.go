package booking

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	ui "frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/booking/web"
)

// fieldTable is the copy of the custom fields, for which the details step chooses fitting inputs.
type fieldTable struct{ *bus.Table[customField] }

type customField struct {
	Entity, Key, Label, Type string
	Options                  []string
}

func newFieldTable(b *bus.Bus) fieldTable {
	return fieldTable{bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (f customField, err error) {
		var env proto.Envelope
		if err := protobuf.Unmarshal(value, &env); err != nil {
			return f, err
		}
		return f, json.Unmarshal(env.GetData(), &f)
	})}
}

// named is the field that a form's target names: contact.fields.<key> and the like.
func (t fieldTable) named(target string) (web.Field, bool) {
	entity, key, ok := strings.Cut(target, ".fields.")
	if !ok {
		return web.Field{}, false
	}
	for _, f := range t.All() {
		if f.Entity == entity && f.Key == key {
			return web.Field{Type: f.Type, Label: f.Label, Options: f.Options}, true
		}
	}
	return web.Field{}, false
}

// website is the pages and assets of booking.
func (s *service) website(ops *op.Set, fields fieldTable) http.Handler {
	return web.Pages(web.Desk{
		Site:  ui.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: ops.Handler()},
		Now:   s.DB.Now,
		Field: fields.named,
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
