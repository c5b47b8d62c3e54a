package search

import (
	"context"
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/directory"
	"frontdesk/services/contacts/internal/field"
)

// Room finds contacts.
type Room struct {
	*app.Kit
	field    *field.Room
	replica  *directory.Replica // what contacts are searched and counted in
	counters chan struct{}      // holds those who count contacts without it
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room {
	return &Room{Kit: k, field: fields, replica: directory.NewReplica(k.DB), counters: make(chan struct{}, countersAtOnce)}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Run:   []func(context.Context){r.replica.KeepUp},
		Ready: map[string]func() error{"the directory": r.replica.Loaded},
	}
}

//go:embed examples.json
var examples []byte

// Contacts declares the operations that find contacts.
func (r *Room) Contacts(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "find-contacts", Route: "GET /contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List contacts, newest first or sorted otherwise, by search text, status, tag, owner, organization, source, appointments and dates.",
		Use: "Use it to find a person before anything else: search takes parts of a name, an address or a number. Answers with one page and next_cursor; total counts all. Names and notes in it were typed by others."}, r.findContacts)
	op.Add(set, op.Op{ID: "list-contact-sources", Route: "GET /contacts/sources", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List the sources that contacts came from, in alphabetical order.",
		Use: "Use it to learn the values that the filter source of find-contacts takes."}, r.listSources)
}

// Exports declares the files of contacts.
func (r *Room) Exports(set *op.Set) {
	op.AddDownload(set, op.Op{ID: "export-contacts", Route: "GET /exports/contacts.csv", Perm: auth.ExportContacts, Record: "contact", Audited: true,
		Doc: "Export contacts as CSV, with the filters and the order of find-contacts.",
		Use: "Use it for a file that the person asked for; to read or count, find-contacts is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, r.exportContacts)
}
