package apptest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// StartRooms runs some rooms of a service as Start runs all of them, for a test that stands in the folder of a room. make returns
// them from the ground up, and declares the operations that the test calls. What the other rooms keep is there and stays empty.
func StartRooms(t testing.TB, service string, make func(k *app.Kit, set *op.Set) []app.Room, configure ...func(*app.Config)) *Service {
	t.Helper()
	folder := filepath.Join("..", service)
	_, err := os.Stat(filepath.Join(folder, "migrations"))
	require.NoError(t, err, "the migrations stand beside the room")
	return start(t, app.Service{Name: service, Migrations: os.DirFS(folder), Build: func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		set := k.NewSet()
		rooms := make(k, set)
		rest, err := restOf(ctx, k, rooms)
		if err != nil {
			return nil, err
		}
		rest.Ops = set
		return app.Join(append([]app.Room{{Name: "the other rooms", Parts: rest}}, rooms...)...)
	}}, false, configure...)
}

// restOf declares the tables and topics of the service that none of the rooms declares.
func restOf(ctx context.Context, k *app.Kit, rooms []app.Room) (rest app.Parts, err error) {
	rest.Personal.Holds = map[string]app.Holds{}
	var topics []string
	declared := db.Tables
	for _, r := range rooms {
		for table := range r.Personal.Holds {
			declared = append(slices.Clip(declared), table)
		}
		for _, p := range r.Published {
			topics = append(topics, p.Topic)
		}
	}
	tables, err := db.Column[string](ctx, k.DB.Pool, `select tablename::text from pg_tables where schemaname = $1 and not tablename = any($2)`, k.DB.Schema, declared)
	for _, table := range tables {
		rest.Personal.Holds[table] = app.Nobody
	}
	for _, topic := range proto.Topics {
		if topic.Compacted && strings.HasPrefix(topic.Name, k.Service+".") && !slices.Contains(topics, topic.Name) {
			rest.Published = append(rest.Published, app.OneRecord(topic.Name, "", func(context.Context, *db.Tx) error { return nil },
				func(context.Context, *db.Tx, int64) (int, error) { return 0, nil }))
		}
	}
	return rest, err
}
