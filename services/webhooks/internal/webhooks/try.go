package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/signature"
)

// The limits of a test receiver.
const (
	receiverFor   = time.Hour
	requestsKept  = 20
	bodyKept      = 16 << 10 // bytes of each body
	requestMax    = 1 << 20  // bytes of a body that is taken
	headersKept   = 60
	headerMax     = 2 << 10 // bytes of a header's value
	receiversPath = "/webhook-receivers/"
)

// TestReceiver is the caller's own address that shows what arrives at it. Its fields are null while the caller has none.
type TestReceiver struct {
	URL      *string       `json:"url" doc:"The address to send to, by POST; null while the caller has no test receiver."`
	Until    *time.Time    `json:"until" doc:"When the address stops to exist, and what arrived is deleted; null while the caller has no test receiver."`
	Requests []TestRequest `json:"requests" doc:"What arrived, newest first: the last 20."`
}

// TestRequest is one request that arrived at a test receiver.
type TestRequest struct {
	ID         uuid.UUID        `json:"id" doc:"Ids rise in the order of arrival."`
	At         time.Time        `json:"at" doc:"When it arrived."`
	Headers    []TestHeader     `json:"headers" doc:"By name. Cookies and Authorization are not kept."`
	Body       Answer           `json:"body" doc:"The first 16 KiB; what is not text is replaced."`
	Size       int              `json:"size" doc:"Bytes of the whole body."`
	Signatures []SignatureCheck `json:"signatures" doc:"How each signature verified when the request arrived."`
}

// TestHeader is one header of a request.
type TestHeader struct {
	Name  string `json:"name" doc:"The header's name."`
	Value string `json:"value" doc:"Its value, the first 2 KiB."`
}

// SignatureCheck is the result for one signature header.
type SignatureCheck struct {
	Header   string   `json:"header" enum:"X-Svc-Signature,webhook-signature" doc:"The header that holds the signature."`
	SignedBy []Signer `json:"signed_by" doc:"The webhooks whose secret made the signature; empty if no webhook has that secret."`
	Problem  *string  `json:"problem" enum:"missing,malformed,no_match,time" doc:"Why a receiver refuses it: a header is missing, has another form, no secret of a webhook signed exactly this body, or its time is more than five minutes from the arrival. Null if it verifies."`
}

// Signer is a webhook whose secret made a signature.
type Signer struct {
	Webhook uuid.UUID `json:"webhook" doc:"The webhook's id."`
	Name    string    `json:"name" doc:"The webhook's name."`
	Which   string    `json:"which" enum:"current,old" doc:"current, or old for the secret before, which is valid for a day after a change with keep_old."`
}

// receiverURL is the address of the test receiver with this token.
func (s *service) receiverURL(token string) string {
	return s.Config.PublicURL + "/v1" + receiversPath + token
}

