package app_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

func TestACallThatHasToAskIsCheckedAndWaits(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	admin, asking := s.As("site_admin"), s.Asking(op.ApprovalWrites, "site_admin")
	asked := asking.Post("/notes", `{"text":"a note"}`).Fails(202, "svc_approval_needed")
	require.Equal(t, "/v1/approvals/"+asked.Text("data.approval.id"), asked.Header.Get("Location"))
	require.Equal(t, []any{"create-note", "waiting", "create-note", "a note"},
		[]any{asked.Field("data.approval.operation"), asked.Field("data.approval.state"), asked.Field("data.approval.effects.audit.action"), asked.Field("data.approval.input.text")})
	require.NotEmpty(t, asked.Text("data.approval.hash"))

	asking.Post("/notes", `{"text":"private"}`).Fails(403, "svc_forbidden")
	asking.Post("/notes", `{}`).Fails(400, "svc_invalid_param")
	asking.With("Prefer", "dry-run").Post("/notes", `{"text":"a note"}`).Is(200)
	require.Empty(t, asking.Get("/notes").Is(200).Items(), "nothing of it has happened")

	keyed := asking.With("Idempotency-Key", "once")
	first, second := keyed.Post("/notes", `{"text":"once"}`).Is(202), keyed.Post("/notes", `{"text":"once"}`).Is(202)
	require.Equal(t, first.Text("data.approval.id"), second.Text("data.approval.id"))
	require.Equal(t, first.Header.Get("Location"), second.Header.Get("Location"))
	keyed.Post("/notes", `{"text":"another"}`).Fails(409, "svc_idempotency_conflict")

	large := asking.Post("/notes", `{"text":"a note"`+strings.Repeat(" ", 600<<10)+`}`).Fails(413, "svc_too_large")
	require.Equal(t, []any{"approval", 524288.0}, []any{large.Field("data.reason"), large.Field("data.max")})

	id := admin.Post("/notes", `{"text":"there"}`).Is(201).Text("id")
	require.Nil(t, asking.Post("/notes/"+id+"/send", nil).Fails(202, "svc_approval_needed").Value("data.approval.effects"), "it talks to the network")
	s.Asking(op.ApprovalDestructive, "site_admin").Patch("/notes/"+id, `{"text":"changed"}`).Is(200)
	s.Asking(op.ApprovalDestructive, "site_admin").Call("DELETE /abilities/svc/delete-note/run", `{"input":{"id":"`+id+`"}}`).Is(202)
	admin.Get("/notes/" + id).Is(200)

	s.Settle()
	kinds := map[string]int{}
	for _, e := range s.Events(proto.SettingsCommandTopic) {
		kinds[e.GetKind()]++
	}
	require.Equal(t, 4, kinds[proto.KindAskApproval], "a command for each call that waits")
}

