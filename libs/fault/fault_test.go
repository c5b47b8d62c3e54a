package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