// receiverToken returns the token of an address that is exactly that of a test receiver of this installation. A delivery to it makes no
// connection, so the rules about addresses do not have to let it through.
func (s *service) receiverToken(address string) (token string, ok bool) {
	token, ok = strings.CutPrefix(address, s.receiverURL(""))
	return token, ok && len(token) == len(rand.Text()) && strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// getReceiver answers with the caller's test receiver and what has arrived.
func (s *service) getReceiver(ctx context.Context, tx *db.Tx, _ op.None) (TestReceiver, error) {
	r := TestReceiver{Requests: []TestRequest{}}
	var token string
	var until time.Time
	err := tx.QueryRow(ctx, `select token, until from test_receiver where person = $1 and until > $2`, tx.Who.UserID, tx.Now).Scan(&token, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	url := s.receiverURL(token)
	r.URL, r.Until = &url, &until
	rows, err := tx.Query(ctx, `select id, at, headers, body, size, signatures from test_request where person = $1 order by id desc limit $2`, tx.Who.UserID, requestsKept)
	if err != nil {
		return r, err
	}
	if got, err := pgx.CollectRows(rows, pgx.RowToStructByName[TestRequest]); err != nil || got != nil {
		r.Requests = got
		return r, err
	}
	return r, nil
}

// openReceiver makes the caller's test receiver, or lets the one that is there last for an hour from now.
func (s *service) openReceiver(ctx context.Context, tx *db.Tx, _ op.None) (TestReceiver, error) {
	if _, err := tx.Exec(ctx, `delete from test_receiver where person = $1 and until <= $2`, tx.Who.UserID, tx.Now); err != nil {
		return TestReceiver{}, err
	}
	if _, err := tx.Exec(ctx, `insert into test_receiver (person, token, until, created_at) values ($1, $2, $3, $4) on conflict (person) do update set until = excluded.until`,
		tx.Who.UserID, rand.Text(), tx.Now.Add(receiverFor), tx.Now); err != nil {
		return TestReceiver{}, err
	}
	return s.getReceiver(ctx, tx, op.None{})
}

// closeReceiver ends the caller's test receiver and deletes what has arrived.
func closeReceiver(ctx context.Context, tx *db.Tx, _ op.None) (op.None, error) {
	_, err := tx.Exec(ctx, `delete from test_receiver where person = $1`, tx.Who.UserID)
	return op.None{}, err
}

// tryWebhook signs a test event with the secrets of a webhook and hands it to the caller's test receiver. The webhook's own address gets
// nothing, and its log and failures do not change.
func (s *service) tryWebhook(ctx context.Context, tx *db.Tx, in op.ByID) (TestRequest, error) {
	w, err := getWebhook(ctx, tx, in)
	if err != nil {
		return TestRequest{}, err
	}
	to, err := s.targetOf(ctx, tx, w.ID)
	if err != nil {
		return TestRequest{}, err
	}
	b, err := testBody(tx, w)
	if err != nil {
		return TestRequest{}, err
	}
	text, err := b.text()
	if err != nil {
		return TestRequest{}, err
	}
	signed, err := signature.Headers(to.secret, to.old, eventID(b.id), s.DB.Now(), []byte(text))
	if err != nil {
		return TestRequest{}, fault.Conflict("secret", failSecret)
	}
	var token string
	err = tx.QueryRow(ctx, `select token from test_receiver where person = $1`, tx.Who.UserID).Scan(&token)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return TestRequest{}, err
	}
	r, ok, err := s.receive(ctx, tx, token, headersOf(job{ID: db.NewID(), Event: b.event}, signed), []byte(text))
	if err == nil && !ok {
		err = fault.Conflict("no_receiver", failReceiver)
	}
	return r, err
}

// receiveRequest takes a request from anywhere. It answers svc_not_found for an address that no test receiver has any more.
func (s *service) receiveRequest(ctx context.Context, tx *db.Tx, in op.Sent) (op.None, error) {
	_, ok, err := s.receive(ctx, tx, in.Token, in.Header, in.Bytes)
	if err == nil && !ok {
		err = fault.NotFound("test receiver")
	}
	return op.None{}, err
}

// receive checks the signatures of a request and keeps it, the newest few of each receiver. ok is false if no test receiver has the token.
func (s *service) receive(ctx context.Context, tx *db.Tx, token string, h http.Header, body []byte) (r TestRequest, ok bool, err error) {
	var person int64
	err = tx.QueryRow(ctx, `select person from test_receiver where token = $1 and until > $2 for update`, token, tx.Now).Scan(&person)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	r = TestRequest{ID: db.NewID(), At: tx.Now, Headers: shownHeaders(h), Body: body[:min(len(body), bodyKept)], Size: len(body)}
	if r.Signatures, err = s.checkSignatures(ctx, tx, h, body); err != nil {
		return r, false, err
	}
	headers, err := json.Marshal(r.Headers)
	if err != nil {
		return r, false, err
	}
	signatures, err := json.Marshal(r.Signatures)
	if err != nil {
		return r, false, err
	}
	if _, err := tx.Exec(ctx, `insert into test_request (id, person, at, headers, body, size, signatures) values ($1, $2, $3, $4, $5, $6, $7)`,
		r.ID, person, r.At, headers, []byte(r.Body), r.Size, signatures); err != nil {
		return r, false, err
	}
	_, err = tx.Exec(ctx, `delete from test_request where person = $1 and id not in (select id from test_request where person = $1 order by id desc limit $2)`, person, requestsKept)
	return r, true, err
}

// checkSignatures compares both signatures with the secrets of all webhooks.
func (s *service) checkSignatures(ctx context.Context, tx *db.Tx, h http.Header, body []byte) ([]SignatureCheck, error) {
	rows, err := tx.Query(ctx, `select id, name, secret, case when old_secret_until > $1 then old_secret end from webhook order by created_at, id`, tx.Now)
	if err != nil {
		return nil, err
	}
	var signers []Signer
	var secrets []string
	var id uuid.UUID
	var name string
	var sealed, old []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &name, &sealed, &old}, func() error {
		signers = append(signers, Signer{id, name, "current"}, Signer{id, name, "old"})
		secrets = append(secrets, s.open(id, sealed), s.open(id, old))
		return nil
	}); err != nil {
		return nil, err
	}
	result := func(header string, c signature.Check) SignatureCheck {
		out := SignatureCheck{Header: header, SignedBy: []Signer{}}
		for _, i := range c.By {
			out.SignedBy = append(out.SignedBy, signers[i])
		}
		if c.Problem != "" {
			problem := string(c.Problem)
			out.Problem = &problem
		}
		return out
	}
	now := s.DB.Now()
	return []SignatureCheck{result(signature.HeaderSvc, signature.CheckSvc(h.Get, body, secrets, now)),
		result(signature.HeaderStandardSignature, signature.CheckStandard(h.Get, body, secrets, now))}, nil
}

