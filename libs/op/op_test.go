package op

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
)

// The time of an operation is for its work: a slow line takes none of it.
func TestTheTimeOfAnOperationBeginsWhenItsBodyIsThere(t *testing.T) {
	s := NewSet("desk", nil, auth.New(auth.NewIdentity(bus.New("127.0.0.1:1", bus.Login{}))))
	var until time.Time
	AddOutside(s, Op{ID: "up", Route: "POST /up/{token}", Perm: Public, Unaudited: true, Doc: "Up."}, func(ctx context.Context, _ *db.DB, _ Sent) (None, error) {
		until, _ = ctx.Deadline()
		return None{}, nil
	})
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	body, w := io.Pipe()
	var sent time.Time
	go func() {
		_, _ = io.WriteString(w, "the first part")
		time.Sleep(10 * time.Millisecond)
		_, _ = io.WriteString(w, "and the last")
		sent = time.Now()
		_ = w.Close()
	}()
	res, err := http.Post(srv.URL+"/v1/up/abc", "text/plain", body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	require.False(t, until.Before(sent.Add(within)), "%s were left", until.Sub(sent))
}
