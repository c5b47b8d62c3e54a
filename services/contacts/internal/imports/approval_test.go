package imports

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestAnImportIsRehearsedAndMadeOnceAPersonHasApproved(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, asking := s.As("svc_admin"), s.Asking(op.ApprovalWrites, "svc_admin")
	file := `{"file_name":"x.csv","csv":"first name,email\nAnn,ann@example.com\n"}`
	// approved is the call that settings makes, with the effects that a person has seen.
	approved := func(operation, path, body, hash string) *apptest.Answer {
		sum, h := sha256.Sum256([]byte(body)), http.Header{}
		signer := auth.New(s.Kit.Identity)
		signer.Now, signer.Trust = s.Now, apptest.Trust("settings")
		require.NoError(t, signer.SignApproved(h, &proto.ApprovedCall{ApprovalId: uuid.NewString(), ApprovedBy: admin.UserID, Operation: operation, Method: "POST", Target: "/v1" + path, BodyHash: sum[:],
			Credential: &proto.ApplicationPassword{Id: apptest.KeyOf(asking.UserID), UserId: asking.UserID, Name: "website"}}))
		client := s.Visitor().With("If-Effects", fmt.Sprintf("%q", hash))
		for name := range h {
			client = client.With(name, h.Get(name))
		}
		return client.Raw("POST "+path, body)
	}

	dry := asking.With("Prefer", "dry-run")
	require.Equal(t, []any{201.0, "create-import"}, func(a *apptest.Answer) []any { return []any{a.Field("status"), a.Field("effects.audit.action")} }(dry.Post("/imports", file).Is(200)))
	dry.With("Content-Type", "multipart/form-data; boundary=x").Post("/imports", file).Fails(415, "svc_unsupported_media_type")
	upload := asking.Post("/imports", file).Fails(202, "svc_approval_needed").Text("data.approval.hash")
	require.Empty(t, admin.Get("/imports").Is(200).Items(), "nothing has happened")
	made := approved("create-import", "/imports", file, upload)
	require.Equal(t, []any{200, 201.0}, []any{made.Status, made.Field("status")}, made.Body)

	path := "/imports/" + made.Text("answer.id") + "/start"
	require.Equal(t, 200.0, dry.Post(path, `{}`).Is(200).Field("status"))
	hash := asking.Post(path, `{}`).Fails(202, "svc_approval_needed").Text("data.approval.hash")
	require.Equal(t, importUploaded, asking.Get("/imports/"+made.Text("answer.id")).Is(200).Text("status"))
	begun := approved("start-import", path, `{}`, hash)
	require.Equal(t, []any{200, 200.0}, []any{begun.Status, begun.Field("status")}, begun.Body)
	require.EqualValues(t, 1, contactstest.Finished(s, asking, made.Text("answer.id")).Field("totals.created"))
}
