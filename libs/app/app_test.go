package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// The service of these tests keeps notes, and copies of appointments.

type note struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	Text      string    `json:"text"`
	Color     *string   `json:"color"`
	CreatedAt time.Time `json:"created_at"`
}

type newNote struct {
	Text  string          `json:"text" required:"true" maxLength:"20"`
	Color string          `json:"color" enum:"red,green"`
	Lines []noteLine      `json:"lines" maxItems:"2"`
	Draft json.RawMessage `json:"draft,omitempty"`
}

type noteLine struct {
	Words string `json:"words" required:"true"`
	Bold  bool   `json:"bold"`
}

type changedNote struct {
	ID    uuid.UUID         `json:"id"`
	Text  string            `json:"text" maxLength:"20"`
	Color opt.Value[string] `json:"color,omitzero" nullable:"true" enum:"red,green"`
}

type byID struct {
	ID uuid.UUID `json:"id"`
}

type findNotes struct {
	db.Page
	Search string   `json:"search,omitempty" maxLength:"100"`
	Colors []string `json:"colors,omitempty" enum:"red,green"`
	Newest bool     `json:"newest,omitempty"`
}

func createNote(ctx context.Context, tx *db.Tx, in newNote) (note, error) {
	n := note{ID: db.NewID(), Text: in.Text, CreatedAt: tx.Now}
	if in.Color != "" {
		n.Color = &in.Color
	}
	if in.Text == "private" {
		return n, fault.Refused("private", "Nobody may write this.")
	}
	if in.Draft != nil {
		// Kept as it came, as services keep what a visitor sent.
		var kept string
		if err := tx.QueryRow(ctx, `select jsonb($1::text)::text`, string(in.Draft)).Scan(&kept); err != nil {
			return n, err
		}
		kept = strings.ReplaceAll(kept, " ", "")
		n.Color = &kept
	}
	if in.Text == "fail" {
		return n, errors.New("the password is hunter2")
	}
	if in.Text == "panic" {
		panic("hunter2")
	}
	_, err := tx.Exec(ctx, `insert into note (id, text, color, created_at) values ($1, $2, $3, $4)`, n.ID, n.Text, n.Color, n.CreatedAt)
	if err != nil {
		return n, err
	}
	return n, tx.Emit(ctx, db.Event{Topic: proto.ServiceTopic, Kind: "note.created", Key: n.ID.String(), Version: 1, Data: n})
}

func getNote(ctx context.Context, tx *db.Tx, in byID) (note, error) {
	rows, err := tx.Query(ctx, `select id, text, color, created_at from note where id = $1`, in.ID)
	if err != nil {
		return note{}, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[note])
	if errors.Is(err, pgx.ErrNoRows) {
		return n, fault.NotFound("note")
	}
	return n, err
}

func changeNote(ctx context.Context, tx *db.Tx, in changedNote) (note, error) {
	n, err := getNote(ctx, tx, byID{in.ID})
	if err != nil {
		return n, err
	}
	in.Color.ApplyPtr(&n.Color)
	_, err = tx.Exec(ctx, `update note set color = $2 where id = $1`, n.ID, n.Color)
	return n, err
}

func deleteNote(ctx context.Context, tx *db.Tx, in byID) (op.None, error) {
	_, err := tx.Exec(ctx, `delete from note where id = $1`, in.ID)
	return op.None{}, err
}