func TestAnApprovedCallIsMadeOnceAndAForgedOneNever(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	admin, asking, editor := s.As("site_admin"), s.Asking(op.ApprovalWrites, "site_admin"), s.As("staff")
	body := `{"text":"approved"}`
	hash := sha256.Sum256([]byte(body))
	call := func() *proto.ApprovedCall {
		return &proto.ApprovedCall{ApprovalId: uuid.NewString(), ApprovedBy: admin.UserID, Address: "192.0.2.7", Operation: "create-note", Method: "POST", Target: "/v1/notes", BodyHash: hash[:],
			Credential: &proto.ApplicationPassword{Id: "k", UserId: asking.UserID, Name: "website"}}
	}
	signed := func(by string, c *proto.ApprovedCall) *apptest.Client {
		signer, h := auth.New(s.Kit.Identity), http.Header{}
		signer.Now, signer.Trust = s.Now, apptest.Trust(by)
		require.NoError(t, signer.SignApproved(h, c))
		client := s.Visitor()
		for name := range h {
			client = client.With(name, h.Get(name))
		}
		return client
	}
	of := func(change func(*proto.ApprovedCall)) *proto.ApprovedCall {
		c := call()
		change(c)
		return c
	}
	for name, thief := range map[string]*apptest.Client{
		"signed by another service": signed("booking", call()),
		"another operation":         signed("settings", of(func(c *proto.ApprovedCall) { c.Operation = "update-note" })),
		"another path":              signed("settings", of(func(c *proto.ApprovedCall) { c.Target = "/v1/notes/leave" })),
		"another body":              signed("settings", of(func(c *proto.ApprovedCall) { c.BodyHash = []byte("x") })),
		"no signature":              s.Visitor().With("X-Frontdesk-Approved", "x y"),
	} {
		require.Equal(t, 401, thief.Post("/notes", body).Status, name)
	}
	require.Equal(t, 401, signed("settings", of(func(c *proto.ApprovedCall) { c.Credential.UserId = 7 })).Post("/notes", body).Status, "a user who is gone")
	require.Equal(t, 401, signed("settings", of(func(c *proto.ApprovedCall) { c.Credential.ExpiresAt = timestamppb.New(s.Now().Add(-time.Second)) })).Post("/notes", body).Status, "a credential whose time is over")
	old := signed("settings", call())
	s.Travel(3 * time.Minute)
	require.Equal(t, 401, old.Post("/notes", body).Status, "a stolen one, later")
	editor.With("X-Frontdesk-Approved", "x y").Get("/notes").Is(200) // as if it were not there

	good := call()
	client := signed("settings", good)
	var both sync.WaitGroup
	answers := make([]*apptest.Answer, 2)
	for i := range answers {
		both.Go(func() { answers[i] = client.Raw("POST /notes", body) })
	}
	both.Wait()
	for _, a := range answers {
		require.Equal(t, 200, a.Status, a.Body)
		require.Equal(t, []any{201.0, "approved"}, []any{a.Field("status"), a.Field("answer.text")})
	}
	require.Equal(t, answers[0].Text("answer.id"), answers[1].Text("answer.id"), "a replay gets the answer of the first")
	require.Equal(t, 401, client.Post("/notes", `{"text":"another"}`).Status)
	require.Len(t, admin.Get("/notes").Is(200).Items(), 1)
	require.Equal(t, 401, client.Get("/notes").Status)

	made := func(why string, c *proto.ApprovedCall) {
		t.Helper()
		c.ApprovalId = good.GetApprovalId()
		a := signed("settings", c).Raw("POST /notes", body)
		require.Equal(t, 200, a.Status, "the call was made before %s: %s", why, a.Body)
		require.Equal(t, []any{201.0, answers[0].Text("answer.id")}, []any{a.Field("status"), a.Field("answer.id")})
	}
	made("the credential was deleted", of(func(c *proto.ApprovedCall) { c.Credential = nil }))
	made("its time was over", of(func(c *proto.ApprovedCall) { c.Credential.ExpiresAt = timestamppb.New(s.Now().Add(-time.Second)) }))
	s.SetRoles(asking, "nobody")
	s.Eventually(func() bool { return len(s.Kit.Identity.Rights(asking.UserID)) == 0 })
	made("who asked has lost the right", call())
	require.Contains(t, []int{401, 403}, signed("settings", call()).Post("/notes", body).Status, "who asked has lost the right since")
	s.SetRoles(asking, "site_admin")
	s.Eventually(func() bool { return len(s.Kit.Identity.Rights(asking.UserID)) > 0 })

	ability := `{"input":{"text":"by ability"}}`
	abilityHash := sha256.Sum256([]byte(ability))
	run := of(func(c *proto.ApprovedCall) {
		c.Target, c.BodyHash = "/v1/abilities/svc/create-note/run", abilityHash[:]
	})
	require.Equal(t, 201.0, signed("settings", run).Raw("POST /abilities/svc/create-note/run", ability).Is(200).Field("status"))
	require.Equal(t, 201.0, signed("settings", run).Raw("POST /abilities/svc/create-note/run", ability).Is(200).Field("status"))
	credential := run.GetCredential()
	run.Credential = nil
	require.Equal(t, 201.0, signed("settings", run).Raw("POST /abilities/svc/create-note/run", ability).Is(200).Field("status"), "the credential was deleted since")
	run.Credential = credential
	require.Len(t, admin.Get("/notes").Is(200).Items(), 2)

	s.Settle()
	by := map[string]int64{}
	for _, e := range s.Events(proto.AuditTopic) {
		var a proto.Audit
		if e.GetKind() != proto.KindAudit {
			continue
		}
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &a))
		if a.GetApprovalId() != "" && a.GetOutcome() == "done" {
			by[a.GetApprovalId()] = a.GetApprovedBy()
			require.Equal(t, []any{asking.UserID, "website", "192.0.2.7"}, []any{e.GetActor().GetUserId(), e.GetActor().GetLabel(), a.GetAddress()})
		}
	}
	require.Equal(t, map[string]int64{good.GetApprovalId(): admin.UserID, run.GetApprovalId(): admin.UserID}, by)
	var kept int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from idempotency where caller like $1`, auth.KeyKey("")+"%").Scan(&kept))
	require.Zero(t, kept, "no key of a caller is among them")
}
