package approvals

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

type object = map[string]any

// house is the room alone, behind a gateway that the test answers for.
type house struct {
	*apptest.Service
	t    *testing.T
	room *Room
	// gateway answers the calls, and made counts them.
	gateway http.HandlerFunc
	made    atomic.Int32
}

func start(t *testing.T) *house {
	t.Helper()
	h := &house{t: t}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.made.Add(1)
		h.gateway(w, r)
	}))
	t.Cleanup(srv.Close)
	h.Service = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		h.room = New(k)
		h.room.Operations(set)
		return []app.Room{{Name: "approvals", Parts: h.room.Parts()}}
	}, func(c *app.Config) { c.GatewayURL = srv.URL })
	return h
}

// keyed gives a client's user a row and their application password, as the rooms below would.
func (h *house) keyed(c *apptest.Client) *apptest.Client {
	h.t.Helper()
	_, err := h.Kit.DB.Pool.Exec(h.t.Context(), `insert into person (id, login, name, email, roles, created_at, updated_at) overriding system value values ($1, $2, $2, $2 || '@example.com', '{}', now(), now())`,
		c.UserID, fmt.Sprint("user", c.UserID))
	require.NoError(h.t, err)
	_, err = h.Kit.DB.Pool.Exec(h.t.Context(), `insert into application_password (id, person_id, name, assistant, hash, approval, created_at) values ($1, $2, 'website', false, $3, 'writes', now())`,
		apptest.KeyOf(c.UserID), c.UserID, []byte(fmt.Sprint(c.UserID)))
	require.NoError(h.t, err)
	return c
}

const effects = `{"changes":[],"events":[{"event":"contact.created","id":"1","data":{"email":"ann@example.com"}}],"mails":[],"webhooks":[],"commands":[],"audit":null}`

// ask has a key of the client's user ask for a call, and returns the path of the approval.
func (h *house) ask(c *apptest.Client, change func(*proto.AskApproval)) string {
	h.t.Helper()
	id := db.NewID().String()
	raw, err := protobuf.Marshal(&proto.HeldCall{Method: "POST", Target: "/v1/contacts?x=%C3%A4", ContentType: "application/json", Body: []byte(`{"email":"ann@example.com","password":"hush hush"}`)})
	require.NoError(h.t, err)
	sealed, err := apptest.Trust("contacts").Seal("settings", proto.SettingsCommandTopic, id, raw)
	require.NoError(h.t, err)
	asked := &proto.AskApproval{Id: id, Service: "contacts", Operation: "create-contact", Permission: auth.EditContacts, Credential: apptest.KeyOf(c.UserID),
		Input: []byte(`{"email":"ann@example.com","password":"…"}`), Effects: []byte(effects), Hash: "h1", Call: sealed}
	if change != nil {
		change(asked)
	}
	for range 2 { // it may come twice
		h.Send(apptest.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindAskApproval, Key: id, Data: asked})
	}
	h.Settle()
	return "/approvals/" + id
}