func listNotes(ctx context.Context, tx *db.Tx, in findNotes) (db.List[note], error) {
	c, err := tx.Page(in.Page, "notes", in)
	if err != nil {
		return db.List[note]{}, err
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from note where text like '%' || $1 || '%'`, in.Search).Scan(&c.Total); err != nil {
			return db.List[note]{}, err
		}
	}
	rows, err := tx.Query(ctx, `select id, text, color, created_at from note
		where text like '%' || $1 || '%' and ($2 or (created_at, id) < ($3, $4)) order by created_at desc, id desc limit $5`,
		in.Search, c.First, c.At, c.ID, c.Limit)
	if err != nil {
		return db.List[note]{}, err
	}
	notes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[note])
	return db.Close(c, notes, func(n note) (time.Time, uuid.UUID) { return n.CreatedAt, n.ID }), err
}

type exportedNotes struct {
	findNotes
	Separator op.Separator `json:"separator,omitempty"`
}

func exportNotes(ctx context.Context, tx *db.Tx, in exportedNotes, d *op.Download) error {
	if in.Search == "fail" {
		return fault.Invalid("search", fault.NewProblem("unwelcome", "must not be that"))
	}
	d.Start("notes.csv", in.Separator)
	if err := d.Row([]string{"id", "text"}); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select id::text, text from note order by id`)
	if err != nil {
		return err
	}
	cells := make([]string, 2)
	_, err = pgx.ForEachRow(rows, []any{&cells[0], &cells[1]}, func() error {
		if cells[1] == "break" {
			return errors.New("the file breaks off")
		}
		return d.Row(cells)
	})
	return err
}

func followAppointments(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind == "poison" {
		return errors.New("cannot be swallowed")
	}
	_, err := tx.Exec(ctx, `insert into seen (id, who) values ($1, $2)`, e.Key, tx.Who.Label+"/"+tx.Who.Channel)
	return err
}

var desk = app.Service{
	Name: "desk",
	Migrations: fstest.MapFS{"migrations/00001_notes.sql": {Data: []byte(`-- +goose Up
create table note (id uuid primary key, text text not null, color text, created_at timestamptz not null);
create table seen (id text not null, who text not null);
`)}},
	Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		s := k.NewSet()
		op.Add(s, op.Op{ID: "create-note", Route: "POST /notes", Perm: auth.EditContacts, Status: 201, Doc: "Add a note.", Record: "note",
			Fails: op.Fails{"svc_forbidden private": "The note is private."}}, createNote)
		op.Add(s, op.Op{ID: "find-notes", Route: "GET /notes", Perm: auth.ViewContacts, Doc: "List notes."}, listNotes)
		op.Add(s, op.Op{ID: "get-note", Route: "GET /notes/{id}", Perm: auth.ViewContacts, Doc: "One note."}, getNote)
		op.Add(s, op.Op{ID: "update-note", Route: "PATCH /notes/{id}", Perm: auth.EditContacts, Doc: "Change a note.", Record: "note"}, changeNote)
		op.Add(s, op.Op{ID: "delete-note", Route: "DELETE /notes/{id}", Perm: auth.DeleteContacts, Doc: "Remove a note.", Record: "note", App: "notes"}, deleteNote)
		op.Add(s, op.Op{ID: "leave-note", Route: "POST /notes/leave", Perm: op.Public, Channel: db.ChannelForm, Status: 201, Doc: "Leave a note.",
			Limits: []db.Limit{{N: 2, Per: time.Minute}}}, createNote)
		op.AddDownload(s, op.Op{ID: "export-notes", Route: "GET /exports/notes.csv", Perm: auth.ExportContacts, Audited: true, Doc: "Notes as CSV."}, exportNotes)
		op.AddOutside(s, op.Op{ID: "send-note", Route: "POST /notes/{id}/send", Perm: auth.EditContacts, Doc: "Send a note."},
			func(ctx context.Context, d *db.DB, in byID) (n note, err error) {
				time.Sleep(50 * time.Millisecond)
				err = d.Do(ctx, func(tx *db.Tx) error {
					if _, err := tx.Exec(ctx, `insert into seen (id, who) values ($1, 'sent')`, in.ID); err != nil {
						return err
					}
					n, err = getNote(ctx, tx, in)
					return err
				})
				return n, err
			})
		return &app.Parts{Ops: s, App: &proto.App{Id: "notes", Name: "Notes"}, Follows: []bus.Follow{{Topic: proto.AppointmentTopic, Handle: followAppointments}},
			Personal: app.Personal{Holds: map[string]app.Holds{"note": app.Nobody, "seen": app.Nobody}}}, nil
	},
}

