package db_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestIdsGoInAndComeOutWhateverTheyStandIn(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	one, two := db.NewID(), db.NewID()
	var id uuid.UUID
	var null, given, nobody *uuid.UUID
	var list []uuid.UUID
	var text, asText string
	err := d.Pool.QueryRow(t.Context(), `select $1::uuid, $2::uuid, $3::uuid, $4::uuid[], $5::text, $1::uuid::text`, one, nobody, &two, []uuid.UUID{one, two}, two).
		Scan(&id, &null, &given, &list, &text, &asText)
	require.NoError(t, err)
	require.Equal(t, one, id)
	require.Nil(t, null)
	require.Equal(t, two, *given)
	require.Equal(t, []uuid.UUID{one, two}, list)
	require.Equal(t, two.String(), text)
	require.Equal(t, one.String(), asText)
}

func BenchmarkIDs(b *testing.B) {
	m := pgtype.NewMap()
	db.BareUUIDs(m)
	id := db.NewID()
	for name, v := range map[string]any{"value": id, "pointer": &id} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, v, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
