package signin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/secrets"
)

const (
	// browserCookie recognises a browser after its session has ended. It gives no right.
	browserCookie = "svc_browser"
	// browserKept is for how long a browser is recognised after it was last used.
	browserKept = 365 * 24 * time.Hour
	// mostBrowsers of a person are recognised. A program that signs in without cookies is another one each time.
	mostBrowsers = 50
)

// recognise notes that the user signs in with this browser, and reports whether it is the first time while others are
// known. The answer's cookie makes it known.
func (r *Room) recognise(ctx context.Context, tx *db.Tx, personID int64) (cookie *http.Cookie, unknown bool, err error) {
	token, hash := secrets.New()
	if c, err := (&http.Request{Header: op.Header(ctx)}).Cookie(browserCookie); err == nil && len(c.Value) <= 100 && c.Value != "" {
		token, hash = c.Value, secrets.Hash(c.Value)
	}
	var known, others bool
	err = tx.QueryRow(ctx, `select exists (select from browser where person_id = $1 and hash = $2), exists (select from browser where person_id = $1)`,
		personID, hash).Scan(&known, &others)
	if err != nil {
		return nil, false, fmt.Errorf("look for the browser: %w", err)
	}
	if _, err := tx.Exec(ctx, `insert into browser (person_id, hash, used_at) values ($1, $2, $3)
		on conflict (person_id, hash) do update set used_at = excluded.used_at`, personID, hash, tx.Now); err != nil {
		return nil, false, fmt.Errorf("note the browser: %w", err)
	}
	if _, err := tx.Exec(ctx, `delete from browser where person_id = $1 and hash in (select hash from browser where person_id = $1 order by used_at desc, hash offset $2)`,
		personID, mostBrowsers); err != nil {
		return nil, false, fmt.Errorf("forget the browsers used longest ago: %w", err)
	}
	return r.sessions.Cookie(browserCookie, token, browserKept), !known && others, nil
}

// DeleteOutdated deletes up to n browsers that are recognised no longer, and returns how many.
func DeleteOutdated(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	tag, err := tx.Exec(ctx, `delete from browser where (person_id, hash) in (select person_id, hash from browser where used_at < $1 order by used_at limit $2 for update skip locked)`,
		tx.Now.Add(-browserKept), n)
	return int(tag.RowsAffected()), err
}
