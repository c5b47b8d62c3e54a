package imports

import (
	"time"

	"frontdesk/libs/app"
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
		Jobs:     []app.Job{{Name: "imports", Every: time.Hour, Run: r.dropImports}},
		Workers:  []app.Worker{{Name: "imports", Pause: 300 * time.Millisecond, Slice: newImporter(r).batch}},
		Personal: app.Personal{Holds: map[string]app.Holds{"import": app.People, "import_error": app.People}},
		Gauges: []app.Gauge{
			{Name: "import.files", Unit: "{import}", Doc: "imports that wait or run, by status", Label: "status",
				SQL: `select s, (select count(*) from import where status = s and status in ('queued', 'running')) from unnest(array['queued', 'running']) s`},
			{Name: "import.rows_left", Unit: "{row}", Doc: "rows of the imports that wait or run and are not done yet",
				SQL: `select coalesce(sum(greatest(rows - done_row + 1, 0)), 0) from import where status in ('queued', 'running')`},
		},
	}
}
