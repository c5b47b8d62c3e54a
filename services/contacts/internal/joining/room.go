package joining

import (
	_ "embed"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/people"
)

// Room makes one contact of what means one person.
type Room struct {
	*app.Kit
	field     *field.Room
	marketing *marketing.Room
	people    *people.Room
}

// New makes the room.
func New(k *app.Kit, fields *field.Room, subscriptions *marketing.Room, contacts *people.Room) *Room {
	return &Room{k, fields, subscriptions, contacts}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: bus.On(proto.KindEnsureContact, r.ensureContact), Lock: contact.LockCommands}},
		Jobs:     []app.Job{{Name: "answers", Every: time.Hour, Run: r.dropAnswers}},
		Personal: app.Personal{Holds: map[string]app.Holds{"answered": app.People}},
	}
}

//go:embed examples.json
var examples []byte

// Merges declares how two contacts become one.
func (r *Room) Merges(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "merge-contacts", Undo: op.Undo{Never: op.ForGood}, Route: "POST /contacts/{id}/merge", Perm: auth.DeleteContacts, Record: "contact", Destructive: true,
		Doc: "Merge another contact into this one; the other is deleted for good.",
		Use: "Use it when two contacts are one person: id stays, other_id goes and cannot be brought back. Values of id win; those of other_id fill its gaps, and what differs is kept in the timeline. Show both to the person you work for first.",
		Fails: op.Fails{
			"svc_duplicate":      people.FailTaken,
			"svc_conflict email": people.FailInUse,
			"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, r.mergeContacts)
}
