package app_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestNoAnswerOfTheInterfaceIsKeptOnItsWay(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	id := c.Post("/notes", `{"text":"one"}`).Is(201).Text("id")
	for _, a := range []*apptest.Answer{c.Get("/notes").Is(200), c.Get("/notes/" + id).Is(200), c.Get("/notes/x").Fails(400, "svc_invalid_param"),
		s.Visitor().Get("/notes").Fails(401, "svc_unauthorized"), s.Visitor().Raw("GET /nothing", nil).Fails(404, "svc_no_route")} {
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"), a.Body)
	}
}

// logged is a log that several goroutines write.
type logged struct {
	sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(p)
}

func TestALineAboutACallNamesItAndHasNothingOfItsBody(t *testing.T) {
	log := &logged{}
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil))) })
	s := apptest.Start(t, desk)
	c := s.As("site_admin")
	c.Post("/notes", `{"text":"typed","lines":[{"words":"by somebody"}]}`).Is(201)
	c.Raw("POST /notes", `{"text":"by somebody who is longer than that"}`).Fails(400, "svc_invalid_param")
	failed := c.With("X-Request-Id", "find-me-again").Raw("POST /notes", `{"text":"fail","lines":[{"words":"by somebody"}]}`).Fails(500, "svc_internal")
	c.Raw("POST /notes", `{"text":"panic","lines":[{"words":"by somebody"}]}`).Fails(500, "svc_internal")
	c.Get("/notes?search=somebody").Is(200)
	require.NotContains(t, log.String(), "somebody")
	require.NotContains(t, log.String(), strings.TrimPrefix(c.Basic(), "Basic "))
	var line struct {
		Op        string
		RequestID string `json:"request_id"`
	}
	for text := range strings.Lines(log.String()) {
		if strings.Contains(text, "find-me-again") {
			require.NoError(t, json.Unmarshal([]byte(text), &line))
		}
	}
	require.Equal(t, "create-note", line.Op)
	require.Equal(t, failed.Text("data.request_id"), line.RequestID)
}