func answers(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func hash(h string) object { return object{"hash": h} }

func TestACallIsApprovedOnceWithTheEffectsThatWereSeen(t *testing.T) {
	t.Parallel()
	h := start(t)
	asking := h.keyed(h.Asking(op.ApprovalWrites, "site_admin"))
	ann, bob := h.keyed(h.AsSession("site_admin")), h.keyed(h.AsSession("svc_admin"))
	path := h.ask(asking, nil)
	shown := ann.Get(path).Is(200)
	require.Equal(t, []any{"waiting", "key", "website", float64(asking.UserID), "h1", "…", nil, proto.KindContactCreated}, []any{shown.Field("state"), shown.Field("asked_by.kind"),
		shown.Field("asked_by.name"), shown.Field("asked_by.user_id"), shown.Field("hash"), shown.Field("input.password"), shown.Value("answer"), shown.Field("effects.events.0.event")})
	told := []int64{}
	for _, e := range h.Events(proto.MailTopic) {
		var n proto.Notice
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &n))
		for _, to := range n.GetTo() {
			told = append(told, to.GetUserId())
		}
	}
	require.Equal(t, []int64{ann.UserID, bob.UserID}, told, "who may approve it is told once")
	require.Len(t, bob.Get("/approvals?state=waiting").Is(200).Items(), 1)
	require.Len(t, asking.Get("/approvals").Is(200).Items(), 1)
	require.Empty(t, h.As("site_admin").Get("/approvals").Is(200).Items(), "another key of an administrator")
	asking.Post(path+"/approve", hash("h1")).Fails(403, "svc_forbidden")
	require.Empty(t, h.Holding("hush hush"), "what is secret in a call is sealed")

	ann.Post(path+"/approve", nil).Fails(400, "svc_invalid_param")
	ann.Post(path+"/approve", hash("other")).Fails(412, "svc_effects_changed")
	require.Zero(t, h.made.Load())
	h.gateway = answers(412, object{"code": "svc_effects_changed", "message": "x", "data": object{"status": 412, "hash": "h2", "effects": json.RawMessage(effects)}})
	require.Equal(t, "h2", ann.Post(path+"/approve", hash("h1")).Fails(412, "svc_effects_changed").Text("data.hash"))
	require.Equal(t, []any{"waiting", "h2", nil}, []any{ann.Get(path).Field("state"), ann.Get(path).Field("hash"), ann.Get(path).Value("decided_by")})

	came, release := make(chan struct{}), make(chan struct{})
	h.gateway = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		call, ok := h.Kit.Auth.Approved(r.Header)
		same := ok && call.GetApprovedBy() == ann.UserID && call.GetCredential().GetId() == apptest.KeyOf(asking.UserID) && call.GetCredential().GetHash() == nil &&
			call.GetOperation() == "create-contact" && "/approvals/"+call.GetApprovalId() == path && r.Header.Get("If-Effects") == `"h2"` && r.Header.Get("Authorization") == "" &&
			r.URL.RequestURI() == "/v1/contacts?x=%C3%A4" && string(body) == `{"email":"ann@example.com","password":"hush hush"}`
		close(came)
		<-release
		if !same {
			w.WriteHeader(http.StatusTeapot)
		}
		answers(200, object{"status": 201, "answer": object{"id": 7}, "secret": object{"id": 7, "secret": "told once"}})(w, r)
	}
	first := make(chan *apptest.Answer)
	go func() { first <- ann.Post(path+"/approve", hash("h2")) }()
	<-came
	bob.Post(path+"/approve", hash("h2")).Fails(409, "svc_invalid_status")
	bob.Post(path+"/refuse", nil).Fails(409, "svc_invalid_status")
	close(release)
	done := (<-first).Is(200)
	require.Equal(t, []any{"approved", 201.0, object{"id": 7.0}, float64(ann.UserID)}, []any{done.Field("state"), done.Field("status"), done.Field("answer"), done.Field("decided_by.user_id")})
	require.Equal(t, int32(2), h.made.Load())
	bob.Post(path+"/approve", hash("h2")).Fails(409, "svc_invalid_status")
	require.Empty(t, h.Holding("told once"))
	require.NotContains(t, bob.Get(path).Is(200).Body, "told once")
	require.Equal(t, "told once", asking.Get(path).Is(200).Field("answer.secret"), "to who asked, once")
	require.Equal(t, object{"id": 7.0}, asking.Get(path).Is(200).Field("answer"))
}

func TestWhoMayDecideOnACall(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.gateway = answers(200, object{"status": 204, "answer": nil})
	h.Role("editor", "all", auth.ViewContacts, auth.EditContacts)
	owner, editor, staff := h.keyed(h.AsSession("site_admin")), h.keyed(h.AsSession("editor")), h.keyed(h.AsSession("staff"))
	mine := h.ask(owner, nil)
	require.Equal(t, "own", owner.Post(mine+"/approve", hash("h1")).Fails(403, "svc_forbidden").Text("data.reason"), "somebody else could")
	staff.Get(mine).Fails(404, "svc_not_found") // they hold the permission, and see only their own
	staff.Post(mine+"/approve", hash("h1")).Fails(404, "svc_not_found")
	require.Empty(t, staff.Get("/approvals").Is(200).Items())
	editor.Get(h.ask(owner, func(a *proto.AskApproval) { a.Permission = auth.ManageForms })).Fails(404, "svc_not_found")
	editor.Post(mine+"/approve", hash("h1")).Is(200)
	later := h.ask(owner, nil)
	editor.Get(later).Is(200)

	own := h.ask(staff, nil)
	require.Equal(t, "own", staff.Post(own+"/approve", hash("h1")).Fails(403, "svc_forbidden").Text("data.reason"))
	refused := staff.Post(own+"/refuse", object{"reason": " Not today. "}).Is(200)
	require.Equal(t, []any{"refused", "Not today.", float64(staff.UserID)}, []any{refused.Field("state"), refused.Field("reason"), refused.Field("decided_by.user_id")})

	h.SetRoles(editor, "nobody")
	alone := h.ask(owner, nil)
	h.Eventually(func() bool { return len(h.Kit.Identity.Rights(editor.UserID)) == 0 })
	made := h.made.Load()
	editor.Post(later+"/approve", hash("h1")).Fails(404, "svc_not_found")
	require.Equal(t, made, h.made.Load(), "who has lost the right since they looked makes no call")
	require.Equal(t, "approved", owner.Post(alone+"/approve", hash("h1")).Is(200).Text("state"), "nobody else could")
	h.Settle()
	require.True(t, h.saysOwn(alone), "the audit log says that it was their own")
	h.gateway = answers(503, object{"code": "svc_unavailable", "message": "x", "data": object{"status": 503}})
	lost := h.ask(owner, nil)
	owner.Post(lost+"/approve", hash("h1")).Fails(503, "svc_unavailable")
	h.gateway = answers(200, object{"status": 204, "answer": nil})
	h.Travel(time.Minute)
	require.NoError(t, h.room.resume(t.Context()))
	h.Settle()
	require.True(t, h.saysOwn(lost), "also when the answer came later")
}

