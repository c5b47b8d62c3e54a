package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/observe"
	"frontdesk/deploy/system"
	"frontdesk/libs/oidctest"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// world is a watched system under load.
type world struct {
	system.Desk
	monitor
	db *pgxpool.Pool
	// fired are the alerts that a fault has made fire.
	fired map[string]bool
	// provider is where the team could sign in as well.
	provider *oidctest.Provider
}

func TestWhatOperatorsRunBesideIt(t *testing.T) {
	collected := collect(t)
	provider := oidctest.New(time.Now)
	t.Cleanup(provider.Close)
	sys, err := system.Start(t.Context(), system.Options{Progress: os.Stderr, Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collected.URL, "OTEL_BSP_SCHEDULE_DELAY=200",
		"SVC_OIDC_ISSUER=" + provider.URL, "SVC_OIDC_CLIENT_ID=" + oidctest.ClientID, "SVC_OIDC_CLIENT_SECRET=" + oidctest.Secret, "SVC_FETCH_ALLOW=127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(sys.Stop)
	t.Cleanup(func() {
		if t.Failed() {
			sys.Logs(os.Stderr)
		}
	})
	w := world{monitor: watch(t, sys), Desk: sys.SetUp(t), fired: map[string]bool{}, provider: provider}
	w.db, err = pgxpool.New(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	t.Cleanup(w.db.Close)

	t.Run("a visitor's click and all that follows it are one trace", func(t *testing.T) { oneTrace(t, w.Desk, collected) })
	once(t, w.Desk)
	load(t, w.Desk)
	t.Run("histograms name traces that were collected", func(t *testing.T) { w.exemplars(t, collected) })
	t.Run("each alert fires when its fault is made", func(t *testing.T) {
		w.faults(t)
		for _, a := range observe.Alerts() {
			require.True(t, w.fired[a.Name], "no fault makes %s fire", a.Name)
		}
	})
	t.Run("the commands of the runbook do what it says", func(t *testing.T) {
		out := system.Shell(t, ".", system.Commands(t, "When an alert fires", 1), "SVC_DATA_DIR="+sys.Data)
		for _, said := range []string{`"ready":true`, "frontdesk_outbox_age_seconds", `"topic": "` + proto.ContactsCommandTopic + `"`, "wait_event_type", "operation failed"} {
			require.Contains(t, out, said)
		}
	})
	t.Run("each query of a dashboard and each record returns numbers", func(t *testing.T) {
		var empty []string
		try := func(query string) {
			if w.numbers(t, query) == 0 {
				empty = append(empty, query)
			}
		}
		for _, q := range observe.Queries("15s") {
			try(q)
		}
		for _, g := range observe.Rules(faster).Groups {
			for _, r := range g.Rules {
				if r.Record != "" {
					try(r.Record)
				}
				for _, name := range regexp.MustCompile(`\b(frontdesk|db_client|traefik)_[a-z_]+`).FindAllString(strings.ReplaceAll(r.Expr, "db_client_connection_state", ""), -1) {
					try(name)
				}
			}
		}
		require.Empty(t, empty)
	})
	t.Run("names are the same for a scraper that takes UTF-8", func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sys.Now(t).Processes["forms"].Admin+"/metrics", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Contains(t, string(text), "frontdesk_op_seconds_bucket{")
	})
}

// exemplars requires that Prometheus has traces of requests which the processes have sent.
func (w world) exemplars(t *testing.T, collected *spans) {
	until.Holds(t, func() bool {
		var found []struct {
			Exemplars []struct{ Labels map[string]string }
		}
		w.get(t, "/api/v1/query_exemplars", url.Values{"query": {"frontdesk_op_seconds_bucket"}, "start": {unix(w.began)}, "end": {unix(time.Now())}}, &found)
		for _, series := range found {
			for _, e := range series.Exemplars {
				if len(collected.of(e.Labels["trace_id"])) > 0 {
					return true
				}
			}
		}
		return false
	}, 30*time.Second, 200*time.Millisecond, "no exemplar")
}

// fires waits until an alert fires with labels, given as names and values.
func (w world) fires(t *testing.T, alert string, labels ...string) {
	t.Helper()
	want := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		want[labels[i]] = labels[i+1]
	}
	began := time.Now()
	until.Holds(t, func() bool { return w.firing(t, alert, want) }, 2*time.Minute, 200*time.Millisecond, "%s %v does not fire", alert, labels)
	t.Logf("%s after %s", alert, time.Since(began).Round(time.Second))
	w.fired[alert] = true
}

func (w world) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := w.db.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// locked holds a table locked against writers until unlock.
func (w world) locked(t *testing.T, table string) (unlock func()) {
	t.Helper()
	tx, err := w.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `lock table `+table+` in exclusive mode`)
	require.NoError(t, err)
	return func() { _ = tx.Rollback(context.Background()) }
}

