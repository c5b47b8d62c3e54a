// Package fault is the one error that callers see: a code, a message, facts and a status.
//
// Handlers return faults for everything that a caller can act on. Any other error is a bug or an outage: it is logged with
// the request id and shown as svc_internal or svc_unavailable.
package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fault is an error in the shape that every endpoint answers with.
type Fault struct {
	Code    string
	Message string
	Status  int
	// Data holds facts beyond status and request_id.
	Data map[string]any
}

func (f *Fault) Error() string { return f.Code + ": " + f.Message }

// StatusCode is the HTTP status.
func (f *Fault) StatusCode() int { return f.Status }

// RetryAfter is the wait that a 429 asks for, else zero.
func (f *Fault) RetryAfter() time.Duration {
	s, _ := f.Data["retry_after"].(int)
	return time.Duration(s) * time.Second
}

// Body is the JSON of the error. The request id goes in when it is not empty.
func (f *Fault) Body(requestID string) []byte {
	data := map[string]any{}
	maps.Copy(data, f.Data)
	data["status"] = f.Status
	if requestID != "" {
		data["request_id"] = requestID
	}
	b, err := json.Marshal(map[string]any{"code": f.Code, "message": f.Message, "data": data})
	if err != nil {
		return []byte(`{"code":"svc_internal","message":"Something went wrong on our side.","data":{"status":500}}`)
	}
	return b
}

// New makes a fault; facts are name and value in turn.
func New(status int, code, message string, facts ...any) *Fault {
	return &Fault{Code: code, Message: message, Status: status, Data: named(facts)}
}

// named are facts by their names; nil without any.
func named(facts []any) (all map[string]any) {
	for i := 0; i+1 < len(facts); i += 2 {
		if all == nil {
			all = map[string]any{}
		}
		all[facts[i].(string)] = facts[i+1]
	}
	return all
}

// InvalidToken refuses a token, time token or honeypot: 400 svc_invalid_token.
func InvalidToken(message string) *Fault {
	return New(http.StatusBadRequest, "svc_invalid_token", message)
}

// InvalidJSON says that the body could not be read: 400 svc_invalid_json.
func InvalidJSON(message string) *Fault {
	return New(http.StatusBadRequest, "svc_invalid_json", message)
}

// InvalidCursor refuses a cursor that this list did not give to this caller: 400 svc_invalid_cursor.
func InvalidCursor() *Fault {
	return New(http.StatusBadRequest, "svc_invalid_cursor", "The cursor does not belong to this list.")
}

// Unauthorized says that nobody is signed in: 401 svc_unauthorized.
func Unauthorized(message string) *Fault {
	return New(http.StatusUnauthorized, "svc_unauthorized", message)
}

// Forbidden names the permission that is missing: 403 svc_forbidden.
func Forbidden(permission string) *Fault {
	return New(http.StatusForbidden, "svc_forbidden", "This needs the permission "+permission+".", "permission", permission)
}

// Refused is 403 svc_forbidden for a reason other than a missing permission.
func Refused(reason, message string) *Fault {
	return New(http.StatusForbidden, "svc_forbidden", message, "reason", reason)
}

// NotFound says that a record does not exist, or not for this caller: 404 svc_not_found.
func NotFound(what string) *Fault {
	return New(http.StatusNotFound, "svc_not_found", "There is no such "+what+".")
}

// NoRoute says that the path, or its app, is not there: 404 svc_no_route.
func NoRoute() *Fault {
	return New(http.StatusNotFound, "svc_no_route", "Nothing answers at this path.")
}

// Duplicate carries the id of the record that is in the way, or none when the caller may not see it:
// 409 svc_duplicate.
func Duplicate(message string, id any) *Fault {
	if id == nil {
		return New(http.StatusConflict, "svc_duplicate", message)
	}
	return New(http.StatusConflict, "svc_duplicate", message, "id", id)
}

// InvalidStatus says that the record's status does not allow it: 409 svc_invalid_status.
func InvalidStatus(current, message string) *Fault {
	return New(http.StatusConflict, "svc_invalid_status", message, "current", current)
}

