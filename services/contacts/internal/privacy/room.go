package privacy

import (
	_ "embed"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/imports"
)

// Room erases people, and gives them what is kept about them.
type Room struct {
	*app.Kit
	imports *imports.Room
	trash   *app.Aside[uuid.UUID] // the contacts that could not be erased
}

// New makes the room.
func New(k *app.Kit, files *imports.Room) *Room {
	return &Room{k, files, app.NewAside[uuid.UUID]("trash")}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs:     []app.Job{{Name: "trash", Every: time.Hour, Run: r.emptyTrash}},
		Restored: r.restored,
	}
}

//go:embed examples.json
var examples []byte

// Privacy declares what becomes of all that is stored about an address.
func (r *Room) Privacy(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "erase-personal-data", Undo: op.Undo{Never: op.ForGood}, Route: "POST /privacy/erase", Perm: auth.ManageCRM, Record: "privacy", Destructive: true,
		Doc: "Erase the person with an email address and everything about them, for good.",
		Use: "Use it only when a person has asked to be forgotten, and the one you work for confirms the address. Contact, timeline, appointments, submissions and mails go in all services; nothing brings them back. Answers with how many were erased."}, r.erasePersonalData)
	op.Add(set, op.Op{ID: "export-personal-data", Route: "POST /privacy/personal-data", Perm: auth.ManageCRM, Record: "privacy", Reads: true, Audited: true,
		Doc: "Get everything that is kept about the person with an email address.",
		Use: "Use it when a person asks for their data. Answers with contacts, timeline, consents, appointments and submissions, at most 4 MiB; it is itself in the audit log."}, r.exportPersonalData)
}
