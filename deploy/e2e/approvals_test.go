package e2e

import (
	"testing"

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
	made := owner.Post(t, "/me/application-passwords", map[string]any{"name": "website", "approval": "writes"}).Is(201)
	key := visitor.As(login, made.Text("password"))
	system.Eventually(t, func() bool { return key.Get(t, "/contacts").Status == 200 }, "the key does not arrive")

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