// SlotTaken lists the nearest free times: 409 svc_slot_taken. Nil alternatives become an empty list.
func SlotTaken(alternatives any) *Fault {
	return New(http.StatusConflict, "svc_slot_taken", "This time is not free.", "alternatives", alternatives)
}

// PageFull refuses to put a widget into a page of the site that has no room for it: 409 svc_conflict.
func PageFull() *Fault {
	return Conflict("page_full", "The page has no room for it. Choose another page, or shorten this one.")
}

// VersionMismatch says that the record has changed since the caller saw it: 412 svc_version_mismatch, with the version it has now.
func VersionMismatch(version int64) *Fault {
	return New(http.StatusPreconditionFailed, "svc_version_mismatch", "Somebody else has changed this in the meantime. Look at it again.", "version", version)
}

// WeakTag says that the record has not changed, and that the caller has seen it with a tag that a proxy made weak: 412 svc_version_mismatch, reason
// weak, with the version.
func WeakTag(version int64) *Fault {
	return New(http.StatusPreconditionFailed, "svc_version_mismatch", "Nobody has changed this: If-Match has a weak ETag, as proxies that compress make it. Send it without W/.", "version", version, "reason", "weak")
}

// Conflict is 409 svc_conflict with a reason for programs.
func Conflict(reason, message string) *Fault {
	return New(http.StatusConflict, "svc_conflict", message, "reason", reason)
}

// Expired says that a link was used, replaced or is too old: 410 svc_token_expired.
func Expired() *Fault {
	return New(http.StatusGone, "svc_token_expired", "This link is no longer valid.")
}

// TooLarge says that the body exceeds limit bytes: 413 svc_too_large.
func TooLarge(limit int64) *Fault {
	return New(http.StatusRequestEntityTooLarge, "svc_too_large", fmt.Sprintf("The body is larger than %d bytes.", limit))
}

// AnswerTooLarge says that the answer would exceed limit bytes: 413 svc_too_large.
func AnswerTooLarge(limit int64) *Fault {
	return New(http.StatusRequestEntityTooLarge, "svc_too_large", fmt.Sprintf("The answer is larger than %d bytes. Ask for less at once.", limit))
}

// RateLimited asks to wait, rounded up to whole seconds: 429 svc_rate_limited.
func RateLimited(wait time.Duration) *Fault {
	s := max(1, int((wait+time.Second-1)/time.Second))
	return New(http.StatusTooManyRequests, "svc_rate_limited", fmt.Sprintf("Too many requests. Try again in %d seconds.", s), "retry_after", s)
}

// Unavailable says that it may work a little later: 503 svc_unavailable.
func Unavailable() *Fault {
	return New(http.StatusServiceUnavailable, "svc_unavailable", "The service is not available at the moment. Try again shortly.")
}

// From returns the fault inside err. An error that Transient reports becomes svc_unavailable, every other svc_internal, both
// without its text.
func From(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if Transient(err) {
		return Unavailable()
	}
	return New(http.StatusInternalServerError, "svc_internal", "Something went wrong on our side.")
}

// WrongAssumption is the SQLSTATE of a commit whose assumptions do not hold, see db.Tx.Assume.
const WrongAssumption = "FD001"

// Transient reports whether err is an outage that may pass: a lost or refused connection, a deadline, a deadlock, a wrong
// assumption, a transaction that paused for too long or a server that is shutting down.
func Transient(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	// Whatever keeps a server from taking a connection: it may have any code, such as XX000 while its disk is full.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.ContainsFunc([]string{"08", "57P", "53", "40001", "40P01", "55P03", "25P03", "57014", WrongAssumption},
			func(code string) bool { return strings.HasPrefix(pg.Code, code) })
	}
	if pgconn.SafeToRetry(err) || pgconn.Timeout(err) {
		return true
	}
	var timed interface{ Timeout() bool }
	if errors.As(err, &timed) && timed.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.ErrUnexpectedEOF, net.ErrClosed},
		func(lost error) bool { return errors.Is(err, lost) })
}
