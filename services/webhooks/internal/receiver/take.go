package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// receiveRequest takes a request from anywhere. It answers svc_not_found for an address that no test receiver has any more.
func (r *Room) receiveRequest(ctx context.Context, tx *db.Tx, in op.Sent) (op.None, error) {
	_, ok, err := r.receive(ctx, tx, in.Token, in.Header, in.Bytes)
	if err == nil && !ok {
		err = fault.NotFound("test receiver")
	}
	return op.None{}, err
}

// receive checks the signatures of a request and keeps it, the newest few of each receiver. ok is false if no test receiver has the token.
func (r *Room) receive(ctx context.Context, tx *db.Tx, token string, h http.Header, body []byte) (req testRequest, ok bool, err error) {
	var person int64
	err = tx.QueryRow(ctx, `select person from test_receiver where token = $1 and until > $2 for update`, token, tx.Now).Scan(&person)
	if errors.Is(err, pgx.ErrNoRows) {
		return req, false, nil
	}
	if err != nil {
		return req, false, err
	}
	req = testRequest{ID: db.NewID(), At: tx.Now, Headers: shownHeaders(h), Body: body[:min(len(body), bodyKept)], Size: len(body)}
	if req.Signatures, err = r.checkSignatures(ctx, tx, h, body); err != nil {
		return req, false, err
	}
	headers, err := json.Marshal(req.Headers)
	if err != nil {
		return req, false, err
	}
	signatures, err := json.Marshal(req.Signatures)
	if err != nil {
		return req, false, err
	}
	if _, err := tx.Exec(ctx, `insert into test_request (id, person, at, headers, body, size, signatures) values ($1, $2, $3, $4, $5, $6, $7)`,
		req.ID, person, req.At, headers, []byte(req.Body), req.Size, signatures); err != nil {
		return req, false, err
	}
	_, err = tx.Exec(ctx, `delete from test_request where person = $1 and id not in (select id from test_request where person = $1 order by id desc limit $2)`, person, requestsKept)
	return req, true, err
}

// ErrEnded is why a delivery to a test receiver failed.
var ErrEnded = errors.New("no test receiver has the address")

// Deliver hands a delivery to the test receiver at an address, in this process, and returns the status of its answer. here is false
// if the address is that of no test receiver of this installation.
func (r *Room) Deliver(ctx context.Context, address string, h http.Header, payload string) (status int, here bool, err error) {
	token, here := tokenOf(r.Config.PublicURL, address)
	if !here {
		return 0, false, nil
	}
	var ok bool
	err = r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		_, ok, err = r.receive(ctx, tx, token, h, []byte(payload))
		return err
	})
	if err == nil && !ok {
		err = ErrEnded
	}
	return http.StatusNoContent, true, err
}

// shownHeaders are the headers to show, by name, without credentials.
func shownHeaders(h http.Header) []testHeader {
	all := []testHeader{}
	for name, values := range h {
		if slices.Contains([]string{"Cookie", "Authorization", "Proxy-Authorization"}, name) {
			continue
		}
		for _, v := range values {
			v = strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "\uFFFD")
			all = append(all, testHeader{name, strings.ToValidUTF8(v[:min(len(v), headerMax)], "")})
		}
	}
	slices.SortStableFunc(all, func(a, b testHeader) int { return strings.Compare(a.Name, b.Name) })
	return all[:min(len(all), headersKept)]
}
