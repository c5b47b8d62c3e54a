package receiver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// The limits of a test receiver.
const (
	openFor      = time.Hour
	requestsKept = 20
	bodyKept     = 16 << 10 // bytes of each body
	requestMax   = 1 << 20  // bytes of a body that is taken
	headersKept  = 60
	headerMax    = 2 << 10 // bytes of a header's value
	path         = "/webhook-receivers/"
)

// failReceiver is why an operation has nowhere to send to, see op.Fails.
const failReceiver = "The caller has no test receiver. Open one first."

// testReceiver is the caller's own address that shows what arrives at it. Its fields are null while the caller has none.
type testReceiver struct {
	URL      *string       `json:"url" doc:"The address to send to, by POST; null while the caller has no test receiver."`
	Until    *time.Time    `json:"until" doc:"When the address stops to exist, and what arrived is deleted; null while the caller has no test receiver."`
	Requests []testRequest `json:"requests" doc:"What arrived, newest first: the last 20."`
}

// testRequest is one request that arrived at a test receiver.
type testRequest struct {
	ID         uuid.UUID        `json:"id" doc:"Ids rise in the order of arrival."`
	At         time.Time        `json:"at" doc:"When it arrived."`
	Headers    []testHeader     `json:"headers" doc:"By name. Cookies and Authorization are not kept."`
	Body       message.Raw      `json:"body" doc:"The first 16 KiB; what is not text is replaced."`
	Size       int              `json:"size" doc:"Bytes of the whole body."`
	Signatures []signatureCheck `json:"signatures" doc:"How each signature verified when the request arrived."`
}

// testHeader is one header of a request.
type testHeader struct {
	Name  string `json:"name" doc:"The header's name."`
	Value string `json:"value" doc:"Its value, the first 2 KiB."`
}

// addressOf is the address of the test receiver with this token.
func addressOf(publicURL, token string) string { return publicURL + "/v1" + path + token }

// tokenOf returns the token of an address that is exactly that of a test receiver of the installation at publicURL. A delivery to it
// makes no connection, so the rules about addresses do not have to let it through.
func tokenOf(publicURL, address string) (token string, ok bool) {
	token, ok = strings.CutPrefix(address, addressOf(publicURL, ""))
	return token, ok && len(token) == len(rand.Text()) && strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Own returns what reports whether an address is exactly that of a test receiver of this installation.
func Own(k *app.Kit) func(address string) bool {
	return func(address string) bool {
		_, ok := tokenOf(k.Config.PublicURL, address)
		return ok
	}
}

// get answers with the caller's test receiver and what has arrived.
func (r *Room) get(ctx context.Context, tx *db.Tx, _ op.None) (testReceiver, error) {
	out := testReceiver{Requests: []testRequest{}}
	var token string
	var until time.Time
	err := tx.QueryRow(ctx, `select token, until from test_receiver where person = $1 and until > $2`, tx.Who.UserID, tx.Now).Scan(&token, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	url := addressOf(r.Config.PublicURL, token)
	out.URL, out.Until = &url, &until
	rows, err := tx.Query(ctx, `select id, at, headers, body, size, signatures from test_request where person = $1 order by id desc limit $2`, tx.Who.UserID, requestsKept)
	if err != nil {
		return out, err
	}
	if got, err := pgx.CollectRows(rows, pgx.RowToStructByName[testRequest]); err != nil || got != nil {
		out.Requests = got
		return out, err
	}
	return out, nil
}

// open makes the caller's test receiver, or lets the one that is there last for an hour from now.
func (r *Room) open(ctx context.Context, tx *db.Tx, _ op.None) (testReceiver, error) {
	if _, err := tx.Exec(ctx, `delete from test_receiver where person = $1 and until <= $2`, tx.Who.UserID, tx.Now); err != nil {
		return testReceiver{}, err
	}
	if _, err := tx.Exec(ctx, `insert into test_receiver (person, token, until, created_at) values ($1, $2, $3, $4) on conflict (person) do update set until = excluded.until`,
		tx.Who.UserID, rand.Text(), tx.Now.Add(openFor), tx.Now); err != nil {
		return testReceiver{}, err
	}
	return r.get(ctx, tx, op.None{})
}

// end ends the caller's test receiver and deletes what has arrived.
func end(ctx context.Context, tx *db.Tx, _ op.None) (op.None, error) {
	_, err := tx.Exec(ctx, `delete from test_receiver where person = $1`, tx.Who.UserID)
	return op.None{}, err
}

// try signs a test event with the secrets of a webhook and hands it to the caller's test receiver. The webhook's own address gets
// nothing, and its log and failures do not change.
func (r *Room) try(ctx context.Context, tx *db.Tx, in op.ByID) (testRequest, error) {
	w, err := endpoint.Get(ctx, tx, in)
	if err != nil {
		return testRequest{}, err
	}
	to, err := r.endpoints.Target(ctx, tx, w.ID)
	if err != nil {
		return testRequest{}, err
	}
	test, err := message.NewTest(tx, w.ID, w.Name)
	if err != nil {
		return testRequest{}, err
	}
	request, err := to.Request(test.Event, test.ID, db.NewID(), r.DB.Now(), test.Payload)
	if err != nil {
		return testRequest{}, fault.Conflict("secret", endpoint.FailSecret)
	}
	var token string
	err = tx.QueryRow(ctx, `select token from test_receiver where person = $1`, tx.Who.UserID).Scan(&token)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return testRequest{}, err
	}
	req, ok, err := r.receive(ctx, tx, token, request.Header, []byte(request.Body))
	if err == nil && !ok {
		err = fault.Conflict("no_receiver", failReceiver)
	}
	return req, err
}

// Expire deletes test receivers that have ended, and those of people who may no longer have one.
func (r *Room) Expire(ctx context.Context) error {
	var may []int64
	for _, u := range r.Identity.Team() {
		if r.Identity.Rights(u.GetId())[auth.ManageIntegrations] {
			may = append(may, u.GetId())
		}
	}
	if _, err := r.DB.Pool.Exec(ctx, `delete from test_receiver where until <= $1 or not person = any($2)`, r.DB.Now().UTC(), may); err != nil {
		return fmt.Errorf("delete test receivers: %w", err)
	}
	return nil
}
