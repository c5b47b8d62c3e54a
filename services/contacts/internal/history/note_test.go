package history_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

// bodies are the notes of a timeline in its order, read page by page.
func bodies(t *testing.T, c *apptest.Client, path string) (all []string) {
	t.Helper()
	cursor := ""
	for {
		page := c.Get(path + "?type=note&per_page=2" + cursor).Is(200)
		for _, e := range page.Items() {
			all = append(all, e["body"].(string))
		}
		if page.Field("next_cursor") == nil {
			require.EqualValues(t, len(all), page.Field("total"))
			return all
		}
		cursor = "&cursor=" + page.Text("next_cursor")
	}
}

func TestANoteIsChangedPinnedAndDeletedByItsAuthorAndByWhoManages(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	for name, path := range map[string]string{
		"of a contact":       "/contacts/" + own.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id"),
		"of an organization": "/organizations/" + admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id"),
	} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			for _, body := range []string{"first", "second", "third", "fourth"} {
				made := own.Post(path+"/notes", object{"body": body}).Is(201)
				require.Nil(t, made.Field("edited_at"))
				notes = append(notes, path+"/notes/"+made.Text("id"))
				s.Travel(time.Second)
			}
			require.Equal(t, []string{"fourth", "third", "second", "first"}, bodies(t, own, path+"/activities"))
			require.Nil(t, own.Patch(notes[0], object{"pinned": true}).Is(200).Field("edited_at"), "pinning edits no text")
			own.Patch(notes[2], object{"pinned": true}).Is(200)
			require.Equal(t, []string{"third", "first", "fourth", "second"}, bodies(t, own, path+"/activities"))

			edited := own.Patch(notes[1], object{"body": "second, and more"}).Is(200)
			require.NotNil(t, edited.Field("edited_at"))
			own.With("If-Match", `"1"`).Patch(notes[1], object{"body": "late"}).Fails(412, "svc_version_mismatch")
			own.With("If-Match", edited.Header.Get("ETag")).Patch(notes[1], object{"body": "third thought"}).Is(200)
			own.Patch(notes[1], object{"body": " "}).Fails(400, "svc_invalid_param")

			theirs := path + "/notes/" + admin.Post(path+"/notes", object{"body": "of the boss"}).Is(201).Text("id")
			require.Equal(t, "author", own.Patch(theirs, object{"pinned": true}).Fails(403, "svc_forbidden").Text("data.reason"))
			require.Equal(t, "author", own.Delete(theirs, nil).Fails(403, "svc_forbidden").Text("data.reason"))
			admin.Delete(theirs, nil).Is(204)
			admin.Patch(notes[1], object{"pinned": true}).Is(200)
			admin.Delete(notes[1], nil).Is(204)
			own.Delete(notes[0], nil).Is(204)
			own.Delete(notes[0], nil).Fails(404, "svc_not_found")
			own.Patch(path+"/notes/"+uuid.NewString(), object{"pinned": true}).Fails(404, "svc_not_found")
			require.Equal(t, []string{"third", "fourth"}, bodies(t, own, path+"/activities"))

			admin.Delete(path, nil).Is(204)
			admin.Patch(notes[2], object{"pinned": false}).Fails(409, "svc_invalid_status")
			admin.Delete(notes[2], nil).Fails(409, "svc_invalid_status")
			admin.Post(path+"/notes", object{"body": "late"}).Fails(409, "svc_invalid_status")
		})
	}
}

func TestATimelineIsNarrowedDownByTypeAndAnOrganizationPinsItsOwnNotesOnly(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	contact := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	company := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	admin.Put("/organizations/"+company+"/contacts/"+contact, nil).Is(204)
	note := admin.Post("/contacts/"+contact+"/notes", object{"body": "hers"}).Is(201).Text("id")
	admin.Patch("/contacts/"+contact+"/notes/"+note, object{"pinned": true}).Is(200)
	visit := contactstest.Appointment(s, proto.KindAppointmentBooked, 1, contact, "confirmed", s.Now().UTC().Truncate(time.Second))
	s.Settle()
	s.Travel(time.Second)
	admin.Post("/organizations/"+company+"/notes", object{"body": "its own"}).Is(201)
	types := func(path, query string) (all []any) {
		for _, e := range admin.Get(path + "/activities?" + query).Is(200).Items() {
			all = append(all, e["type"])
		}
		return all
	}
	of := "/contacts/" + contact
	require.Equal(t, []any{"note"}, types(of, "type=note"))
	require.Equal(t, []any{"created"}, types(of, "type=change"))
	require.Equal(t, []any{"appointment"}, types(of, "type=booking"))
	require.Equal(t, []any{"appointment"}, types(of, "appointment="+visit))
	require.Empty(t, types(of, "appointment="+visit+"&type=note"))
	require.Empty(t, types(of, "appointment="+contact))
	require.Equal(t, []any{"note", "linked"}, types(of, "type=note&type=link"))
	for _, none := range []string{"submission", "task", "consent", "mail"} {
		require.Empty(t, types(of, "type="+none), none)
	}
	admin.Get(of+"/activities?type=gossip").Fails(400, "svc_invalid_param")
	require.Equal(t, []string{"its own", "hers"}, bodies(t, admin, "/organizations/"+company+"/activities"), "a person's pinned note stands by its time")
	first := admin.Get("/organizations/" + company + "/activities?type=note").Is(200).Items()
	require.Equal(t, []any{false, false}, []any{first[0]["pinned"], first[1]["pinned"]})
}