// saysOwn reports whether the audit log says of an approval that it was of a call of the own key.
func (h *house) saysOwn(path string) (said bool) {
	h.t.Helper()
	for _, e := range h.Events(proto.AuditTopic) {
		var a proto.Audit
		require.NoError(h.t, protobuf.Unmarshal(e.GetData(), &a))
		said = said || a.GetAction() == "approve-call" && "/approvals/"+a.GetRecordId() == path && string(a.GetChanges()) == `{"own":{"old":false,"new":true}}`
	}
	return said
}

// became is what an approval says of its call.
func became(a *apptest.Answer) []any {
	return []any{a.Field("state"), a.Value("status"), a.Value("answer")}
}

func TestAPersonIsShownWhatWaitsForThemAndWhatWasDecided(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.Role("editor", "all", auth.ViewContacts, auth.EditContacts)
	owner, ann, editor, staff := h.keyed(h.AsSession("site_admin")), h.keyed(h.AsSession("svc_admin")), h.keyed(h.AsSession("editor")), h.keyed(h.AsSession("staff"))
	shows := func(c *apptest.Client, since string) []any {
		t.Helper()
		a := c.Get("/me/approvals" + since).Is(200)
		return []any{a.Field("waiting"), a.Field("asked"), a.Field("decided")}
	}
	begin := "?since=" + h.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	path := h.ask(owner, nil)
	h.ask(owner, func(a *proto.AskApproval) { a.Permission = auth.ManageForms })
	require.Equal(t, []any{0.0, 0.0, 0.0}, shows(owner, begin), "of the own key somebody else decides")
	require.Equal(t, []any{2.0, 2.0, 0.0}, shows(ann, begin))
	require.Equal(t, []any{1.0, 1.0, 0.0}, shows(editor, begin), "the right of the operation alone")
	require.Equal(t, []any{0.0, 0.0, 0.0}, shows(staff, begin), "who sees only their own decides on nothing of others")
	h.Travel(time.Minute)
	later := "?since=" + h.Now().UTC().Format(time.RFC3339)
	require.Equal(t, []any{2.0, 0.0, 0.0}, shows(ann, later))
	ann.Post(path+"/refuse", nil).Is(200)
	require.Equal(t, []any{1.0, 0.0, 0.0}, shows(ann, later))
	require.Equal(t, []any{0.0, 0.0, 1.0}, shows(owner, later))
	h.Travel(time.Minute)
	require.Equal(t, []any{0.0, 0.0, 0.0}, shows(owner, "?since="+h.Now().UTC().Format(time.RFC3339)))
	require.Equal(t, "person_only", h.As("site_admin").Get("/me/approvals").Fails(403, "svc_forbidden").Text("data.reason"))
}

