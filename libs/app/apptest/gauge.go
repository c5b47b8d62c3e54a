package apptest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"frontdesk/libs/db"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// short are tables that a gauge may read whole: they do not grow with a site.
var short = []string{"webhook", "tally", "settings"}

var (
	measured sync.Map
	reads    = regexp.MustCompile(`Seq Scan on (\w+)`)
)

// gaugesByIndex requires that no gauge of the service reads a whole table that grows, since all are read at every scrape. It looks once
// for each service.
func (s *Service) gaugesByIndex() {
	if _, done := measured.LoadOrStore(s.Kit.Service, true); done {
		return
	}
	ctx := context.Background()
	require.NoError(s.t, pgx.BeginFunc(ctx, s.Kit.DB.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local enable_seqscan = off`); err != nil {
			return err
		}
		for _, g := range s.Parts.Gauges {
			plan, err := db.Column[string](ctx, tx, `explain `+g.SQL)
			if err != nil {
				return err
			}
			for _, table := range reads.FindAllStringSubmatch(strings.Join(plan, "\n"), -1) {
				require.True(s.t, slices.Contains(short, table[1]), "gauge %s reads all of %s:\n%s", g.Name, table[1], strings.Join(plan, "\n"))
			}
		}
		return nil
	}))
}
