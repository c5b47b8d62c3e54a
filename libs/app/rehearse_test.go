package app_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

var noted = fstest.MapFS{"migrations/00001_notes.sql": {Data: []byte(`-- +goose Up
create table note (id uuid primary key, text text not null, version bigint not null default 1);
`)}}

// partsOf are those of a service with one table, note, and nothing to publish of its own.
func partsOf(k *app.Kit, s *op.Set) *app.Parts {
	p := &app.Parts{Ops: s, Personal: app.Personal{Holds: map[string]app.Holds{"note": app.Nobody}}}
	for _, t := range proto.Topics {
		if t.Owner == k.Service && t.Compacted {
			p.Published = append(p.Published, app.Records(app.Rows[uuid.UUID]{Topic: t.Name, Table: "note", Where: "false",
				Emit: func(context.Context, *db.Tx, []uuid.UUID) error { return nil }}))
		}
	}
	return p
}

// sender is a booking service whose operation sends forms a command.
var sender = app.Service{Name: "booking", Migrations: noted, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := k.NewSet()
	op.Add(s, op.Op{ID: "create-note", Route: "POST /notes", Perm: auth.EditContacts, Status: 201, Doc: "Add a note.", Record: "note"},
		func(ctx context.Context, tx *db.Tx, in struct {
			Text string `json:"text" required:"true"`
		}) (byID, error) {
			n := byID{db.NewID()}
			return n, tx.Emit(ctx, db.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: n.ID.String(),
				Data: &proto.RecordSubmission{SubmissionId: db.NewID().String(), Values: []byte(in.Text)}})
		})
	return partsOf(k, s), nil
}}

// taker is a forms service that keeps what the commands say.
var taker = app.Service{Name: "forms", Migrations: noted, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
	p := partsOf(k, k.NewSet())
	p.Follows = []bus.Follow{{Topic: proto.FormsCommandTopic, Handle: bus.On(proto.KindRecordSubmission, func(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.RecordSubmission) error {
		text := string(m.GetValues())
		if text == "fail" {
			return errors.New("it fails")
		}
		if _, err := tx.Exec(ctx, `insert into note (id, text) values ($1, $2)`, m.GetSubmissionId(), text); err != nil {
			return err
		}
		tx.Tombstone(proto.SubmissionTopic, uuid.Max.String())
		return tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: m.GetSubmissionId(), Version: 1, Data: map[string]any{"id": m.GetSubmissionId(), "name": text}})
	}), Later: func(ctx context.Context, tx *db.Tx, events []bus.Event) error {
		return tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: proto.KindSubmissionUpdated, Key: db.NewID().String(), Version: 1, Data: map[string]any{"name": fmt.Sprint("later, of ", len(events))}})
	}}}
	return p, nil
}}

