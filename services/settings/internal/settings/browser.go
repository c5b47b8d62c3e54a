package settings

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/mileusna/useragent"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

const (
	// browserCookie recognises a browser after its session has ended. It gives no right.
	browserCookie = "svc_browser"
	// browserKept is for how long a browser is recognised after it was last used.
	browserKept = 365 * 24 * time.Hour
	// browserLength is how much of a browser's name is kept, in characters.
	browserLength = 80
)

// browserName is what the request's browser calls itself, such as "Firefox on Linux"; empty for a program that says nothing.
func browserName(ctx context.Context) string {
	agent := op.Header(ctx).Get("User-Agent")
	ua := useragent.Parse(agent)
	name := ua.Name
	if ua.OS != "" && name != "" {
		name += " on " + ua.OS
	}
	if name == "" {
		name = agent
	}
	name = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name), "")
	if r := []rune(name); len(r) > browserLength {
		name = string(r[:browserLength])
	}
	return name
}

// recogniseBrowser notes that the user signs in with this browser, and reports whether it is the first time while others are
// known. The answer's cookie makes it known.
func (s *service) recogniseBrowser(ctx context.Context, tx *db.Tx, personID int64) (cookie *http.Cookie, unknown bool, err error) {
	token, hash := newToken()
	if c, err := (&http.Request{Header: op.Header(ctx)}).Cookie(browserCookie); err == nil && len(c.Value) <= 100 && c.Value != "" {
		token, hash = c.Value, tokenHash(c.Value)
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
	return s.cookie(browserCookie, token, browserKept), !known && others, nil
}