func TestACallEndsInOneWayWhateverComesBetween(t *testing.T) {
	t.Parallel()
	h := start(t)
	asking, ann := h.keyed(h.Asking(op.ApprovalWrites, "site_admin")), h.keyed(h.AsSession("site_admin"))
	settled := answers(200, object{"status": 200, "answer": object{"id": 7}})

	t.Run("an answer that was lost comes again", func(t *testing.T) {
		path := h.ask(asking, nil)
		h.gateway = answers(503, object{"code": "svc_unavailable", "message": "as the gateway says of a service that died", "data": object{"status": 503}})
		ann.Post(path+"/approve", hash("h1")).Fails(503, "svc_unavailable")
		ann.Post(path+"/refuse", nil).Fails(409, "svc_invalid_status")
		h.gateway = settled
		require.NoError(t, h.room.resume(t.Context()))
		require.Equal(t, "waiting", ann.Get(path).Field("state"), "who approved it may still wait for it")
		h.Travel(time.Minute)
		ann.Post(path+"/refuse", nil).Fails(409, "svc_invalid_status")
		require.NoError(t, h.room.resume(t.Context()))
		require.Equal(t, []any{"approved", float64(ann.UserID)}, []any{ann.Get(path).Field("state"), ann.Get(path).Field("decided_by.user_id")})
	})
	t.Run("a call that was made is not said to have failed, whatever has ended since", func(t *testing.T) {
		gone := h.keyed(h.Asking(op.ApprovalWrites, "site_admin"))
		path := h.ask(gone, nil)
		h.gateway = answers(504, object{"code": "svc_unavailable", "message": "x", "data": object{"status": 504}})
		ann.Post(path+"/approve", hash("h1")).Fails(503, "svc_unavailable")
		_, err := h.Kit.DB.Pool.Exec(t.Context(), `delete from application_password where id = $1`, apptest.KeyOf(gone.UserID))
		require.NoError(t, err)
		h.gateway = answers(404, object{"code": "svc_no_route", "message": "its app is off", "data": object{"status": 404}})
		h.Travel(time.Minute)
		require.NoError(t, h.room.resume(t.Context()))
		require.Equal(t, "waiting", ann.Get(path).Field("state"))
		h.gateway = func(w http.ResponseWriter, r *http.Request) {
			if call, ok := h.Kit.Auth.Approved(r.Header); !ok || call.GetCredential() != nil {
				w.WriteHeader(http.StatusTeapot)
			}
			settled(w, r)
		}
		h.Travel(time.Minute)
		require.NoError(t, h.room.resume(t.Context()))
		require.Equal(t, []any{"approved", 200.0, object{"id": 7.0}}, became(ann.Get(path)))
	})
	t.Run("a call over which its service died may have been made", func(t *testing.T) {
		path := h.ask(asking, nil)
		h.gateway = answers(409, object{"code": "svc_conflict", "message": "x", "data": object{"status": 409, "reason": "lost"}})
		require.Equal(t, []any{"failed", nil, nil}, became(ann.Post(path+"/approve", hash("h1")).Is(200)))
	})
	t.Run("a call that cannot be made now waits on", func(t *testing.T) {
		path := h.ask(asking, nil)
		h.gateway = answers(429, object{"code": "svc_rate_limited", "message": "x", "data": object{"status": 429}})
		ann.Post(path+"/approve", hash("h1")).Fails(503, "svc_unavailable")
		h.gateway = answers(404, object{"code": "svc_no_route", "message": "its app is off", "data": object{"status": 404}})
		ann.Post(path+"/approve", hash("h1")).Fails(503, "svc_unavailable")
		require.Equal(t, []any{"waiting", nil}, []any{ann.Get(path).Field("state"), ann.Get(path).Value("decided_by")})
		h.gateway = answers(404, object{"code": "svc_not_found", "message": "x", "data": object{"status": 404}})
		failed := ann.Post(path+"/approve", hash("h1")).Is(200)
		require.Equal(t, []any{"failed", 404.0, "svc_not_found"}, []any{failed.Field("state"), failed.Field("status"), failed.Field("answer.code")}, "a refusal ends it")
	})
	t.Run("a credential that is gone calls nothing", func(t *testing.T) {
		gone := h.keyed(h.Asking(op.ApprovalWrites, "site_admin"))
		path, made := h.ask(gone, nil), h.made.Load()
		_, err := h.Kit.DB.Pool.Exec(t.Context(), `delete from application_password where id = $1`, apptest.KeyOf(gone.UserID))
		require.NoError(t, err)
		require.Equal(t, []any{"failed", 401.0}, became(ann.Post(path+"/approve", hash("h1")).Is(200))[:2])
		require.Equal(t, made, h.made.Load())
	})
	t.Run("what names somebody who is erased is forgotten", func(*testing.T) {
		path := h.ask(asking, nil)
		h.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: &proto.ForgetPerson{Called: [][]byte{h.Kit.Keys.Person("ann@example.com")}}})
		h.Settle()
		ann.Get(path).Fails(404, "svc_not_found")
	})
	t.Run("nobody decides in 72 hours", func(t *testing.T) {
		path := h.ask(asking, func(a *proto.AskApproval) { a.Input, a.Effects, a.Hash = []byte(`{}`), nil, "" })
		h.Travel(op.ApprovalLasts)
		h.keyed(h.AsSession("site_admin")).Post(path+"/approve", nil).Fails(409, "svc_invalid_status")
		require.NoError(t, h.room.end(t.Context()))
		var call []byte
		require.NoError(t, h.Kit.DB.Pool.QueryRow(t.Context(), `select call from approval where id = $1 and state = 'expired'`, path[len("/approvals/"):]).Scan(&call))
		require.Nil(t, call)
		h.Travel(kept + time.Minute)
		require.NoError(t, h.room.end(t.Context()))
		var left int
		require.NoError(t, h.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from approval where id = $1`, path[len("/approvals/"):]).Scan(&left))
		require.Zero(t, left)
	})
}
