package submission

import (
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
	"frontdesk/services/forms/internal/digest"
	"frontdesk/services/forms/internal/form"
)

// start runs the rooms of forms and submissions, and the digest of their spam.
func start(t *testing.T, configure ...func(*app.Config)) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "forms", func(k *app.Kit, set *op.Set) []app.Room {
		forms := form.New(k, Count)
		submissions := New(k, forms)
		forms.Forms(set)
		forms.ForVisitors(set)
		submissions.Export(set)
		submissions.ForVisitors(set)
		submissions.Submissions(set)
		return []app.Room{{Name: "form", Parts: forms.Parts(set.Handler())}, {Name: "submission", Parts: submissions.Parts()},
			{Name: "digest", Parts: digest.New(k, forms).Parts()}}
	}, configure...)
}

// desk is these rooms with an administrator, a published contact form and somebody who plays contacts.
type desk struct {
	*apptest.Service
	t     *testing.T
	admin *apptest.Client
	form  string
	// answered are the commands that contacts has answered, by id of the event.
	answered map[string]bool
	versions map[string]int64
	// since is an id from before the case of a test: ids sort by time, in one process.
	since string
}

type m = map[string]any

func field(id, target string, more ...any) m {
	e := m{"id": id, "type": "field", "target": target}
	for i := 0; i+1 < len(more); i += 2 {
		e[more[i].(string)] = more[i+1]
	}
	return e
}

func open(t *testing.T, configure ...func(*app.Config)) *desk {
	t.Helper()
	d := &desk{Service: start(t, configure...), t: t, answered: map[string]bool{}, versions: map[string]int64{}}
	d.admin = d.As("site_admin")
	d.form = d.contactForm()
	return d
}

func (d *desk) contactForm() string {
	d.t.Helper()
	return d.publish(field("first", "contact.first_name"), field("email", "contact.email", "required", true), field("message", "submission.fields.message"))
}

// again is the desk as open makes it, for one more case of a test: there are no submissions, no contacts and one form, and the events
// are those that are sent from here on. Custom fields, pages and people stay. It takes a tenth of the time of another service.
func (d *desk) again(t *testing.T) *desk {
	t.Helper()
	next := *d
	next.t = t
	next.Settle()
	for _, table := range []string{"submission", "form_column", "form", "contact", "contact_alias", "organization", "idempotency", "forgotten_person"} {
		_, err := next.Kit.DB.Pool.Exec(t.Context(), `delete from `+table)
		require.NoError(t, err)
	}
	next.form = next.contactForm()
	next.Settle()
	next.since = db.NewID().String()
	return &next
}

// Events are those of the case. A tombstone, which has no id, belongs to the case of its record's other events.
func (d *desk) Events(topic string) []*proto.Envelope {
	d.t.Helper()
	all, records := d.Service.Events(topic), map[string]bool{}
	for _, e := range all {
		records[e.GetRecordId()] = records[e.GetRecordId()] || e.GetId() >= d.since && e.GetId() != ""
	}
	return slices.DeleteFunc(all, func(e *proto.Envelope) bool {
		return !records[e.GetRecordId()] || e.GetId() != "" && e.GetId() < d.since
	})
}

func (d *desk) publish(elements ...any) string {
	d.t.Helper()
	return d.publishWith(m{"elements": elements})
}

func (d *desk) publishWith(definition m) string {
	d.t.Helper()
	f := d.admin.Post("/forms", m{"name": "Contact form", "status": "publish", "definition": definition}).Is(201)
	return fmt.Sprint(f.Field("id"))
}

// token is a time token of a form that was opened a while ago.
func (d *desk) token(form string) string {
	d.t.Helper()
	token := d.Visitor().Get("/forms/" + form + "/token").Is(200).Text("token")
	d.Travel(5 * time.Second)
	return token
}

func (d *desk) send(form string, values m) *apptest.Answer {
	d.t.Helper()
	return d.Visitor().Post("/forms/"+form+"/submit", m{"values": values, "token": d.token(form), "hp_url": "", "page": "https://example.com/contact"})
}

// commands are those to contacts so far.
func (d *desk) commands() (list []*proto.EnsureContact) {
	d.t.Helper()
	for _, e := range d.Events(proto.ContactsCommandTopic) {
		if e.GetKind() == proto.KindEnsureContact {
			c := &proto.EnsureContact{}
			require.NoError(d.t, protobuf.Unmarshal(e.GetData(), c))
			list = append(list, c)
		}
	}
	return list
}

// contacts answers every command that has no answer yet, as the service of that name would.
func (d *desk) contacts(change func(c *proto.EnsureContact, data m, extra m)) {
	d.t.Helper()
	for _, e := range d.Events(proto.ContactsCommandTopic) {
		if d.answered[e.GetId()] || e.GetKind() != proto.KindEnsureContact {
			continue
		}
		d.answered[e.GetId()] = true
		c := &proto.EnsureContact{}
		require.NoError(d.t, protobuf.Unmarshal(e.GetData(), c))
		data := person(c.GetContactId(), c.GetFirstName(), c.GetEmail(), c.GetOwnerUserId())
		extra := m{"origin": c.GetOrigin(), "origin_id": c.GetOriginId(), "requested_id": c.GetContactId(), "contact_id": c.GetContactId(), "result": "created"}
		if change != nil {
			change(c, data, extra)
		}
		id := fmt.Sprint(data["id"])
		d.versions[id]++
		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: id, Version: d.versions[id], Actor: e.GetActor(), Data: data, Extra: extra})
	}
	d.Settle()
}

func person(id, first, email string, owner int64) m {
	data := m{"id": id, "first_name": first, "last_name": "", "email": email, "phone": "", "organization": nil, "owner_user_id": nil}
	if owner != 0 {
		data["owner_user_id"] = owner
	}
	return data
}

// addField publishes a custom field as contacts would.
func (d *desk) addField(entity, key, label, kind string, options ...string) {
	d.t.Helper()
	d.Send(apptest.Event{Topic: proto.FieldTopic, Kind: proto.KindFieldCreated, Key: entity + key, Version: 1,
		Data: m{"id": entity + key, "entity": entity, "key": key, "label": label, "type": kind, "options": options, "archived": false}})
}

// archiveField archives a field that addField has made, and waits until the service knows.
func (d *desk) archiveField(entity, key, label, kind string) {
	d.t.Helper()
	d.Send(apptest.Event{Topic: proto.FieldTopic, Kind: proto.KindFieldUpdated, Key: entity + key, Version: 2,
		Data: m{"id": entity + key, "entity": entity, "key": key, "label": label, "type": kind, "options": []string{}, "archived": true}})
	until.Holds(d.t, func() bool {
		asks := m{"name": "x", "definition": m{"elements": []any{field("a", entity+".fields."+key)}}}
		return d.admin.Post("/forms", asks).Status == 400
	}, waiting, tick)
}

// contact sends an event about a contact.
func (d *desk) contact(kind string, data, extra m) {
	d.t.Helper()
	id := data["id"].(string)
	d.versions[id]++
	d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: kind, Key: id, Version: d.versions[id], Data: data, Extra: extra})
	d.Settle()
}

func (d *desk) only() m {
	d.t.Helper()
	items := d.admin.Get("/submissions").Is(200).Items()
	require.Len(d.t, items, 1)
	return items[0]
}

const (
	waiting = 15 * time.Second
	tick    = 10 * time.Millisecond
)