func TestACallIsCheckedInTheOrderOfTheInterface(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	editor, viewer := s.As("site_admin"), func() *apptest.Client {
		s.Role("viewer", "all", auth.ViewContacts)
		return s.As("viewer")
	}()
	long := `{"text":"` + strings.Repeat("x", 21) + `"}`

	s.Visitor().Get("/nothing").Fails(404, "svc_no_route")
	require.Equal(t, []any{"GET", "HEAD", "POST"}, s.Visitor().Call("PUT /notes", nil).Fails(405, "svc_method_not_allowed").Field("data.allow"))
	s.Visitor().Post("/notes", "nonsense").Fails(401, "svc_unauthorized")
	require.Equal(t, auth.EditContacts, viewer.Post("/notes", "nonsense").Fails(403, "svc_forbidden").Text("data.permission"))
	editor.Post("/notes", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`).Fails(413, "svc_too_large")
	editor.With("Content-Type", "text/plain").Post("/notes", "{}").Fails(415, "svc_unsupported_media_type")
	editor.With("Accept", "image/png").Get("/notes").Fails(406, "svc_not_acceptable")
	for body, param := range map[string]string{
		`{}`:                              "text",
		long:                              "text",
		`{"text":null}`:                   "text",
		`{"text":7}`:                      "text",
		`{"text":"a\u0000b"}`:             "text",
		`{"text":"a","other":1}`:          "other",
		`{"text":"a","Text":"b"}`:         "Text",
		`{"text":"a","color":"blue"}`:     "color",
		`{"text":"a","lines":[{}]}`:       "lines[0]",
		`{"text":"a","lines":[{"x":1}]}`:  "lines[0].x",
		`{"text":"a","lines":[1,2,3]}`:    "lines",
		`{"text":"a","lines":{"a":"b"} }`: "lines",
	} {
		params, _ := editor.Post("/notes", body).Fails(400, "svc_invalid_param").Field("data.params").(map[string]any)
		require.Contains(t, params, param, body)
	}
	for _, body := range []string{"nonsense", "[]", "null", `"x"`, "{", "\xff"} {
		editor.Post("/notes", body).Fails(400, "svc_invalid_json")
	}
	editor.Get("/notes/123").Fails(400, "svc_invalid_param")
	editor.Get("/notes/"+uuid.NewString()).Fails(404, "svc_not_found")
	require.Equal(t, "given-by-caller", editor.With("X-Request-Id", "given-by-caller").Get("/notes/1").Text("data.request_id"))
}

func TestTheMostSpecificPathAnswersWhateverTheMethod(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	for route, allow := range map[string]string{
		"PATCH /notes/leave": "POST",
		"GET /notes/leave":   "POST",
		"PUT /notes/1":       "DELETE, GET, HEAD, PATCH",
		"POST /notes/1":      "DELETE, GET, HEAD, PATCH",
		"TRACE /notes":       "GET, HEAD, POST",
	} {
		t.Run(route, func(t *testing.T) {
			a := c.Call(route, nil).Fails(405, "svc_method_not_allowed")
			require.Equal(t, allow, a.Header.Get("Allow"))
		})
	}
	require.Equal(t, 400, c.Call("HEAD /notes/1", nil).Status)
	s.SetApp("notes", false)
	require.Equal(t, "GET, HEAD, PATCH", c.Call("PUT /notes/1", nil).Fails(405, "svc_method_not_allowed").Header.Get("Allow"), "deleting belongs to an app that is off")
}

func TestAMalformedQueryIsRefusedAndASemicolonIsACharacter(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	c.Post("/notes", `{"text":"a;b"}`).Is(201)
	c.Post("/notes", `{"text":"other"}`).Is(201)
	for query, param := range map[string]string{
		"search=%zz":    "query",
		"search=a&%":    "query",
		"search=%ff":    "search",
		"%ff=a":         "\ufffd",
		"per_page=x;":   "per_page",
		"search=%00":    "search",
		"newest=maybe;": "newest",
	} {
		params, _ := c.Get("/notes?"+query).Fails(400, "svc_invalid_param").Field("data.params").(map[string]any)
		require.Contains(t, params, param, query)
	}
	c.Get("/notes/"+uuid.NewString()+"?%zz").Fails(400, "svc_invalid_param")
	require.Len(t, c.Get("/notes?search=a;b").Is(200).Items(), 1)
	require.Len(t, c.Get("/notes?search=a%3Bb").Is(200).Items(), 1)
	require.Len(t, c.Get("/notes?search=").Is(200).Items(), 2)
	c.Get("/abilities/svc/find-notes/run?input[search]=%zz").Fails(400, "svc_invalid_param")
	require.Len(t, c.Get("/abilities/svc/find-notes/run?input[search]=a;b").Is(200).Items(), 1)
}

func TestAnExportTakesEitherSeparatorHoweverItIsTyped(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	for query, header := range map[string]string{"": "id,text\n", "?separator=": "id,text\n", "?separator=,": "id,text\n", "?separator=%2C": "id,text\n",
		"?separator=;": "id;text\n", "?separator=%3B": "id;text\n", "?separator=;&search=a": "id;text\n"} {
		require.Equal(t, header, c.Get("/exports/notes.csv"+query).Is(200).Body, query)
	}
	refused := c.Get("/exports/notes.csv?separator=x").Fails(400, "svc_invalid_param")
	require.Equal(t, `must be one of ",", ";"`, refused.Text("data.params.separator"))
	require.Equal(t, []any{",", ";"}, refused.Field("data.details.separator.allowed"))
}

func TestTextIsWholeCharactersWhereverItStands(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	require.Equal(t, "\ufffd!", c.Post("/notes", `{"text":"\ud800!"}`).Is(201).Text("text"))
	require.Equal(t, "😀", c.Post("/notes", `{"text":"\ud83d\ude00"}`).Is(201).Text("text"))
	require.Equal(t, "{\"\ufffd\":[\"\ufffd\",12345678901234567890]}", c.Post("/notes", `{"text":"x","draft":{"\udfff":["\ud800",12345678901234567890]}}`).Is(201).Text("color"))
	c.Post("/notes", `{"text":"x","\ud800":1}`).Fails(400, "svc_invalid_param")
	c.Post("/abilities/svc/create-note/run", `{"input":{"text":"x","draft":"\ud800"}}`).Is(200)
	c.Post("/abilities/svc/create-note/run", "{\"input\":{\"text\":\"x\",\"draft\":\"\xff\"}}").Fails(400, "svc_invalid_json")
	for _, key := range []string{"a\xff", "a\u0085", strings.Repeat("x", 256)} {
		c.With("Idempotency-Key", key).Post("/notes", `{"text":"x"}`).Fails(400, "svc_invalid_param")
	}
	c.With("Idempotency-Key", "é").Post("/notes", `{"text":"x"}`).Is(201)
}

func TestAnInternalErrorShowsNothingOfTheInside(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	for _, text := range []string{"fail", "panic"} {
		res := s.As("site_admin").Raw("POST /notes", `{"text":"`+text+`"}`).Fails(500, "svc_internal")
		require.NotContains(t, res.Body, "hunter2")
	}
}

func TestAPatchTellsAbsentFromNull(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	id := c.Post("/notes", `{"text":"one","color":"red"}`).Is(201).Text("id")
	require.Equal(t, "red", c.Patch("/notes/"+id, `{}`).Is(200).Text("color"))
	c.Patch("/notes/"+id, `{"color":"blue"}`).Fails(400, "svc_invalid_param")
	require.Nil(t, c.Patch("/notes/"+id, `{"color":null}`).Is(200).Field("color"))
	c.Delete("/notes/"+id, nil).Is(204)
}

func TestAListPagesWithItsTotalAndRefusesForeignCursors(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	for range 5 {
		c.Post("/notes", `{"text":"one"}`).Is(201)
	}
	first := c.Get("/notes?per_page=2&search=on").Is(200)
	require.Len(t, first.Items(), 2)
	require.EqualValues(t, 5, first.Field("total"))
	c.Post("/notes", `{"text":"one"}`).Is(201)
	seen := map[any]bool{}
	cursor := first.Text("next_cursor")
	require.LessOrEqual(t, len(cursor), 64)
	for _, n := range first.Items() {
		seen[n["id"]] = true
	}
	for cursor != "" {
		page := c.Get("/notes?per_page=2&search=on&cursor=" + cursor).Is(200)
		require.EqualValues(t, 5, page.Field("total"))
		for _, n := range page.Items() {
			require.False(t, seen[n["id"]])
			seen[n["id"]] = true
		}
		cursor = page.Text("next_cursor")
	}
	require.Len(t, seen, 5)
	cursor = first.Text("next_cursor")
	c.Get("/notes?search=other&cursor="+cursor).Fails(400, "svc_invalid_cursor")
	c.Get("/notes?search=on&cursor="+strings.ToUpper(cursor)).Fails(400, "svc_invalid_cursor")
	c.Get("/notes?cursor=x").Fails(400, "svc_invalid_cursor")
	c.Get("/notes?per_page=101").Fails(400, "svc_invalid_param")
	c.Get("/notes?per_page=x").Fails(400, "svc_invalid_param")
	c.Get("/notes?colors=red&colors=green").Is(200)
	c.Get("/notes?colors=red&colors=blue").Fails(400, "svc_invalid_param")
}

func TestARepeatedPostWithItsKeyIsDoneOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	admin := s.As("site_admin")
	c := admin.With("Idempotency-Key", "k1")
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() { ids[i] = c.Post("/notes", `{"text":"once"}`).Is(201).Text("id") })
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.EqualValues(t, 1, c.Get("/notes").Field("total"))
	c.Post("/notes", `{"text":"other"}`).Fails(409, "svc_idempotency_conflict")
	admin.With("Idempotency-Key", strings.Repeat("k", 256)).Post("/notes", `{"text":"x"}`).Fails(400, "svc_invalid_param")
	admin.With("Idempotency-Key", "k2").Post("/notes", `{"text":"x","color":"blue"}`).Fails(400, "svc_invalid_param")
	admin.With("Idempotency-Key", "k2").Post("/notes", `{"text":"x"}`).Is(201)
	s.As("site_admin").With("Idempotency-Key", "k1").Post("/notes", `{"text":"mine"}`).Is(201)

	for range 2 {
		wg.Go(func() { c.Post("/notes/"+ids[0]+"/send", nil).Is(200) })
	}
	wg.Wait()
	var sent int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from seen where who = 'sent'`).Scan(&sent))
	require.Equal(t, 1, sent)
}

