package submission

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestTheTeamMarksSpamAndTakesItBack(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.send(d.form, m{"first": "Grace", "email": "grace@example.com", "message": "Buy this"}).Is(200)
	d.contacts(nil)
	id := d.only()["id"].(string)
	path := "/submissions/" + id
	marked := d.admin.Post(path+"/spam", nil).Is(200)
	require.Equal(t, []any{"spam", "team"}, []any{marked.Field("status"), marked.Field("spam_reason")})
	require.Equal(t, "Grace", marked.Text("contact.name"), "the contact stays")
	require.Equal(t, marked.Body, d.admin.Post(path+"/spam", nil).Is(200).Body)
	cleared := d.admin.Post(path+"/not-spam", nil).Is(200)
	require.Equal(t, []any{"received", nil, "created"}, []any{cleared.Field("status"), cleared.Field("spam_reason"), cleared.Field("result.contact")})
	require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated, proto.KindSubmissionUpdated}, d.Kinds(proto.SubmissionTopic, id), "it is submitted once")
	require.Len(t, d.commands(), 1)

	d.admin.Post(path+"/spam", nil).Is(200)
	d.Travel(31 * 24 * time.Hour)
	require.NoError(t, (&Room{Kit: d.Kit}).expireSpam(t.Context()))
	d.admin.Get(path).Fails(404, "svc_not_found")
	kinds := d.Kinds(proto.SubmissionTopic, id)
	require.Equal(t, []string{proto.KindSubmissionDeleted, "tombstone"}, kinds[len(kinds)-2:], "it was published before")
}

func TestWhatTheTeamMarksBeforeContactsAnswersIsSubmittedOnceItIsTakenBack(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.send(d.form, m{"first": "Grace", "email": "grace@example.com"}).Is(200)
	id := d.only()["id"].(string)
	d.admin.Post("/submissions/"+id+"/spam", nil).Is(200)
	d.admin.Post("/submissions/"+id+"/not-spam", nil).Is(200)
	require.Empty(t, d.Kinds(proto.SubmissionTopic, id))
	d.contacts(nil)
	require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, id))
}

func TestManySubmissionsAreMarkedAndDeletedEachForItself(t *testing.T) {
	t.Parallel()
	d := open(t)
	plain := d.publish(field("message", "submission.fields.message"))
	for _, message := range []string{"one", "two"} {
		d.send(plain, m{"message": message}).Is(200)
	}
	var ids []any
	for _, s := range d.admin.Get("/submissions").Is(200).Items() {
		ids = append(ids, s["id"])
	}
	done := d.admin.Post("/submissions/bulk", m{"ids": append(ids, uuid.NewString(), ids[0]), "spam": true}).Is(200)
	require.Equal(t, []any{2.0, 0.0, "svc_not_found"}, []any{done.Field("changed"), done.Field("skipped"), done.Text("failed.0.code")})
	require.EqualValues(t, 2, d.admin.Post("/submissions/bulk", m{"ids": ids, "spam": true}).Is(200).Field("skipped"))
	require.EqualValues(t, 2, d.admin.Get("/submissions?status=spam").Is(200).Field("total"))
	require.EqualValues(t, 2, d.admin.Post("/submissions/bulk", m{"ids": ids, "spam": false}).Is(200).Field("changed"))
	d.admin.Post("/submissions/bulk", m{"ids": ids}).Fails(400, "svc_invalid_param")
	d.admin.Post("/submissions/bulk", m{"ids": ids, "spam": true, "delete": true}).Fails(400, "svc_invalid_param")
	require.EqualValues(t, 2, d.admin.Post("/submissions/bulk", m{"ids": ids, "delete": true}).Is(200).Field("changed"))
	require.EqualValues(t, 0, d.admin.Get("/submissions").Is(200).Field("total"))
}
