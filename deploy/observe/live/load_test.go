package live

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// load calls what visitors and the team call, every 300 ms, until the test ends. Calls may fail: faults are done meanwhile.
func load(t *testing.T, d system.Desk) {
	t.Helper()
	starts, slots := d.Slots(t)
	form := d.FormToken(t)
	system.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	visitor := d.System.Visitor()
	try := func(who system.Client, method, path string, body any) { _, _ = who.Try(ctx, method, path, body) }
	every := func(pause time.Duration, call func(n int)) {
		running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				call(n)
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	every(300*time.Millisecond, func(int) {
		try(visitor, "POST", "/forms/"+d.Form+"/submit", d.Submission(form, system.Address("load")))
	})
	every(time.Second, func(n int) {
		// Every other one asks for a time that is gone.
		try(visitor, "POST", "/booking/book", d.Booking(starts[20+n/2%(len(starts)-20)], slots, system.Address("load")))
	})
	every(300*time.Millisecond, func(int) {
		nothing := uuid.NewString()
		for _, path := range []string{"/contacts?search=load", "/services", "/forms", "/webhooks", "/me", "/contacts/" + nothing, "/services/" + nothing, "/forms/999999", "/webhooks/" + nothing, "/mails?cursor=none", "/none"} {
			try(d.Admin, "GET", path, nil)
		}
		try(visitor, "GET", "/booking/slots?service="+d.Service, nil)
	})
	every(2*time.Second, func(int) {
		try(visitor, "POST", "/auth/login", map[string]string{"login": "admin", "password": "wrong"})
	})
}

// once does what a load does not: an import, a stream, an app that is switched.
func once(t *testing.T, d system.Desk) {
	t.Helper()
	made := startImport(t, d)
	system.Eventually(t, func() bool { return d.Admin.Get(t, "/imports/"+made).Is(200).Text("status") == "completed" }, "the import does not end")
	ctx, cancel := context.WithCancel(context.Background())
	res, err := http.DefaultClient.Do(d.System.SignIn(t).Request(t, http.MethodGet, "/live").WithContext(ctx))
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	require.Equal(t, http.StatusOK, res.StatusCode)
	for _, on := range []bool{false, true} {
		d.Admin.Call(t, "PATCH", "/apps/forms", map[string]bool{"enabled": on}).Is(200)
	}
}

// startImport starts an import of one contact and returns its id.
func startImport(t *testing.T, d system.Desk) (id string) {
	t.Helper()
	id = d.Admin.Post(t, "/imports", map[string]any{"file_name": "people.csv", "csv": "first_name,email\nAda," + system.Address("imported") + "\n"}).Is(201).Text("id")
	d.Admin.Post(t, "/imports/"+id+"/start", map[string]any{"mapping": []string{"first_name", "email"}}).Is(200)
	return id
}
