package apptest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// recorder is a test whose failure is looked at.
type recorder struct {
	testing.TB
	said     string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }
func (r *recorder) FailNow()                          { panic(r) }
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }

// record calls f with a recorder until f ends or fails.
func record(t *testing.T, f func(testing.TB)) (said string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if failed := recover(); failed != nil && failed != any(r) {
			panic(failed)
		}
		said = r.said
		for i := range r.cleanups {
			r.cleanups[len(r.cleanups)-1-i]()
		}
	}()
	f(r)
	return ""
}

var shelves = fstest.MapFS{"migrations/00001_shelves.sql": {Data: []byte("-- +goose Up\ncreate table shelf (id int);")}}

func TestATestFailsAtOnceWithTheErrorOfItsService(t *testing.T) {
	for name, c := range map[string]struct {
		build func(context.Context, *app.Kit) (*app.Parts, error)
		want  string
	}{
		"that cannot be built": {func(context.Context, *app.Kit) (*app.Parts, error) { return nil, errors.New("the shelf is missing") }, "the shelf is missing"},
		"that stops right after": {func(_ context.Context, k *app.Kit) (*app.Parts, error) { return &app.Parts{Ops: k.NewSet()}, nil },
			"shelf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := app.Service{Name: "library", Build: c.build, Migrations: shelves}
			begin := time.Now()
			require.Contains(t, record(t, func(t testing.TB) { apptest.Start(t, s) }), c.want)
			require.Less(t, time.Since(begin), 10*time.Second)
		})
	}
}

func TestACaseFailsByItselfOnAServiceOfAnother(t *testing.T) {
	t.Parallel()
	library := app.Service{Name: "library", Migrations: shelves, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		return &app.Parts{Ops: k.NewSet(), Personal: app.Personal{Holds: map[string]app.Holds{"shelf": app.Nobody}}}, nil
	}}
	s := apptest.Start(t, library)
	require.Contains(t, record(t, func(t testing.TB) { s.Visitor().For(t).Get("/books").Is(200) }), "404")
	require.Contains(t, record(t, func(t testing.TB) { s.For(t).Visitor().Get("/books").Is(200) }), "404")
	s.Visitor().Get("/books").Is(404)
}

func TestSettleWaitsForWhatFollowsFromAnEvent(t *testing.T) {
	t.Parallel()
	library := app.Service{Name: "library", Migrations: shelves, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		return &app.Parts{Ops: k.NewSet(), Personal: app.Personal{Holds: map[string]app.Holds{"shelf": app.Nobody}},
			Follows: []bus.Follow{{Topic: proto.AppointmentTopic, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
				return tx.Emit(ctx, db.Event{Topic: proto.ServiceTopic, Kind: "shelf.moved", Key: e.Key, Version: 1, Data: map[string]any{}})
			}}}}, nil
	}}
	s := apptest.Start(t, library)
	for range 150 {
		s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: "appointment.created", Key: uuid.NewString(), Version: 1, Data: map[string]any{}})
		s.Settle()
		var waiting int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from outbox where sent_at is null`).Scan(&waiting))
		require.Zero(t, waiting)
	}
}

func TestAnAnswerIsHeldAgainstItsDescription(t *testing.T) {
	t.Parallel()
	type book struct {
		ID    uuid.UUID `json:"id"`
		Shelf string    `json:"shelf" enum:"prose,verse"`
	}
	library := app.Service{Name: "library", Migrations: shelves, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		s := k.NewSet()
		op.Add(s, op.Op{ID: "get-book", Route: "GET /books/{id}", Perm: op.Public, Record: "book", Doc: "Get a book."},
			func(_ context.Context, _ *db.Tx, in op.ByID) (book, error) {
				if in.ID == uuid.Max {
					return book{in.ID, "nowhere"}, nil
				}
				return book{in.ID, "verse"}, nil
			})
		return &app.Parts{Ops: s, Personal: app.Personal{Holds: map[string]app.Holds{"shelf": app.Nobody}}}, nil
	}}
	require.Empty(t, record(t, func(t testing.TB) {
		apptest.Start(t, library).Visitor().Get("/books/" + uuid.NewString()).Is(200)
	}))
	require.Contains(t, record(t, func(t testing.TB) {
		apptest.Start(t, library).Visitor().Get("/books/" + uuid.Max.String())
	}), "at '/shelf': value must be one of 'prose', 'verse'")
}

// shelved is a book that is made once: 201 the first time, 200 from then on.
type shelved struct {
	ID    uuid.UUID `json:"id" doc:"The id."`
	fresh bool
}

func (b shelved) StatusCode() int { return map[bool]int{true: 201, false: 200}[b.fresh] }

func TestACallThatFoundItsRecordThereLeavesNothingToTakeBack(t *testing.T) {
	t.Parallel()
	books := fstest.MapFS{"migrations/00001_books.sql": {Data: []byte("-- +goose Up\ncreate table book (id uuid primary key);")}}
	library := app.Service{Name: "library", Migrations: books, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		s := k.NewSet()
		op.AddUndo(s)
		op.Add(s, op.Op{ID: "ensure-book", Undo: op.Undo{By: "delete-book"}, Route: "POST /books", Perm: auth.EditContacts, Record: "book", Status: 201, Also: 200, Doc: "Ensure a book."},
			func(ctx context.Context, tx *db.Tx, in struct {
				Title uuid.UUID `json:"title" doc:"Its title."`
			}) (shelved, error) {
				made, err := tx.Exec(ctx, `insert into book values ($1) on conflict do nothing`, in.Title)
				return shelved{in.Title, made.RowsAffected() == 1}, err
			})
		op.Add(s, op.Op{ID: "delete-book", Undo: op.Undo{Never: op.ForGood}, Route: "DELETE /books/{id}", Perm: auth.EditContacts, Record: "book", Doc: "Delete a book."},
			func(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
				_, err := tx.Exec(ctx, `delete from book where id = $1`, in.ID)
				return op.None{}, err
			})
		return &app.Parts{Ops: s, Personal: app.Personal{Holds: map[string]app.Holds{"book": app.Nobody}}}, nil
	}}
	s := apptest.Start(t, library)
	admin, work := s.AsSession("site_admin"), s.As("site_admin")
	count := func() (n int) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from book`).Scan(&n))
		return n
	}
	book := map[string]any{"title": uuid.NewString()}
	admin.Post("/books", book).Is(201)
	work.Post("/books", book).Is(200)
	require.Empty(t, admin.TakeBack(work))
	require.Equal(t, 1, count(), "somebody else has made it")
	work.Post("/books", map[string]any{"title": uuid.NewString()}).Is(201)
	require.Equal(t, 2, count())
	require.Empty(t, admin.TakeBack(work))
	require.Equal(t, 1, count())
}
