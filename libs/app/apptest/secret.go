package apptest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Holding are the tables and topics of the service in which a secret stands, as text or as bytes. A secret of base64 is looked for by its bytes too.
func (s *Service) Holding(secret string) (found []string) {
	s.t.Helper()
	spellings := []string{secret, hex.EncodeToString([]byte(secret))}
	if raw, err := base64.RawURLEncoding.DecodeString(secret); err == nil {
		spellings = append(spellings, hex.EncodeToString(raw))
	}
	holds := func(text string) bool {
		return slices.ContainsFunc(spellings, func(spelling string) bool { return strings.Contains(text, spelling) })
	}
	s.Settle()
	tables, err := db.Column[string](context.Background(), s.Kit.DB.Pool, `select table_name from information_schema.tables where table_schema = current_schema order by 1`)
	require.NoError(s.t, err)
	for _, table := range tables {
		var text string
		require.NoError(s.t, s.Kit.DB.Pool.QueryRow(context.Background(), `select coalesce(string_agg(t::text, ' '), '') from `+pgx.Identifier{table}.Sanitize()+` t`).Scan(&text))
		if holds(text) {
			found = append(found, table)
		}
	}
	for _, topic := range proto.Topics {
		if topic.Owner != s.Kit.Service && !slices.Contains(topic.Writers, s.Kit.Service) {
			continue
		}
		there := false
		s.messages(topic.Name, func(key string, value []byte) {
			there = there || holds(key) || holds(string(value)) || holds(hex.EncodeToString(value))
		})
		if there {
			found = append(found, topic.Name)
		}
	}
	return found
}
