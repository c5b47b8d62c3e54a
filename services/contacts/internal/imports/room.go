package imports

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
)

// Room keeps imports.
type Room struct {
	*app.Kit
	field     *field.Room
	marketing *marketing.Room
}

// New makes the room.
func New(k *app.Kit, fields *field.Room, subscriptions *marketing.Room) *Room {
	return &Room{k, fields, subscriptions}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs: []app.Job{{Name: "imports", Every: time.Hour, Run: r.dropImports}},
		Workers: []app.Worker{{Name: "imports", Pause: 300 * time.Millisecond, Slice: newImporter(r).batch},
			{Name: "undone imports", Pause: 300 * time.Millisecond, Slice: (&undoer{r, app.NewAside[uuid.UUID]("undone imports")}).slice}},
		Personal: app.Personal{Holds: map[string]app.Holds{"import": app.People, "import_error": app.People, "import_contact": app.People}},
		Gauges: []app.Gauge{
			{Name: "import.files", Unit: "{import}", Doc: "imports that wait or run, by status", Label: "status",
				SQL: `select s, (select count(*) from import where status = s and status in ('queued', 'running')) from unnest(array['queued', 'running']) s`},
			{Name: "import.rows_left", Unit: "{row}", Doc: "rows of the imports that wait or run and are not done yet",
				SQL: `select coalesce(sum(greatest(rows - done_row + 1, 0)), 0) from import where status in ('queued', 'running')`},
		},
	}
}

//go:embed examples.json
var examples []byte

// Imports declares the operations on imports.
func (r *Room) Imports(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "create-import", Undo: op.Undo{Never: op.NothingStays}, Route: "POST /imports", Perm: auth.ImportContacts, Record: "import", Status: http.StatusCreated, MaxBody: 32 << 20,
		Doc: "Upload a CSV file of contacts. Nothing is imported yet: the answer shows columns, a guessed mapping and the first rows.",
		Use: "Use it first, with the whole file as text in csv. Then check mapping and preview with the person, and run start-import. Answers with the import."}, r.createImport)
	op.Add(set, op.Op{ID: "find-imports", Route: "GET /imports", Perm: auth.ImportContacts, Record: "import",
		Doc: "List imports, newest first, without their rows.",
		Use: "Use it to find an import that runs, or what was imported before; get-import has the rows that failed. Answers with one page and next_cursor."}, r.findImports)
	op.Add(set, op.Op{ID: "get-import", Route: "GET /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc: "Get an import and how far it came.",
		Use: "Use it after start-import until status is completed or failed. totals counts created, updated, skipped and failed rows; errors names the first hundred."}, r.getImport)
	op.Add(set, op.Op{ID: "start-import", Undo: op.Undo{By: "undo-import"}, Route: "POST /imports/{id}/start", Perm: auth.ImportContacts, Record: "import",
		Doc:   "Start an import, with a corrected mapping and options if needed. It runs in the background.",
		Use:   "Use it after create-import. duplicates says what happens to contacts that exist: fill_empty, skip or overwrite. Rows that are done stay, and undo-import undoes them for thirty days. options.dry_run counts what would happen and changes nothing: status becomes checked then, and the import can be started. Answers with the import.",
		Fails: op.Fails{"svc_invalid_status": "The import has started already."}}, r.startImport)
	op.Add(set, op.Op{ID: "preview-import", Ability: "get-import", Route: "POST /imports/{id}/preview", Perm: auth.ImportContacts, Record: "import", Reads: true,
		Doc:   "Show what the first values of each column of an import become with a mapping, before it has started. Nothing is stored.",
		Fails: op.Fails{"svc_invalid_status": "The import has started already."}}, r.previewImport)
	op.Add(set, op.Op{ID: "update-import", Undo: op.Undo{Never: op.NothingStays}, Ability: "start-import", Route: "PATCH /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc:   "Save the mapping and the options of an import that has not started. What a dry run counted is forgotten.",
		Fails: op.Fails{"svc_invalid_status": "The import has started already."}}, r.updateImport)
	op.AddDownload(set, op.Op{ID: "download-import-errors", Ability: "get-import", Route: "GET /imports/{id}/errors.csv", Perm: auth.ImportContacts,
		Record: "import", Doc: "Download the rows that were not imported and those without a cell, with the reason: the first 10,000."}, r.importErrors)
	op.Add(set, op.Op{ID: "undo-import", Undo: op.Undo{Never: op.ForGood}, Route: "POST /imports/{id}/undo", Perm: auth.ImportContacts, Destructive: true, Record: "import",
		Doc:   "Undo an import within thirty days. It runs in the background.",
		Use:   "Contacts that it made go to the trash, unless something happened to them since; values that it changed return where they are still its own, and its tags go. Ask the person you work for first. Use get-import until status is undone; undo counts, kept.csv has what was left and why.",
		Fails: op.Fails{"svc_invalid_status": "The import is not completed.", "svc_conflict too_late": "It ended more than thirty days ago."}}, r.undoImport)
	op.AddDownload(set, op.Op{ID: "download-import-kept", Ability: "get-import", Route: "GET /imports/{id}/kept.csv", Perm: auth.ImportContacts,
		Record: "import", Doc: "Download the contacts that an undo left as they are, whole or in part, with the reason."}, r.keptContacts)
}
