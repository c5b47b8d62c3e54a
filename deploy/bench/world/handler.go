package world

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// Handler serves POST /v1/… with a bare transaction: it decodes the body, has pgx run the statements in one round trip, and answers with what
// it was sent. Nothing that a service is there for is in it: no caller is recognised, no value is checked, nothing is published. The difference
// from Bare is the cost of HTTP, JSON and the driver, so it is the limit of a service on the machine that the caller shares.
func (c *closers) Handler(ctx context.Context, url, searchPath string, statements func(values map[string]any, b *pgx.Batch)) (string, error) {
	cfg, err := db.PoolConfig(url)
	if err != nil {
		return "", err
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = searchPath
	pool, err := c.open(ctx, cfg)
	if err != nil {
		return "", err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var values map[string]any
		err := json.NewDecoder(r.Body).Decode(&values)
		if err == nil {
			b := &pgx.Batch{}
			b.Queue(`begin`)
			statements(values, b)
			b.Queue(`commit`)
			err = pool.SendBatch(r.Context(), b).Close()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(values)
	}))
	c.Defer(server.Close)
	return server.URL, nil
}