func TestEachChangeAndRefusalIsAuditedInItsTransaction(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	id := c.Post("/notes", `{"text":"one"}`).Is(201).Text("id")
	s.As("nobody").Patch("/notes/"+id, "nonsense").Fails(403, "svc_forbidden")
	c.Get("/exports/notes.csv").Is(200)
	c.Patch("/notes/"+id, `{"color":"blue"}`).Is(400)
	c.Post("/notes", `{"text":"private"}`).Fails(403, "svc_forbidden")
	var log []string
	for _, e := range s.Events(proto.AuditTopic) {
		var a proto.Audit
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &a))
		if a.GetRecordId() == id || a.GetRecordId() == "" {
			log = append(log, a.GetAction()+" "+a.GetOutcome()+" "+e.GetActor().GetChannel())
		}
	}
	require.ElementsMatch(t, []string{"create-note done api", "update-note refused api", "create-note refused api", "export-notes done api"}, log)
	require.Equal(t, []string{"note.created"}, s.Kinds(proto.ServiceTopic, id))
}

func TestVisitorsAreLimitedByAddressAndKnownToNobody(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk, func(c *app.Config) { c.RateFactor = 1 })
	v := s.Visitor().With("X-Forwarded-For", "10.0.0.1, 192.0.2.7")
	v.Post("/notes/leave", `{"text":"a"}`).Is(201)
	v.With("X-Forwarded-For", "10.0.0.2, 192.0.2.7").Post("/notes/leave", `{"text":"b"}`).Is(201)
	limited := v.Post("/notes/leave", `{"text":"c"}`).Fails(429, "svc_rate_limited")
	require.NotEmpty(t, limited.Header.Get("Retry-After"))
	v.With("X-Forwarded-For", "192.0.2.8").Post("/notes/leave", `{"text":"d"}`).Is(201)
}

