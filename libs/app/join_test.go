package app_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

func TestRoomsThatFollowOneTopicHandleItFromTheGroundUp(t *testing.T) {
	var did []string
	room := func(name string) app.Room {
		return app.Room{Name: name, Parts: app.Parts{Follows: []bus.Follow{{
			Topic: proto.ContactTopic,
			Handle: func(_ context.Context, tx *db.Tx, _ bus.Event) error {
				did = append(did, name+" for "+tx.Who.Label)
				tx.Who = db.Actor{Label: "somebody else"}
				return nil
			},
			Lock: func(context.Context, *db.Tx, []bus.Event) error {
				did = append(did, name+" locks")
				return nil
			},
			Later: func(context.Context, *db.Tx, []bus.Event) error {
				did = append(did, name+" later")
				return nil
			},
		}}}}
	}
	lower, upper := room("lower"), room("upper")
	lower.Follows = append(lower.Follows, bus.Follow{Topic: proto.OrganizationTopic})
	upper.Follows[0].Keys = func(context.Context, *db.Tx, string, int) ([]string, error) { return []string{"upper's"}, nil }
	all, err := app.Join(lower, upper)
	require.NoError(t, err)
	require.Equal(t, []string{proto.ContactTopic, proto.OrganizationTopic}, []string{all.Follows[0].Topic, all.Follows[1].Topic})
	keys, err := all.Follows[0].Keys(t.Context(), nil, "", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"upper's"}, keys)

	require.NoError(t, all.Follows[0].Lock(t.Context(), nil, nil))
	require.NoError(t, all.Follows[0].Handle(t.Context(), &db.Tx{Who: db.Actor{Label: "Ann"}}, bus.Event{}))
	require.NoError(t, all.Follows[0].Later(t.Context(), nil, nil))
	require.Equal(t, []string{"lower locks", "upper locks", "lower for Ann", "upper for Ann", "lower later", "upper later"}, did)

	broken := errors.New("broken")
	lower.Follows[0].Handle = func(context.Context, *db.Tx, bus.Event) error { return broken }
	all, err = app.Join(lower, upper)
	require.NoError(t, err)
	did = nil
	require.ErrorIs(t, all.Follows[0].Handle(t.Context(), &db.Tx{}, bus.Event{}), broken)
	require.Empty(t, did, "an error of a room is the transaction's")
}

func TestAPersonIsForgottenFromTheTopDownAndARestoreGoesUp(t *testing.T) {
	var did []string
	ids := map[string]uuid.UUID{"lower": uuid.New(), "upper": uuid.New()}
	room := func(name string) app.Room {
		return app.Room{Name: name, Parts: app.Parts{
			Personal: app.Personal{Holds: map[string]app.Holds{name: app.People}, Forget: func(context.Context, *db.Tx, *erasure.Person) ([]uuid.UUID, error) {
				did = append(did, name)
				return []uuid.UUID{ids[name]}, nil
			}},
			Restored: func(context.Context) ([]string, error) { return []string{name + " cancelled 1"}, nil },
		}}
	}
	all, err := app.Join(room("lower"), app.Room{Name: "between"}, room("upper"))
	require.NoError(t, err)
	forgotten, err := all.Personal.Forget(t.Context(), nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"upper", "lower"}, did)
	require.Equal(t, []uuid.UUID{ids["upper"], ids["lower"]}, forgotten)
	require.Equal(t, map[string]app.Holds{"lower": app.People, "upper": app.People}, all.Personal.Holds)
	lines, err := all.Restored(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"lower cancelled 1", "upper cancelled 1"}, lines)

	all, err = app.Join(app.Room{Name: "empty"})
	require.NoError(t, err)
	require.Nil(t, all.Personal.Forget)
	require.Nil(t, all.Restored)
	require.Nil(t, all.Pages)
}

func TestEachRoomServesItsOwnPages(t *testing.T) {
	page := func(name, path string) app.Room {
		return app.Room{Name: name, Parts: app.Parts{PagePaths: []*proto.Page{{Path: path}},
			Pages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) })}}
	}
	all, err := app.Join(page("book", "/book/"), app.Room{Name: "none"}, page("form", "/form"))
	require.NoError(t, err)
	for path, want := range map[string]string{"/book/1": "book", "/form": "form"} {
		res := httptest.NewRecorder()
		all.Pages.ServeHTTP(res, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, want, res.Body.String(), path)
	}
}

func TestWhatTwoRoomsDeclareIsNamedWithBoth(t *testing.T) {
	keys := func(context.Context, *db.Tx, string, int) ([]string, error) { return nil, nil }
	room := func(name string) app.Room {
		return app.Room{Name: name, Parts: app.Parts{
			Ops:       &op.Set{},
			App:       &proto.App{},
			Admin:     http.NotFoundHandler(),
			Follows:   []bus.Follow{{Topic: proto.ContactTopic, Keys: keys}},
			Jobs:      []app.Job{{Name: "tidy"}},
			Workers:   []app.Worker{{Name: "send"}},
			Tables:    []app.Table{copied("desk.copy")},
			Gauges:    []app.Gauge{{Name: "desk.waiting"}},
			PagePaths: []*proto.Page{{Path: "/page"}},
			Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: "desk.thing", Table: "thing"})},
			Sealed:    []app.Sealed{{Table: "hook", Column: "secret"}},
			Ready:     map[string]func() error{"key": nil},
			Personal:  app.Personal{Holds: map[string]app.Holds{"thing": app.Nobody}},
		}}
	}
	one := room("one")
	_, err := app.Join(one, app.Room{Name: "two"})
	require.NoError(t, err)
	_, err = app.Join(one, room("two"))
	for _, what := range []string{"the set of operations", "the app", "the admin pages", "keys of contacts.contact", "job tidy", "worker send", "copy of desk.copy", "gauge desk.waiting",
		"page /page", "records of desk.thing", "sealed column hook.secret", "condition key", "table thing"} {
		require.ErrorContains(t, err, what+" by one and two")
	}
	one.Follows = append(one.Follows, one.Follows[0])
	_, err = app.Join(one)
	require.ErrorContains(t, err, "contacts.contact by one and one")
}

// copied is a copy of a topic.
type copied string

func (c copied) Topic() string     { return string(c) }
func (copied) Run(context.Context) {}
func (copied) Ready() bool         { return true }
func (copied) Err() error          { return nil }
