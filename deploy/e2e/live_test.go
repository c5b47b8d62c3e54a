package e2e

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/app/apptest"
)

// screens opens streams of changes through the gateway, and returns what each hears once all have begun.
func screens(t *testing.T, as system.Client, n int) []chan apptest.Heard {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	all := make([]chan apptest.Heard, n)
	for i := range all {
		req := as.Request(t, http.MethodGet, "/live").WithContext(ctx)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		require.Equal(t, 200, res.StatusCode)
		heard := make(chan apptest.Heard, 1000)
		go func() {
			defer close(heard)
			apptest.ReadEvents(res.Body, func(h apptest.Heard) { heard <- h })
		}()
		all[i] = heard
	}
	for _, heard := range all {
		hears(t, heard, func(h apptest.Heard) bool { return h.Event == "ready" })
	}
	return all
}

func hears(t *testing.T, heard chan apptest.Heard, what func(apptest.Heard) bool) apptest.Heard {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case h, open := <-heard:
			require.True(t, open, "the stream has ended")
			if what(h) {
				return h
			}
		case <-late:
			require.Fail(t, "it was not heard")
		}
	}
}

//e2e:broker
func TestAChangeShowsOn200OpenScreens(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	all := screens(t, sys.SignIn(t), 200)
	for _, change := range []struct {
		kind string
		do   func() (id string)
	}{
		{"contact", func() string {
			return d.Admin.Post(t, "/contacts", map[string]string{"email": system.Address("live")}).Is(201).Text("id")
		}},
		{"service", func() string {
			return d.Admin.Call(t, "PATCH", "/services/"+d.Service, map[string]int{"duration_min": 45}).Is(200).Text("id")
		}},
		{"form", func() string {
			d.Admin.Call(t, "PATCH", "/forms/"+d.Form, map[string]string{"name": "Other"}).Is(200)
			return d.Form
		}},
	} {
		id := change.do()
		committed, slowest := time.Now(), time.Duration(0)
		for _, heard := range all {
			h := hears(t, heard, func(h apptest.Heard) bool { return h.Data["type"] == change.kind && h.Data["id"] == id })
			slowest = max(slowest, h.At.Sub(committed))
		}
		promised(t, slowest, "a change of a "+change.kind+" shows on the last screen")
	}

	// A service that is told to stop lets its screens go, and the next one takes them.
	up := sys.Down(t, "settings", syscall.SIGTERM)
	for _, heard := range all {
		require.Equal(t, "stopping", hears(t, heard, func(h apptest.Heard) bool { return h.Event == "end" }).Data["reason"])
	}
	up()
	sys.Healthy(t)
	screens(t, sys.SignIn(t), 1)
}
