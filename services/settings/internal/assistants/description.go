package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
)

const (
	// describedFor is for how long the description of a program is good before it is read anew.
	describedFor = time.Hour
	// longestDescription in bytes.
	longestDescription = 32 << 10
)

// described reads what a program says of itself at the address by which it names itself (OAuth Client ID Metadata Document), unless it was read in
// the last hour, and keeps it as a registration. A name that is no address is left to assistantByID. The error is 400 on client_id.
func (r *Room) described(ctx context.Context, d *db.DB, id string) error {
	if !isAddress(id) {
		return nil
	}
	var fresh bool
	err := d.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `select exists (select from assistant where url = $1 and read_at > $2)`, id, tx.Now.Add(-describedFor)).Scan(&fresh)
	})
	if err != nil || fresh {
		return err
	}
	a, err := r.describe(ctx, id)
	if err != nil {
		return err
	}
	return d.Do(ctx, func(tx *db.Tx) error {
		known, err := tx.Exec(ctx, `update assistant set name = $2, redirect_uris = $3, read_at = $4 where url = $1`, id, a.Name, a.RedirectURIs, tx.Now)
		if err != nil {
			return fmt.Errorf("keep the description of an assistant: %w", err)
		}
		if known.RowsAffected() == 0 {
			_, err = registerAssistant(ctx, tx, a)
		}
		return err
	})
}

// isAddress reports whether a program names itself by an address: with a path, and nothing in it that two programs could read differently.
func isAddress(id string) bool {
	u, err := url.Parse(id)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// describe reads the description of a program.
func (r *Room) describe(ctx context.Context, address string) (assistant, error) {
	if u, err := url.Parse(address); err != nil || u.Path == "" || u.Path == "/" || strings.Contains(address, "#") ||
		slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool { return segment == "." || segment == ".." }) {
		return assistant{}, wrongDescription("must be an address with a path, without a fragment or dots for segments")
	}
	if err := fetch.CheckURL(address, r.fetch()); err != nil {
		return assistant{}, fault.Invalid("client_id", fetch.Problem("client_id", err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return assistant{}, wrongDescription("is not a web address")
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return assistant{}, wrongDescription("does not answer")
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || len(body) > longestDescription {
		return assistant{}, wrongDescription("does not answer with a description of at most 32 KiB")
	}
	var says struct {
		ID string `json:"client_id"`
		registration
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	switch err := json.Unmarshal(body, &says); {
	case err != nil:
		return assistant{}, wrongDescription("does not answer with a description in JSON")
	case says.ID != address:
		return assistant{}, wrongDescription("is not the client_id that its description says")
	case says.Secret != "" || says.Method != "" && says.Method != "none":
		return assistant{}, wrongDescription("describes a client with credentials, and clients have none here")
	}
	a, err := says.assistant()
	if refused, ok := errors.AsType[*oauthError](err); ok {
		return assistant{}, wrongDescription("describes itself wrongly: " + refused.description)
	}
	a.URL = &address
	return a, err
}

// wrongDescription refuses a client that names itself by an address.
func wrongDescription(why string) error {
	return fault.Invalid("client_id", fault.NewProblem("client_id", why))
}

// fetch says which descriptions are read: those on the public internet, and what the operator allows.
func (r *Room) fetch() fetch.Options {
	return fetch.Options{Local: r.Config.WebhookLocal, Allow: r.Config.Receivers, Keep: longestDescription + 1}
}
