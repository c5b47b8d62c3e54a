package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestTheBodyHasTheOneShape(t *testing.T) {
	var body map[string]any
	require.NoError(t, json.Unmarshal(Duplicate("The address is taken.", "an id").Body("req-1"), &body))
	require.Equal(t, map[string]any{"code": "svc_duplicate", "message": "The address is taken.",
		"data": map[string]any{"status": 409.0, "request_id": "req-1", "id": "an id"}}, body)
	require.NotContains(t, string(Duplicate("The address is taken.", nil).Body("")), `"id"`)
}

func TestOneParameterIsNamedInTheMessage(t *testing.T) {
	require.Equal(t, "email is required.", Invalid("email", Required()).Message)
	require.Contains(t, Problems{"b": Null(), "a": Empty()}.Err().Error(), "a, b")
}

func TestAWaitIsRoundedUp(t *testing.T) {
	require.Equal(t, 2*time.Second, RateLimited(1100*time.Millisecond).RetryAfter())
	require.Equal(t, time.Second, RateLimited(0).RetryAfter())
}

func TestOnlyAFaultIsShown(t *testing.T) {
	require.Equal(t, "svc_not_found", From(fmt.Errorf("while looking: %w", NotFound("note"))).Code)
	inside := From(errors.New("password=hunter2"))
	require.Equal(t, 500, inside.Status)
	require.NotContains(t, string(inside.Body("")), "hunter2")
	for _, err := range []error{context.DeadlineExceeded, &pgconn.PgError{Code: "57P01"}, &pgconn.PgError{Code: "40P01"}, &pgconn.ConnectError{}} {
		require.Equal(t, 503, From(err).Status, "%v", err)
	}
	require.Equal(t, 500, From(&pgconn.PgError{Code: "42P01"}).Status)
}

// A server that cannot take a connection says so with any code, such as XX000 while its disk is full.
func TestAServerThatTakesNoConnectionIsAnOutage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := pgproto3.NewBackend(c, c)
		if _, err := b.ReceiveStartupMessage(); err != nil {
			return
		}
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "XX000", Message: "could not write init file"})
		_ = b.Flush()
	}()
	_, err = pgconn.Connect(t.Context(), "postgres://somebody@"+l.Addr().String()+"/somewhere?sslmode=disable")
	refused, ok := errors.AsType[*pgconn.PgError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "XX000", refused.Code)
	require.Equal(t, 503, From(err).Status)
}