func TestACredentialCountsAsSoonAsItIsKnownAndNoLonger(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	person := s.AsSession("svc_admin")
	person.Get("/notes").Is(200)
	person.With("Origin", "https://evil.example").Post("/notes", `{"text":"x"}`).Fails(403, "svc_forbidden")
	require.Equal(t, "cross_origin", person.With("Sec-Fetch-Site", "cross-site").Post("/notes", `{"text":"x"}`).Fails(403, "svc_forbidden").Text("data.reason"))
	person.With("Sec-Fetch-Site", "same-origin").Post("/notes", `{"text":"x"}`).Is(201)
	s.Travel(9 * time.Hour)
	person.Get("/notes").Fails(401, "svc_unauthorized")

	c := s.As("svc_admin")
	c.Get("/notes").Is(200)
	c.With("Authorization", "Bearer x").Get("/notes").Fails(401, "svc_unauthorized")
	s.Role("svc_admin", "all")
	s.Eventually(func() bool { return c.Get("/notes").Status == 403 })
	s.As("subscriber").Get("/notes").Fails(401, "svc_unauthorized")
	s.Visitor().With("X-User-Id", "1").Get("/notes").Fails(401, "svc_unauthorized")
}

func TestAnAppThatIsOffDoesNotExist(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	id := c.Post("/notes", `{"text":"one"}`).Is(201).Text("id")
	s.SetApp("notes", false)
	c.Delete("/notes/"+id, nil).Fails(404, "svc_no_route")
	c.Call("DELETE /abilities/svc/delete-note/run", nil).Fails(404, "svc_not_found")
	s.SetApp("notes", true)
	c.Delete("/notes/"+id, nil).Is(204)
}