// shownHeaders are the headers to show, by name, without credentials.
func shownHeaders(h http.Header) []TestHeader {
	all := []TestHeader{}
	for name, values := range h {
		if slices.Contains([]string{"Cookie", "Authorization", "Proxy-Authorization"}, name) {
			continue
		}
		for _, v := range values {
			v = strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "\uFFFD")
			all = append(all, TestHeader{name, strings.ToValidUTF8(v[:min(len(v), headerMax)], "")})
		}
	}
	slices.SortStableFunc(all, func(a, b TestHeader) int { return strings.Compare(a.Name, b.Name) })
	return all[:min(len(all), headersKept)]
}

// errReceiverEnded is why a delivery to a test receiver failed.
var errReceiverEnded = errors.New("no test receiver has the address")

// deliverHere hands a delivery to the test receiver with this token, in this process.
func (s *service) deliverHere(ctx context.Context, token string, h http.Header, payload string) (status int, err error) {
	var ok bool
	err = s.DB.Do(ctx, func(tx *db.Tx) (err error) {
		_, ok, err = s.receive(ctx, tx, token, h, []byte(payload))
		return err
	})
	if err == nil && !ok {
		err = errReceiverEnded
	}
	return http.StatusNoContent, err
}

// closeOldReceivers deletes test receivers that have ended, and those of people who may no longer have one.
func (s *service) closeOldReceivers(ctx context.Context) error {
	var may []int64
	for _, u := range s.Identity.Team() {
		if s.Identity.Rights(u.GetId())[auth.ManageIntegrations] {
			may = append(may, u.GetId())
		}
	}
	if _, err := s.DB.Pool.Exec(ctx, `delete from test_receiver where until <= $1 or not person = any($2)`, s.DB.Now().UTC(), may); err != nil {
		return fmt.Errorf("delete test receivers: %w", err)
	}
	return nil
}