func (w world) faults(t *testing.T) {
	sys := w.System
	broker, _, err := sys.Now(t).Broker()
	require.NoError(t, err)
	write := func(topic, key, value string) {
		res, err := broker.Produce(t.Context(), &kafka.ProduceRequest{Topic: topic, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(key)), Value: kafka.NewBytes([]byte(value))})})
		require.NoError(t, err)
		require.NoError(t, res.Error)
	}

	until.Holds(t, func() bool {
		return !slices.ContainsFunc(observe.Alerts(), func(a observe.Alert) bool {
			// Requests are slow on a machine that is busy with other tests. A job that runs once an hour is late after three minutes.
			return !strings.Contains(a.Name, "Burns") && a.Name != "FrontdeskJobLate" && w.firing(t, a.Name, nil)
		})
	}, time.Minute, time.Second, "an alert fires without a fault")

	// A replica that holds the lease of a job and does not move. The job is late after three hours, which are three minutes here.
	held := make(chan struct{})
	holding, letGo := context.WithCancel(t.Context())
	defer letGo()
	go func() {
		defer close(held)
		for holding.Err() == nil {
			_, _ = w.db.Exec(holding, `insert into booking.work_lease values ('job reminders', $1, clock_timestamp() + interval '20 s')
				on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until`, uuid.New())
			time.Sleep(200 * time.Millisecond)
		}
	}()
	// The load's first appointment is less than 23 hours away. Its reminder was due an hour ago or more, and it cannot be read once the job
	// runs again.
	system.Eventually(t, func() bool {
		broken, err := w.db.Exec(t.Context(), `update booking.appointment set timed_at = now() - interval '9 d', terms = '"broken"'
			where id = (select id from booking.appointment where status = 'confirmed' and starts_at < now() + interval '23 h' order by starts_at limit 1)`)
		require.NoError(t, err)
		return broken.RowsAffected() == 1
	}, "the load books nothing")

	t.Run("a message that nobody can read", func(t *testing.T) {
		write(proto.ContactsCommandTopic, "x", "nothing")
		w.fires(t, "FrontdeskMessagesParked", "service", "contacts", "topic", proto.ContactsCommandTopic)
	})
	t.Run("a message without a signature", func(t *testing.T) {
		write(proto.AppsTopic, "apps", "nothing")
		w.fires(t, "FrontdeskMessagesRefused", "topic", proto.AppsTopic, "reason", "unsigned")
	})
	t.Run("a receiver that answers 503", func(t *testing.T) {
		w.Hook.Busy(true)
		defer w.Hook.Busy(false)
		hooks := []string{}
		for range 4 {
			hooks = append(hooks, w.Admin.Post(t, "/webhooks", map[string]any{"name": "Busy", "url": w.Hook.URL + "/hook", "active": true, "events": []string{"contact.merged"}}).Is(201).Text("webhook.id"))
		}
		for n := 0; !w.firing(t, "FrontdeskWebhooksFail", nil) && n < 80; n++ {
			w.Admin.Post(t, "/webhooks/"+hooks[n%4]+"/test", nil)
			time.Sleep(250 * time.Millisecond)
		}
		w.fires(t, "FrontdeskWebhooksFail")
		w.fires(t, "FrontdeskWebhookPaused")
	})
	t.Run("calendars that cannot be read", func(t *testing.T) {
		calendars := fmt.Sprintf("/staff/%v/calendars", w.Admin.Get(t, "/me").Is(200).Field("user_id"))
		for range 4 {
			id := w.Admin.Post(t, calendars, map[string]any{"kind": "ics", "name": "Gone", "url": "https://calendar.invalid/gone.ics"}).Is(201).Text("id")
			defer w.Admin.Call(t, "DELETE", calendars+"/"+id, nil)
		}
		w.fires(t, "FrontdeskCalendarsFail")
		w.exec(t, `update booking.external_calendar set due_at = now() - interval '1 hour', holder = gen_random_uuid(), held_until = now() + interval '1 hour'`)
		w.fires(t, "FrontdeskCalendarsLate")
	})
	t.Run("a calendar that appointments cannot be written into", func(t *testing.T) {
		person := sys.SignIn(t)
		at := fmt.Sprintf("/staff/%d/calendars", w.User)
		person.Post(t, at, map[string]any{"kind": "caldav", "name": "Away", "url": "http://127.0.0.1:1/", "calendar": "http://127.0.0.1:1/work/", "username": "ada", "password": "away", "writes": true}).Is(201)
		w.fires(t, "FrontdeskCalendarsWait")
		w.exec(t, `delete from booking.external_calendar`)
		w.exec(t, `delete from booking.outgoing_account`)
	})
	t.Run("a provider of sign-ins that does not answer any more", func(t *testing.T) {
		begin := func() int { return w.Admin.Post(t, "/auth/login/organization", map[string]any{}).Status }
		require.Equal(t, http.StatusOK, begin())
		w.provider.Does(oidctest.Wrong{Step: map[string]http.HandlerFunc{oidctest.Discovery: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}})
		// Its description is a minute old before it is asked again.
		until.Holds(t, func() bool {
			return begin() == http.StatusServiceUnavailable && w.firing(t, "FrontdeskSignInUnreachable", nil)
		}, 3*time.Minute, 250*time.Millisecond, "nobody hears of it")
		w.fires(t, "FrontdeskSignInUnreachable")
		w.provider.Does(oidctest.Wrong{})
		until.Holds(t, func() bool { return begin() == http.StatusOK && !w.firing(t, "FrontdeskSignInUnreachable", nil) }, 2*time.Minute, 250*time.Millisecond, "the alert does not end")
	})
	t.Run("a process that delivers no webhooks", func(t *testing.T) {
		// The one that the load sends to is paused by now.
		hook := w.Admin.Post(t, "/webhooks", map[string]any{"name": "Waits", "url": w.Hook.URL + "/hook", "active": true, "events": []string{"form.submitted"}}).Is(201).Text("webhook.id")
		defer w.Admin.Call(t, "DELETE", "/webhooks/"+hook, nil)
		defer w.locked(t, "webhooks.lease")()
		w.fires(t, "FrontdeskWebhooksBehind")
	})
	t.Run("a mail server that is away, and one that was cut off", func(t *testing.T) {
		up := sys.Down(t, "mail", syscall.SIGKILL)
		defer up()
		w.fires(t, "FrontdeskMailsWait")
		w.exec(t, `update settings.mail set status = 'unknown' where id = (select id from settings.mail where status = 'retrying' limit 1)`)
		w.fires(t, "FrontdeskMailsUnknown")
		w.exec(t, `update settings.mail set created_at = created_at - interval '6 days', next_at = now() where status in ('queued', 'retrying')`)
		w.fires(t, "FrontdeskMailsFail")
	})
	t.Run("an import that cannot store its rows", func(t *testing.T) {
		defer w.locked(t, "contacts.import_error")()
		startImport(t, w.Desk)
		w.fires(t, "FrontdeskImportsStalled", "service", "contacts")
	})
	t.Run("a table that somebody has locked", func(t *testing.T) {
		unlock := w.locked(t, "contacts.contact")
		defer unlock()
		ended := make(chan struct{})
		defer close(ended)
		for range 60 {
			go func() {
				for ctx := context.WithoutCancel(t.Context()); ; {
					select {
					case <-ended:
						return
					default:
						_, _ = w.Admin.Try(ctx, http.MethodPost, "/contacts", map[string]string{"first_name": "Waits"})
					}
				}
			}()
		}
		w.fires(t, "FrontdeskConsumerBehind", "service", "contacts", "topic", proto.ContactsCommandTopic)
		w.fires(t, "FrontdeskSubmissionsPending")
		w.fires(t, "FrontdeskPoolExhausted", "service", "contacts")
		for _, burns := range []string{"Fast", "Steadily", "Slowly"} {
			w.fires(t, "FrontdeskLatencyBurns"+burns)
		}
		unlock()
		for _, burns := range []string{"Fast", "Steadily", "Slowly"} {
			w.fires(t, "FrontdeskEventsBurns"+burns)
		}
	})
	t.Run("a broker that is away", func(t *testing.T) {
		up := sys.Down(t, "kafka", syscall.SIGTERM)
		defer up()
		w.fires(t, "FrontdeskOutboxStuck", "service", "forms")
		w.fires(t, "FrontdeskRelayFails", "service", "forms")
		w.fires(t, "FrontdeskTableStale", "service", "forms")
	})
	sys.Healthy(t)
	t.Run("a process that is away", func(t *testing.T) {
		up := sys.Down(t, "forms", syscall.SIGTERM)
		defer up()
		w.fires(t, "FrontdeskProcessDown", "service", "forms")
		w.fires(t, "FrontdeskNoServiceAnswers")
		for _, burns := range []string{"Fast", "Steadily", "Slowly"} {
			w.fires(t, "FrontdeskAvailabilityBurns"+burns)
		}
	})
	sys.Healthy(t)
	remove := func(topic string) {
		res, err := broker.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
		require.NoError(t, err)
		require.NoError(t, res.Errors[topic])
	}
	t.Run("a topic that is deleted", func(t *testing.T) {
		remove(proto.ContactsCommandTopic)
		w.fires(t, "FrontdeskLogLost", "service", "contacts", "topic", proto.ContactsCommandTopic)
	})
	t.Run("a topic that is deleted while its owner is away", func(t *testing.T) {
		up := sys.Down(t, "settings", syscall.SIGTERM)
		defer up()
		remove(proto.SiteTopic)
		w.fires(t, "FrontdeskTableNotWhole", "topic", proto.SiteTopic)
	})
	sys.Healthy(t)
	t.Run("a job whose lease is held", func(t *testing.T) {
		defer func() { letGo(); <-held }()
		w.fires(t, "FrontdeskRemindersOverdue")
		w.fires(t, "FrontdeskJobLate", "exported_job", "reminders")
	})
	t.Run("a row that cannot be read", func(t *testing.T) { w.fires(t, "FrontdeskRowsAside", "service", "booking") })
	t.Run("a job that fails", func(t *testing.T) {
		w.exec(t, `alter table booking.settings rename to settings_away`)
		defer w.exec(t, `alter table booking.settings_away rename to settings`)
		w.fires(t, "FrontdeskJobFails", "service", "booking", "exported_job", "reminders")
	})
}
