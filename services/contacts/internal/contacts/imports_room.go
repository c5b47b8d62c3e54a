package contacts

import (
	"frontdesk/libs/app"
	"time"
)

// importsParts are what the service runs of the room.
func (s *service) importsParts() app.Parts {
	return app.Parts{
		Jobs:     []app.Job{{Name: "imports", Every: time.Hour, Run: s.dropImports}},
		Workers:  []app.Worker{{Name: "imports", Pause: 300 * time.Millisecond, Slice: newImporter(s).batch}},
		Personal: app.Personal{Holds: map[string]app.Holds{"import": app.People, "import_error": app.People}},
		Gauges: []app.Gauge{
			{Name: "import.files", Unit: "{import}", Doc: "imports that wait or run, by status", Label: "status",
				SQL: `select s, (select count(*) from import where status = s and status in ('queued', 'running')) from unnest(array['queued', 'running']) s`},
			{Name: "import.rows_left", Unit: "{row}", Doc: "rows of the imports that wait or run and are not done yet",
				SQL: `select coalesce(sum(greatest(rows - done_row + 1, 0)), 0) from import where status in ('queued', 'running')`},
		},
	}
}
