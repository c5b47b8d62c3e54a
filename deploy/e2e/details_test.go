package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// asksDetails publishes a form with a consent and a question called location, and lets the desk's service ask it.
func asksDetails(t *testing.T, d system.Desk, newContacts map[string]any) {
	t.Helper()
	elements := []any{
		map[string]any{"id": "first", "type": "field", "target": "contact.first_name", "label": "First name"},
		map[string]any{"id": "mail", "type": "field", "target": "contact.email", "label": "Email", "required": true},
		map[string]any{"id": "location", "type": "field", "target": "submission.fields.location", "label": "Where did you hear of us?", "required": true},
		map[string]any{"id": "ok", "type": "consent", "text": "You may keep what I say.", "purpose": "privacy", "required": true},
	}
	for i := range 14 {
		elements = append(elements, map[string]any{"id": fmt.Sprint("q", i), "type": "field", "target": fmt.Sprint("submission.fields.q", i)})
	}
	form := d.Admin.Post(t, "/forms", map[string]any{"name": system.Address("Intake"), "status": "publish",
		"definition": map[string]any{"elements": elements, "new_contacts": newContacts}}).Is(201).Field("id")
	system.Eventually(t, func() bool {
		return d.Admin.Call(t, "PATCH", "/services/"+d.Service, map[string]any{"form_id": form}).Status == 200
	}, "booking does not know the form")
	system.Eventually(t, func() bool {
		for _, s := range visitor.Get(t, "/booking/services").Is(200).Items() {
			if s["id"] == d.Service && s["form"] != nil {
				return true
			}
		}
		return false
	}, "booking does not ask the form")
}

// withDetails is the body of a booking with answers to the form of asksDetails.
func withDetails(d system.Desk, start, token, email string) (body, values map[string]any) {
	values = map[string]any{"first": "Ada", "mail": email, "location": "In the paper", "ok": true}
	body = d.Booking(start, token, email)
	body["values"] = values
	return body, values
}

func TestABookingWithADetailsFormAsksForItsContactOnce(t *testing.T) {
	t.Parallel()
	d := sys.SetUp(t)
	asksDetails(t, d, map[string]any{"create": true, "status": "customer", "source": "Intake talk", "owner_user_id": d.User, "tags": []string{"intake"}})
	starts, token := d.Slots(t)
	system.Wait()
	email := system.Address("details")
	body, values := withDetails(d, starts[len(starts)-3], token, email) // other tests book the first ones

	for i := range 14 {
		values[fmt.Sprint("q", i)] = strings.Repeat("x", 9_900)
	}
	visitor.Post(t, "/booking/book", body).Fails(413, "svc_too_large")
	for i := range 14 {
		delete(values, fmt.Sprint("q", i))
	}
	visitor.Post(t, "/booking/book", body).Is(201)

	var contact map[string]any
	system.Eventually(t, func() bool {
		found := d.Admin.Get(t, "/contacts?search="+email).Is(200).Items()
		if len(found) == 1 {
			contact = found[0]
		}
		return len(found) == 1
	}, "no contact")
	id := contact["id"].(string)
	require.Equal(t, []any{"customer", "Intake talk", float64(d.User), []any{"intake"}},
		[]any{contact["status"], contact["source"], contact["owner_user_id"], contact["tags"]})
	var appointment map[string]any
	system.Eventually(t, func() bool {
		found := d.Admin.Get(t, "/appointments?contact="+id).Is(200).Items()
		if len(found) == 1 {
			appointment = found[0]
		}
		return len(found) == 1
	}, "the appointment is not the contact's")
	require.Equal(t, "Main street 1", appointment["location"])
	submission := appointment["submission"].(map[string]any)["id"].(string)
	system.Eventually(t, func() bool {
		return d.Admin.Get(t, "/submissions/"+submission).Is(200).Text("result.contact") == "created"
	}, "the submission made no contact")
	require.Equal(t, "In the paper", d.Admin.Get(t, "/submissions/"+submission).Text("values.location"))
	consents := d.Admin.Get(t, "/contacts/"+id+"/consents").Is(200).Items()
	require.Len(t, consents, 1)
	require.Equal(t, "You may keep what I say.", consents[0]["text"])
}

func TestADetailsFormThatMakesNoContactsMakesNone(t *testing.T) {
	t.Parallel()
	d := sys.SetUp(t)
	asksDetails(t, d, map[string]any{"create": false})
	starts, token := d.Slots(t)
	system.Wait()
	email := system.Address("stranger")
	body, _ := withDetails(d, starts[len(starts)-6], token, email)
	visitor.Post(t, "/booking/book", body).Is(201)
	system.Eventually(t, func() bool {
		for _, s := range d.Admin.Get(t, "/submissions?per_page=100").Is(200).Items() {
			if v, _ := s["values"].(map[string]any); v["mail"] == email {
				return s["result"].(map[string]any)["contact"] == "none"
			}
		}
		return false
	}, "the submission is not complete")
	require.Empty(t, d.Admin.Get(t, "/contacts?search="+email).Is(200).Items())
}
