package form

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// desk is the room with an administrator and a published contact form.
type desk struct {
	*apptest.Service
	t     *testing.T
	admin *apptest.Client
	form  string
	// since is an id from before the case of a test: ids sort by time, in one process.
	since string
	// page is the newest version of a page.
	page int64
	// embedded are the requests that settings has answered.
	embedded map[string]bool
}

type m = map[string]any

func field(id, target string, more ...any) m {
	e := m{"id": id, "type": "field", "target": target}
	for i := 0; i+1 < len(more); i += 2 {
		e[more[i].(string)] = more[i+1]
	}
	return e
}

func open(t *testing.T) *desk {
	t.Helper()
	s := apptest.StartRooms(t, "forms", func(k *app.Kit, set *op.Set) []app.Room {
		none := func(context.Context, *db.Tx, int64, []Form) error { return nil }
		r := New(k, none)
		r.Forms(set)
		r.ForVisitors(set)
		return []app.Room{{Name: "form", Parts: r.Parts(set.Handler())}}
	})
	d := &desk{Service: s, t: t, admin: s.As("site_admin"), embedded: map[string]bool{}}
	d.form = d.publish(field("first", "contact.first_name"), field("email", "contact.email", "required", true))
	return d
}

// again is the desk as open makes it, for one more case of a test: there is one form, and the events are those that are sent from here on.
func (d *desk) again(t *testing.T) *desk {
	t.Helper()
	next := *d
	next.t = t
	next.Settle()
	for _, table := range []string{"form_column", "form", "idempotency"} {
		_, err := next.Kit.DB.Pool.Exec(t.Context(), `delete from `+table)
		require.NoError(t, err)
	}
	next.form = next.publish(field("first", "contact.first_name"), field("email", "contact.email", "required", true))
	next.Settle()
	next.since = db.NewID().String()
	return &next
}

// Events are those of the case.
func (d *desk) Events(topic string) []*proto.Envelope {
	d.t.Helper()
	return slices.DeleteFunc(d.Service.Events(topic), func(e *proto.Envelope) bool { return e.GetId() < d.since })
}

func (d *desk) publish(elements ...any) string {
	d.t.Helper()
	f := d.admin.Post("/forms", m{"name": "Contact form", "status": "publish", "definition": m{"elements": elements}}).Is(201)
	return fmt.Sprint(f.Field("id"))
}

const (
	waiting = 15 * time.Second
	tick    = 10 * time.Millisecond
)

// asked waits for the next request to put a form into a page.
func (d *desk) asked() (next *proto.EmbedInPage) {
	d.t.Helper()
	until.Holds(d.t, func() bool {
		for _, e := range d.Events(proto.SettingsCommandTopic) {
			next = &proto.EmbedInPage{}
			if e.GetKind() == proto.KindEmbedInPage && protobuf.Unmarshal(e.GetData(), next) == nil && !d.embedded[next.GetRequestId()] {
				d.embedded[next.GetRequestId()] = true
				return true
			}
		}
		return false
	}, waiting, tick)
	return next
}