func TestAnEventCarriesWhetherItsAppWasOffWhenItHappened(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	for _, on := range []bool{true, false, true} {
		s.SetApp("notes", on)
		id := c.Post("/notes", `{"text":"one"}`).Is(201).Text("id")
		s.SetApp("notes", !on) // which comes too late for the event
		for _, e := range s.Events(proto.ServiceTopic) {
			if e.GetRecordId() == id {
				require.Equal(t, !on, e.GetAppOff())
			}
		}
	}
}

func TestAbilitiesRunTheSameFunctionsForAssistants(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	a := s.AsAssistant("site_admin")
	a.Get("/notes").Fails(403, "svc_forbidden")
	id := a.Post("/abilities/svc/create-note/run", `{"input":{"text":"by an agent"}}`).Is(200).Text("id")
	require.Equal(t, "by an agent", a.Get("/abilities/svc/get-note/run?input[id]="+id).Is(200).Text("text"))
	a.Post("/abilities/svc/create-note/run", `{"input":{"text":"x","other":1}}`).Fails(400, "svc_invalid_param")
	a.Post("/abilities/svc/get-note/run", `{}`).Fails(405, "svc_method_not_allowed")
	a.Post("/abilities/svc/leave-note/run", `{}`).Fails(404, "svc_no_route")
	a.Get("/abilities/svc/create-note").Is(200)
	a.Call("DELETE /abilities/svc/delete-note/run", `{"input":{"id":"`+id+`"}}`).Is(200)
	for _, e := range s.Events(proto.ServiceTopic) {
		require.Equal(t, "ability", e.GetActor().GetChannel())
	}
}

func TestEventsTakeEffectOnceAndPoisonIsParked(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	who := &proto.Actor{Label: "Ann", Channel: "booking"}
	id := db.NewID().String()
	for range 3 {
		s.Send(apptest.Event{ID: id, Topic: proto.AppointmentTopic, Kind: "x", Key: "a", Actor: who, Data: 1})
	}
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: "poison", Key: "a", Data: 1})
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: "x", Key: "b", Actor: who, Data: 1})
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: "x", Key: "a", Actor: who, Data: 1})
	s.Settle()
	var seen []string
	rows, err := s.Kit.DB.Pool.Query(t.Context(), `select id || ' ' || who from seen order by id`)
	require.NoError(t, err)
	seen, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"a Ann/booking", "a Ann/booking", "b Ann/booking"}, seen)

	res, err := http.Get(s.Admin + "/parked")
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	var parked int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from parked where error like '%swallowed%'`).Scan(&parked))
	require.Equal(t, 1, parked)
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, desk).CheckNulls(t)
}
