package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestAKeyAsksAndAPersonApproves(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	boss := sys.SignIn(t)
	email := system.Address("asked")
	owner, login, _ := member(t, d.Admin, "Integrator", "svc_admin")
	key := askingKey(t, owner, login)

	asked := key.Post(t, "/contacts", map[string]any{"email": email, "first_name": "Ann"}).Fails(202, "svc_approval_needed")
	id := asked.Text("data.approval.id")
	require.Equal(t, "/v1/approvals/"+id, asked.Header.Get("Location"))
	require.Empty(t, d.Admin.Get(t, "/contacts?search="+email).Is(200).Items())
	path := "/approvals/" + id
	require.Equal(t, "waiting", key.Get(t, path).Is(200).Text("state"), "who asked may look at once")
	key.With("X-Frontdesk-Approved", "AAAA AAAA").Post(t, "/contacts", map[string]any{"email": email}).Fails(202, "svc_approval_needed")
	visitor.With("X-Frontdesk-Approved", "AAAA AAAA").Post(t, "/contacts", map[string]any{"email": email}).Fails(401, "svc_unauthorized")

	seen := boss.Get(t, path).Is(200)
	require.Equal(t, "contact.created", seen.Text("effects.events.0.event"))
	owner.Post(t, path+"/approve", map[string]any{"hash": seen.Text("hash")}).Fails(403, "svc_forbidden")
	// Webhooks of tests beside this one come and go, and are among the effects.
	approve := func(path, hash string) *system.Answer {
		t.Helper()
		for {
			a := boss.Post(t, path+"/approve", map[string]any{"hash": hash})
			if a.Status != 412 {
				return a.Is(200)
			}
			hash = a.Fails(412, "svc_effects_changed").Text("data.hash")
		}
	}
	done := approve(path, seen.Text("hash"))
	require.Equal(t, []any{"approved", 201.0}, []any{done.Field("state"), done.Field("status")}, done.Body)
	boss.Post(t, path+"/approve", map[string]any{"hash": seen.Text("hash")}).Fails(409, "svc_invalid_status")
	contact := done.Text("answer.id")
	require.Equal(t, email, key.Get(t, path).Is(200).Text("answer.email"))
	var entry map[string]any
	system.Eventually(t, func() bool {
		entries := boss.Get(t, "/audit-log?action=create-contact&record_id="+contact).Is(200).Items()
		if len(entries) == 1 {
			entry = entries[0]
		}
		return entry != nil
	}, "the audit log has no entry")
	require.Equal(t, []any{"website", id, "api"}, []any{entry["actor_label"], entry["approval_id"], entry["channel"]})
	require.NotNil(t, entry["approved_by"])

	// What somebody changes in between, the person sees before it is done.
	change := key.Call(t, "PATCH", "/contacts/"+contact, map[string]any{"mode": "overwrite", "first_name": "Anna"}).Fails(202, "svc_approval_needed")
	path = "/approvals/" + change.Text("data.approval.id")
	system.Eventually(t, func() bool { return boss.Get(t, path).Status == 200 }, "the approval does not arrive")
	d.Admin.Call(t, "PATCH", "/contacts/"+contact, map[string]any{"mode": "overwrite", "first_name": "Annabel"}).Is(200)
	now := boss.Post(t, path+"/approve", map[string]any{"hash": change.Text("data.approval.hash")}).Fails(412, "svc_effects_changed")
	require.Equal(t, "Annabel", now.Text("data.effects.changes.0.old"))
	require.Equal(t, "Annabel", d.Admin.Get(t, "/contacts/"+contact).Text("first_name"))
	approve(path, now.Text("data.hash"))
	require.Equal(t, "Anna", d.Admin.Get(t, "/contacts/"+contact).Text("first_name"))
	key.Call(t, "DELETE", "/contacts/"+contact, nil).Fails(202, "svc_approval_needed")
}

// askingKey is a key of somebody whose writes all wait.
func askingKey(t *testing.T, owner system.Client, login string) system.Client {
	t.Helper()
	made := owner.Post(t, "/me/application-passwords", map[string]any{"name": "website", "approval": "writes"}).Is(201)
	return visitor.As(login, made.Text("password")).Known(t)
}

