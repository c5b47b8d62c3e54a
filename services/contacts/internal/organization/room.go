package organization

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
)

// Room keeps organizations.
type Room struct {
	*app.Kit
	field *field.Room
	news  news // the rows on which publishNext failed
	// Moved are called when an organization was merged into another, before it goes: rooms above keep what belongs to it.
	Moved []func(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room {
	return &Room{Kit: k, field: fields, news: news{app.NewAside[uuid.UUID]("people of organizations"), app.NewAside[uuid.UUID]("person of an organization")}}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Workers:   []app.Worker{{Name: "people of organizations", Pause: time.Second, Slice: r.publishNext}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"organization": app.Nobody, "organization_distinct": app.Nobody, "organization_news": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.OrganizationTopic, Table: "organization", Emit: publish})},
	}
}

//go:embed examples.json
var examples []byte

// Organizations declares the operations on organizations.
func (r *Room) Organizations(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "find-organizations", Route: "GET /organizations", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List organizations, newest first or sorted otherwise, by search text, owner and date of change.",
		Use: "Use it to find a company by parts of its name, VAT number, address or city. Answers with one page and next_cursor."}, r.findOrganizations)
	op.Add(set, op.Op{ID: "create-organization", Undo: op.Undo{By: "delete-organization"}, Route: "POST /organizations", Perm: auth.EditContacts, Record: "organization", Status: http.StatusCreated,
		Doc: "Create an organization. Look for similar ones first.",
		Use: "find-organization-duplicates shows whether it exists already. Answers with the new organization."}, r.createOrganization)
	op.Add(set, op.Op{ID: "bulk-organizations", Undo: op.Undo{Steps: true}, Route: "POST /organizations/bulk", Perm: auth.EditContacts, Record: "organization", Unaudited: true,
		Doc: "Change up to 1,000 organizations at once: their owner, or the trash. Each is changed or refused by itself. trash and restore need the right to delete, and stand alone.",
		Use: "Use it with ids from find-organizations, in steps of 1,000. changed and skipped are counts; failed says which were refused and why."}, r.changeMany)
	op.Add(set, op.Op{ID: "find-organization-duplicates", Route: "POST /organizations/duplicates", Perm: auth.ViewContacts, Record: "organization", Reads: true,
		Doc: "Find organizations with the same name (whatever its legal form), VAT number or email address.",
		Use: "Use it before create-organization. Each match says in reasons what is the same."}, r.findSimilar)
	op.Add(set, op.Op{ID: "list-organization-duplicates", Route: "GET /organizations/possible-duplicates", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List pairs of organizations that may be one.",
		Use: "Use it to clean up: merge-organizations joins a pair, dismiss-organization-duplicate takes it from the list. Answers with at most 100 pairs, the oldest first."}, r.possibleDuplicates)
	op.Add(set, op.Op{ID: "get-organization", Route: "GET /organizations/{id}", Perm: auth.ViewContacts, Record: "organization",
		Doc: "Get an organization, also from the trash.",
		Use: "Use it with an id from find-organizations. deleted_at tells that it is in the trash."}, r.getOrganization)
	op.Add(set, op.Op{ID: "update-organization", Undo: op.Undo{By: "update-organization", With: map[string]any{"mode": "overwrite"}}, Versioned: true, Route: "PATCH /organizations/{id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "Change an organization: fill in empty values, or overwrite.",
		Use:   "The mode fill_empty, which is the default, never replaces a value; overwrite does. Answers with the whole organization.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.updateOrganization)
	op.Add(set, op.Op{ID: "delete-organization", Undo: op.Undo{By: "restore-organization"}, Versioned: true, Route: "DELETE /organizations/{id}", Perm: auth.DeleteContacts, Record: "organization",
		Doc:   "Move an organization to the trash; its people stay.",
		Use:   "restore-organization brings it back. Its contacts keep their own data.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.deleteOrganization)
	op.Add(set, op.Op{ID: "merge-organizations", Undo: op.Undo{Never: op.ForGood}, Route: "POST /organizations/{id}/merge", Perm: auth.DeleteContacts, Record: "organization", Destructive: true,
		Doc:   "Merge another organization into this one; the other is deleted for good.",
		Use:   "Use it when two organizations are one company: id stays, other_id goes and cannot be brought back. People, timeline and submissions move to id. Show both to the person you work for first.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, r.mergeOrganizations)
	op.Add(set, op.Op{ID: "dismiss-organization-duplicate", Undo: op.Undo{Steps: true}, Route: "POST /organizations/{id}/not-duplicate", Perm: auth.EditContacts, Record: "organization",
		Doc: "Remember that two organizations are not the same.",
		Use: "Use it when a pair of list-organization-duplicates is two companies. The pair is not shown again until undismiss-organization-duplicate."}, r.dismissDuplicate)
	op.Add(set, op.Op{ID: "undismiss-organization-duplicate", Undo: op.Undo{Steps: true}, Route: "DELETE /organizations/{id}/not-duplicate", Perm: auth.EditContacts, Record: "organization",
		Doc: "Forget that two organizations are not the same.",
		Use: "Use it to undo dismiss-organization-duplicate. list-organization-duplicates shows the pair again if the two have something in common."}, r.undismissDuplicate)
	op.Add(set, op.Op{ID: "restore-organization", Undo: op.Undo{By: "delete-organization"}, Route: "POST /organizations/{id}/restore", Perm: auth.DeleteContacts, Record: "organization",
		Doc:   "Take an organization out of the trash.",
		Use:   "Use it to undo delete-organization. Answers with the organization.",
		Fails: op.Fails{"svc_invalid_status": "The organization is not in the trash."}}, r.restoreOrganization)
}

// Exports declares the files of organizations.
func (r *Room) Exports(set *op.Set) {
	op.AddDownload(set, op.Op{ID: "export-organizations", Route: "GET /exports/organizations.csv", Perm: auth.ExportContacts, Record: "organization",
		Audited: true, Doc: "Export organizations as CSV, in the order of sort.",
		Use: "Use it for a file that the person asked for; to read, find-organizations is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, r.exportOrganizations)
}
