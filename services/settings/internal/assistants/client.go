package assistants

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// assistant is a program that is an OAuth client: one that has registered itself, or that names itself by the address of its description.
type assistant struct {
	ID           uuid.UUID
	Name         string
	RedirectURIs []string `db:"redirect_uris"`
	CreatedAt    time.Time
	URL          *string // nil for one that has registered itself
}

const assistantColumns = `id, name, redirect_uris, created_at, url`

// registration is what a program says of itself, in the words of OAuth.
type registration struct {
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
}

// assistant checks a registration.
func (in registration) assistant() (assistant, error) {
	name := assistantName(in.Name)
	if name == "" {
		return assistant{}, badOAuth("invalid_client_metadata", "client_name has to be a text of one line and at most 100 characters.")
	}
	if len(in.RedirectURIs) == 0 || len(in.RedirectURIs) > mostRedirectURIs {
		return assistant{}, badOAuth("invalid_redirect_uri", "redirect_uris has to hold 1 to 10 addresses.")
	}
	for _, to := range in.RedirectURIs {
		if !isRedirectURI(to) {
			return assistant{}, badOAuth("invalid_redirect_uri", "Every address in redirect_uris has to be https, or http to the person's own machine, without a fragment.")
		}
	}
	return assistant{Name: name, RedirectURIs: in.RedirectURIs}, nil
}

const (
	// mostAssistants is how many programs may be registered. Anybody may register one, and a busy site has dozens.
	mostAssistants = 5000
	// assistantsKept is for how long a program with which nobody ever connects stays registered, usedAssistantsKept for how long one
	// whose connections have all ended: it remembers its registration, and its person may connect it again.
	assistantsKept, usedAssistantsKept = 24 * time.Hour, 365 * 24 * time.Hour
	// mostRedirectURIs is how many addresses a program may register, of longestRedirectURI characters each.
	mostRedirectURIs, longestRedirectURI = 10, 500
)

// registerAssistant adds a program. Where there are too many it takes the place of the oldest with which
// nobody has ever connected, so that nobody who registers many keeps others out; 503 if people have connected with all of them.
func registerAssistant(ctx context.Context, tx *db.Tx, a assistant) (assistant, error) {
	var have int
	if err := tx.QueryRow(ctx, `select count(*) from assistant`).Scan(&have); err != nil {
		return assistant{}, fmt.Errorf("count assistants: %w", err)
	}
	if have >= mostAssistants {
		left, err := tx.Exec(ctx, `delete from assistant where id = (select id from assistant where used_at is null order by created_at limit 1 for update skip locked)`)
		if err != nil {
			return assistant{}, fmt.Errorf("make room for an assistant: %w", err)
		}
		if left.RowsAffected() == 0 {
			return assistant{}, fault.Unavailable()
		}
	}
	a.ID, a.CreatedAt = uuid.New(), tx.Now
	_, err := tx.Exec(ctx, `insert into assistant (`+assistantColumns+`, read_at) values ($1, $2, $3, $4, $5, $4) on conflict (url) do nothing`,
		a.ID, a.Name, a.RedirectURIs, a.CreatedAt, a.URL)
	if err != nil {
		return a, fmt.Errorf("register an assistant: %w", err)
	}
	return a, nil
}

// assistantByID reads a program by its id or its address. An unknown one is 400 on client_id.
func assistantByID(ctx context.Context, tx *db.Tx, text string) (assistant, error) {
	if isAddress(text) {
		return db.Find[assistant](ctx, tx, errUnknownClient, `select `+assistantColumns+` from assistant where url = $1`, text)
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return assistant{}, errUnknownClient
	}
	return db.Find[assistant](ctx, tx, errUnknownClient, `select `+assistantColumns+` from assistant where id = $1 and url is null`, id)
}

var errUnknownClient = fault.Invalid("client_id", fault.NewProblem("unknown", "is not registered here"))

// assistantName is the name that a program gives itself, or one for a program that gives none; "" when it cannot be shown.
func assistantName(typed string) string {
	name := strings.TrimSpace(typed)
	if name == "" {
		return "Assistant"
	}
	if !form.Name(name, 100).IsZero() {
		return ""
	}
	return name
}

// isRedirectURI reports whether codes may be sent to an address: https, or http to the person's own machine.
func isRedirectURI(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > longestRedirectURI || u.Host == "" || u.Hostname() == "" || u.User != nil || strings.Contains(text, "#") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// redirects reports whether a program has registered an address: exactly, or with another port on the person's own machine,
// where a program takes whichever is free.
func (a assistant) redirects(to string) bool {
	if !isRedirectURI(to) {
		return false
	}
	return slices.ContainsFunc(a.RedirectURIs, func(known string) bool { return known == to || withoutLocalPort(known) == withoutLocalPort(to) })
}

// withoutLocalPort is the address without its port, if it is http to the person's own machine.
func withoutLocalPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.Port() == "" {
		return text
	}
	before, after, _ := strings.Cut(text, u.Host)
	return before + strings.TrimSuffix(u.Host, ":"+u.Port()) + after
}

// deleteUnusedAssistants deletes the programs with which nobody is connected.
func (r *Room) deleteUnusedAssistants(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `delete from assistant a where created_at < $1 and (used_at is null or used_at < $2)
			and not exists (select from connection c where c.assistant_id = a.id)`, tx.Now.Add(-assistantsKept), tx.Now.Add(-usedAssistantsKept))
		if err != nil {
			return fmt.Errorf("delete unused assistants: %w", err)
		}
		return nil
	})
}
