package tag

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/field"
)

// Room keeps tags.
type Room struct {
	*app.Kit
	field     *field.Room
	retagging *app.Aside[uuid.UUID] // the contacts on which a change of a tag failed
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room {
	return &Room{Kit: k, field: fields, retagging: app.NewAside[uuid.UUID]("changed tags")}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Workers:  []app.Worker{{Name: "changed tags", Pause: 300 * time.Millisecond, Slice: r.changeTagsNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"tag": app.Nobody, "tag_name": app.Nobody, "tag_change": app.Nobody}},
	}
}

//go:embed examples.json
var examples []byte

const (
	failDeleting = "The tag is being deleted. changing says how far that is."
	failInUse    = "Contacts have the tag, perhaps some in the trash."
)

// Tags declares the operations on tags.
func (r *Room) Tags(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-tags", Route: "GET /tags", Perm: auth.ViewContacts, Record: "tag",
		Doc: "List all tags with their slugs.",
		Use: "Use it before you tag, so that you take the name that is used already. changing is there while a rename, a merge or a deletion reaches the contacts."}, r.listTags)
	op.Add(set, op.Op{ID: "create-tag", Undo: op.Undo{By: "delete-tag", With: map[string]any{"unused": true}}, Route: "POST /tags", Perm: auth.EditContacts, Record: "tag", Status: http.StatusCreated, Also: http.StatusOK,
		Doc:   "Create a tag, or get the one with the same name.",
		Use:   "Tagging a contact makes the tag too, so this is rarely needed. Answers with the tag.",
		Fails: op.Fails{"svc_conflict deleting": failDeleting}}, r.createTag)
	op.Add(set, op.Op{ID: "update-tag", Undo: op.Undo{Steps: true}, Versioned: true, Route: "PATCH /tags/{slug}", Perm: auth.ManageCRM, SeesAll: true, Idempotent: true, Record: "tag",
		Doc: "Change the name of a tag on every contact that has it. Its slug stays, and the former name still means the tag.",
		Use: "Use it to correct a tag for everybody. svc_duplicate names the tag that has the name in data.id: merge-tags makes the two one. Answers with the tag; the contacts follow in the background, see changing.",
		Fails: op.Fails{"svc_duplicate": "Another tag has this name. data.id is its slug.",
			"svc_conflict deleting": failDeleting}}, r.updateTag)
	op.Add(set, op.Op{ID: "merge-tags", Undo: op.Undo{Never: op.ForGood}, Route: "POST /tags/{slug}/merge", Perm: auth.ManageCRM, SeesAll: true, Destructive: true, Record: "tag",
		Doc:   "Make another tag this one, on every contact that has it. The names of the other mean this one then.",
		Use:   "Use it when two tags mean the same: slug stays, other_slug goes, and which contacts had it is in their timelines only. Ask the person you work for first. Answers with the tag; the contacts follow in the background, see changing.",
		Fails: op.Fails{"svc_conflict deleting": failDeleting}}, r.mergeTags)
	op.Add(set, op.Op{ID: "delete-tag", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /tags/{slug}", Perm: auth.ManageCRM, SeesAll: true, Record: "tag",
		Doc:   "Delete a tag and take it off every contact. It is in list-tags until the last contact has lost it.",
		Use:   "The contacts stay; which of them had the tag is in their timelines only. Count them with find-contacts and ask the person you work for first. With unused it is refused if a contact has the tag.",
		Fails: op.Fails{"svc_conflict in_use": failInUse}}, r.deleteTag)
}