// The call is committed by contacts, and one of the two that have part in it dies before settings can note that. Whoever of them it is, the call has happened
// once, and its approval ends with its answer.
func TestAnApprovedCallHappensOnceWhicheverServiceDiesOverIt(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	boss := sys.SignIn(t)
	owner, login, _ := member(t, d.Admin, "Integrator", "svc_admin")
	key := askingKey(t, owner, login)
	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	found := func(sql string, args ...any) func() bool {
		return func() (yes bool) {
			require.NoError(t, conn.QueryRow(t.Context(), sql, args...).Scan(&yes))
			return yes
		}
	}
	for _, victim := range []string{"settings", "contacts"} {
		t.Run(victim, func(t *testing.T) {
			email := system.Address("once")
			asked := key.Post(t, "/contacts", map[string]any{"email": email}).Fails(202, "svc_approval_needed")
			id, hash := asked.Text("data.approval.id"), map[string]any{"hash": asked.Text("data.approval.hash")}
			system.Eventually(t, func() bool { return boss.Get(t, "/approvals/"+id).Status == 200 }, "the approval does not arrive")

			held, err := conn.Begin(t.Context())
			require.NoError(t, err)
			// The contact is written in the round trip of the commit, which waits for whether somebody else gets the address.
			_, err = held.Exec(t.Context(), `insert into contacts.contact (id, email_key, created_at, updated_at) values (gen_random_uuid(), $1, now(), now())`, email)
			require.NoError(t, err)
			answered := make(chan *system.Answer, 1)
			go func() {
				a, _ := boss.Try(context.WithoutCancel(t.Context()), "POST", "/approvals/"+id+"/approve", hash) // who waits for a process that dies may get no answer
				answered <- a
			}()
			system.Eventually(t, found(`select exists (select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)))`), "the call is not at its commit")
			system.Freeze(t, sys.Now(t).Processes[victim].PID)
			require.NoError(t, held.Rollback(t.Context()))
			system.Eventually(t, found(`select exists (select from contacts.contact where email = $1)`, email), "the call is not committed")
			require.True(t, found(`select state = 'waiting' and called_at is not null from settings.approval where id = $1`, id)())
			up := sys.Down(t, victim, syscall.SIGKILL)
			if a := <-answered; a != nil {
				require.Contains(t, []int{502, 503, 504}, a.Status, a.Body)
			}
			_, err = conn.Exec(t.Context(), `update settings.approval set called_at = called_at - interval '1 minute' where id = $1`, id) // who has begun it is taken for dead
			require.NoError(t, err)
			up()
			sys.Healthy(t)
			// The process that is back resumes the call, too: whoever comes second is told that it is decided on now.
			var ended *system.Answer
			system.Eventually(t, func() bool {
				boss.Post(t, "/approvals/"+id+"/approve", hash)
				ended = boss.Get(t, "/approvals/"+id)
				return ended.Status == 200 && ended.Text("state") != "waiting"
			}, "the call is not made again")
			require.Equal(t, []any{"approved", 201.0, email}, []any{ended.Text("state"), ended.Field("status"), ended.Text("answer.email")}, ended.Body)
			boss.Post(t, "/approvals/"+id+"/approve", hash).Fails(409, "svc_invalid_status")

			contact := ended.Text("answer.id")
			require.Len(t, d.Admin.Get(t, "/contacts?search="+email).Is(200).Items(), 1)
			created := func() int {
				of := d.Hook.Events(func(e system.Received) bool { c, _ := e.Data["contact"].(map[string]any); return c["email"] == email })
				return len(of["contact.created"])
			}
			system.Eventually(t, func() bool { return created() > 0 }, "no webhook says that the contact was made")
			require.Equal(t, 1, created())
			for _, entry := range []string{"create-contact&record_id=" + contact, "approve-call&record_id=" + id} {
				system.Eventually(t, func() bool { return len(boss.Get(t, "/audit-log?action="+entry).Is(200).Items()) > 0 }, "the audit log has no entry "+entry)
				require.Len(t, boss.Get(t, "/audit-log?action="+entry).Is(200).Items(), 1, entry)
			}
		})
	}
}

// The assistant listens at one replica of settings and a person decides at another one, for which a third process makes the call.
func TestAnAssistantHearsOfADecisionThatAnotherReplicaTook(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	boss := sys.SignIn(t)
	owner, login, _ := member(t, boss, "Integrator", "svc_admin")
	made := owner.Post(t, "/me/application-passwords", map[string]any{"name": "listener", "assistant": true, "approval": "writes"}).Is(201)
	visitor.As(login, made.Text("password")).Known(t)
	here, there := sys.Now(t).Gateway, sys.Beside(t, "settings")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			updated := make(chan string, 8)
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
			key := basic(base64.StdEncoding.EncodeToString([]byte(login + ":" + made.Text("password"))))
			s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: here + "/mcp?tools=contacts", HTTPClient: &http.Client{Transport: key}}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			defer s.Close()
			email := system.Address("decided")
			asked, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "svc-create-contact", Arguments: map[string]any{"email": email}})
			require.NoError(t, err)
			var needed struct {
				Data struct{ Approval struct{ ID, Hash string } }
			}
			body, err := json.Marshal(asked.StructuredContent)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(body, &needed))
			path, uri, hash := "/approvals/"+needed.Data.Approval.ID, "frontdesk://approvals/"+needed.Data.Approval.ID, needed.Data.Approval.Hash
			require.NoError(t, s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))

			var decided *system.Answer
			system.Eventually(t, func() bool {
				decided, err = boss.TryAt(t.Context(), there, "POST", path+"/approve", map[string]any{"hash": hash})
				require.NoError(t, err)
				decided.T = t
				if decided.Status == 412 { // webhooks of tests beside this one come and go
					hash = decided.Text("data.hash")
				}
				return decided.Status == 200
			}, "the other replica does not decide")
			require.Equal(t, uri, <-updated)
			read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			require.NoError(t, err)
			var ended struct {
				State  string
				Status int
				Answer struct{ Email string }
			}
			require.NoError(t, json.Unmarshal([]byte(read.Contents[0].Text), &ended))
			require.Equal(t, []any{"approved", 201, email}, []any{ended.State, ended.Status, ended.Answer.Email})
		})
	}
}

// basic makes requests with a login and a password.
type basic string

func (b basic) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Basic "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