func TestAnotherServiceRehearsesItsPart(t *testing.T) {
	t.Parallel()
	alone := func(c *app.Config) { c.Alone = false }
	s := apptest.Start(t, sender, alone)
	rehearse := func(c *apptest.Client, text string) *apptest.Answer {
		return c.With("Prefer", "dry-run").Post("/notes", map[string]any{"text": text}).Is(200)
	}
	admin, staff := s.As("site_admin"), s.As("staff")

	absent := rehearse(admin, "nobody there")
	require.Equal(t, []any{map[string]any{"service": "forms", "kind": proto.KindRecordSubmission}}, absent.Field("effects.commands"), "whose part is missing is named")
	require.Empty(t, absent.Field("effects.events"))

	replica := s.Beside(sender, func(c *app.Config) { c.DatabaseURL = s.Kit.Config.DatabaseURL })
	forms := s.Beside(taker)
	part := func(c *apptest.Client, text string) (a *apptest.Answer) {
		s.Eventually(func() bool {
			a = rehearse(c, text)
			return a.Value("effects.commands.0.rehearsed") == true
		})
		return a
	}
	a := part(admin, "seen")
	require.Equal(t, []any{proto.KindFormSubmitted, "seen", "later, of 1", "submission.gone", nil}, []any{a.Field("effects.events.0.event"), a.Field("effects.events.0.data.name"),
		a.Field("effects.events.1.data.name"), a.Field("effects.events.2.event"), a.Value("effects.events.2.data")})
	require.Equal(t, absent.Text("hash"), a.Text("hash"), "the hash does not depend on who has answered")
	admin.With("If-Effects", `"`+absent.Text("hash")+`"`).Post("/notes", map[string]any{"text": "seen"}).Is(201)
	require.Nil(t, part(staff, "not theirs").Value("effects.events.0.data"), "of the submissions of others they see nothing")
	require.Nil(t, rehearse(admin, "fail").Value("effects.commands.0.rehearsed"))

	asking := map[string]func() *apptest.Answer{}
	for i, c := range []*apptest.Client{admin, admin.At(replica), admin, admin.At(replica)} {
		text := fmt.Sprint("asker ", i)
		asking[text] = apptest.Aside(t, func() *apptest.Answer { return part(c, text) })
	}
	for text, answer := range asking {
		require.Equal(t, text, answer().Text("effects.events.0.data.name"), "each is given the part of its own question")
	}

	var texts string
	s.Eventually(func() bool {
		require.NoError(t, forms.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(string_agg(text, ' '), '') from note`).Scan(&texts))
		return texts != ""
	})
	require.Equal(t, "seen", texts, "of the rehearsals nothing is left, of the call itself all")
}

func TestWhatAnotherServiceSaysTooLateOrMayNotSayCountsForNothing(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	start := func(service string, f func(ctx context.Context, id string, messages []db.Message) (op.Effects, error)) *app.Rehearsals {
		b := bus.New(strings.Join(cluster.ListenAddrs(), ","), bus.Login{})
		b.Trust = apptest.Trust(service)
		require.NoError(t, b.Ensure(t.Context(), proto.TopicsOf(1)))
		r := app.NewRehearsals(&app.Kit{Service: service, Bus: b}, f)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done; _ = b.Close() })
		require.Eventually(t, r.Hears, 10e9, 1e6)
		return r
	}
	begun, finish := make(chan struct{}), make(chan struct{})
	named := func(name string) op.Effects {
		return op.Effects{Events: []op.EffectEvent{{Event: name, Data: []byte("null")}}}
	}
	start("forms", func(_ context.Context, _ string, messages []db.Message) (op.Effects, error) {
		if messages[0].Key == "late" {
			begun <- struct{}{}
			<-finish
		}
		return named(messages[0].Key), nil
	})
	asker, other := start("booking", nil), start("webhooks", nil)
	message := func(key string) []db.Message {
		return []db.Message{{Topic: proto.FormsCommandTopic, Key: key, Value: []byte("x")}}
	}

	ctx, giveUp := context.WithCancel(t.Context())
	late := make(chan map[string]*op.Effects)
	go func() { late <- asker.Ask(ctx, message("late")) }()
	<-begun
	giveUp()
	require.Equal(t, map[string]*op.Effects{"forms": nil}, <-late, "the asker has waited long enough")
	close(finish)
	require.Equal(t, "next", asker.Ask(t.Context(), message("next"))["forms"].Events[0].Event, "the late answer is nobody's")

	require.Equal(t, map[string]*op.Effects{"forms": nil}, other.Ask(t.Context(), message("theirs")), "who does not send forms commands is not told what they would do")
	var contacts *app.Rehearsals
	contacts = start("contacts", func(ctx context.Context, _ string, _ []db.Message) (op.Effects, error) {
		notice, err := protobuf.Marshal(&proto.Envelope{Kind: proto.KindTellTeam})
		if err == nil && !maps.Equal(map[string]*op.Effects{"settings": nil}, contacts.Ask(ctx, []db.Message{{Topic: proto.MailTopic, Key: "x", Value: notice}})) {
			err = errors.New("settings is not there")
		}
		return named("contacts"), err
	})
	require.Eventually(t, func() bool {
		part := asker.Ask(t.Context(), []db.Message{{Topic: proto.ContactsCommandTopic, Key: "x", Value: []byte("x")}})["contacts"]
		return part != nil && part.Events[0].Event == "contacts"
	}, 30*time.Second, time.Millisecond, "who waits in vain for a part of its part still says its own in time")

	large := message(strings.Repeat("x", 1_000_000))
	require.Equal(t, map[string]*op.Effects{"forms": nil}, asker.Ask(t.Context(), large), "it fits into no message")
	require.Empty(t, asker.Ask(t.Context(), []db.Message{{Topic: proto.AuditTopic, Key: "x"}}), "nobody is asked about what nobody acts on")
}
