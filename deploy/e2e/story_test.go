package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

//e2e:broker
func TestABookingAndAFormTravelThroughTheWholeSystem(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	starts, token := d.Slots(t)
	formToken := d.FormToken(t)
	system.Wait()
	booker, writer := system.Address("ada"), system.Address("grace")

	booked := visitor.Post(t, "/booking/book", d.Booking(starts[3], token, booker)).Is(201)
	require.Equal(t, "confirmed", booked.Text("status"))
	require.Equal(t, starts[3], booked.Text("starts_at"))
	require.NotContains(t, booked.Body, "token")
	visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission(formToken, writer)).Is(200)

	t.Run("two contacts exist, with timelines that name channel and actor", func(t *testing.T) {
		for email, want := range map[string]string{booker: "booking", writer: "form"} {
			var found []map[string]any
			system.Eventually(t, func() bool { found = d.Admin.Get(t, "/contacts?search="+email).Is(200).Items(); return len(found) == 1 }, "no contact "+email)
			id := found[0]["id"].(string)
			var entries []map[string]any
			system.Eventually(t, func() bool {
				entries = d.Admin.Get(t, "/contacts/"+id+"/activities").Is(200).Items()
				return len(entries) > 0 && (want == "form" || len(entries) > 1)
			}, "no timeline")
			for _, e := range entries {
				require.Equal(t, want, e["channel"], e)
				require.NotEmpty(t, e["actor_label"], e)
			}
		}
	})

	t.Run("the mailed link moves and then cancels, and an old link is refused", func(t *testing.T) {
		first := sys.ManageToken(t, booker, 1)
		newest := sys.Mails(t, booker)[0]
		require.True(t, slices.ContainsFunc(newest.Attachments, func(a system.Attachment) bool { return strings.HasPrefix(a.ContentType, "text/calendar") }), "no calendar file: %v", newest.Attachments)
		require.Equal(t, starts[3], visitor.Post(t, "/booking/manage", map[string]string{"token": first}).Is(200).Text("starts_at"))
		moved := visitor.Post(t, "/booking/manage/reschedule", map[string]string{"token": first, "starts_at": starts[7]}).Is(200)
		require.Equal(t, starts[7], moved.Text("starts_at"))
		visitor.Post(t, "/booking/manage", map[string]string{"token": first}).Fails(410, "svc_token_expired")
		second := sys.ManageToken(t, booker, 2)
		require.NotEqual(t, first, second)
		require.Equal(t, "cancelled", visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": second, "reason": "ill"}).Is(200).Text("status"))
		visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": uuid.NewString()}).Fails(400, "svc_invalid_token")
	})

	// The receiver has the events of the tests beside this one too, whose records may be gone again.
	ours := func(e system.Received) bool {
		said, err := json.Marshal(e.Data)
		require.NoError(t, err)
		return slices.ContainsFunc([]string{booker, writer, d.Service}, func(s string) bool { return strings.Contains(string(said), s) })
	}
	t.Run("the receiver has each event once, signed", func(t *testing.T) {
		want := map[string]int{"contact.created": 2, "appointment.booked": 1, "appointment.rescheduled": 1, "appointment.cancelled": 1, "form.submitted": 1}
		system.Eventually(t, func() bool {
			got := d.Hook.Events(ours)
			for event, n := range want {
				if len(got[event]) < n {
					return false
				}
			}
			return true
		}, "not all webhooks came")
		for event, ids := range d.Hook.Events(ours) {
			require.Len(t, ids, want[event], event)
			for id, n := range ids {
				require.Equal(t, 1, n, "%s %s", event, id)
			}
		}
		d.Hook.NoneRefused(t)
	})

	t.Run("what the receiver gets has the shape of the API's own answer", func(t *testing.T) {
		paths := map[string]string{"contact": "/contacts/", "appointment": "/appointments/", "submission": "/submissions/"}
		compared := map[string]bool{}
		for _, e := range d.Hook.All() {
			if !ours(e) {
				continue
			}
			for record, path := range paths {
				sent, ok := e.Data[record].(map[string]any)
				if !ok {
					continue
				}
				var shown map[string]any
				require.NoError(t, json.Unmarshal([]byte(d.Admin.Get(t, path+sent["id"].(string)).Is(200).Body), &shown))
				require.ElementsMatch(t, slices.Collect(maps.Keys(shown)), slices.Collect(maps.Keys(sent)), e.Event)
				require.Equal(t, shown["id"], sent["id"])
				require.Equal(t, shown["created_at"], sent["created_at"])
				for _, inside := range []string{"notes", "meeting_url", "cancel_reason"} {
					if value, ok := sent[inside]; ok {
						require.Empty(t, value, inside)
					}
				}
				compared[record] = true
			}
		}
		require.Len(t, compared, len(paths))
	})
}

func TestOf64VisitorsOnOneSlotOneWins(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	starts, token := d.Slots(t)
	system.Wait()
	answers, failed := make([]*system.Answer, 64), make([]error, 64)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i], failed[i] = visitor.Try(t.Context(), "POST", "/booking/book", d.Booking(starts[10], token, system.Address("racer")))
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(failed...))
	won := 0
	for _, a := range answers {
		a.T = t
		if a.Status == 201 {
			won++
			continue
		}
		a.Fails(409, "svc_slot_taken")
		alternatives, _ := a.Field("data.alternatives").([]any)
		require.NotEmpty(t, alternatives, a.Body)
		for _, alt := range alternatives {
			require.NotEqual(t, starts[10], alt.(map[string]any)["starts_at"])
		}
	}
	require.Equal(t, 1, won)
}

//e2e:broker
func TestAnAppThatIsSwitchedOffIsGoneAndComesBackWithItsData(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	t.Cleanup(func() { d.Admin.Call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": true}).Is(200) })
	kept := d
	_, _, leaver := bookable(t, &d, "Leaver")
	_, _, heir := bookable(t, &kept, "Heir")
	starts, _ := d.Slots(t)
	client := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "Ada", "email": system.Address("client")}).Is(201).Text("id")
	booked := d.Admin.Post(t, "/appointments", map[string]any{"service": d.Service, "starts_at": starts[0], "contact": client}).Is(201).Text("id")
	for round := range 3 {
		d.Admin.Call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": false}).Is(200)
		for _, path := range []string{"/booking/services", "/services", "/services/" + d.Service, "/appointments", "/calendar"} {
			for _, c := range []system.Client{visitor, d.Admin} {
				c.Get(t, path).Fails(404, "svc_no_route")
			}
		}
		visitor.Post(t, "/booking/book", "{}").Fails(404, "svc_no_route")
		visitor.Get(t, "/nothing/here").Fails(404, "svc_no_route")
		d.Admin.Get(t, "/contacts").Is(200)
		d.Admin.Get(t, "/forms").Is(200)
		d.Admin.Get(t, "/staff").Is(200)
		require.NotContains(t, d.Admin.Get(t, "/openapi.json").Is(200).Body, "/booking/book")
		if round == 0 {
			d.Admin.Call(t, "DELETE", fmt.Sprintf("/staff/%d", leaver), nil).Is(400)
			d.Admin.Call(t, "DELETE", fmt.Sprintf("/staff/%d?successor=%d", leaver, heir), nil).Is(200)
		}
		d.Admin.Call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": true}).Is(200)
		d.Admin.Get(t, "/services/"+d.Service).Is(200)
	}
	require.Equal(t, float64(heir), d.Admin.Get(t, "/appointments/"+booked).Is(200).Field("staff.user_id"), "who left while the app was off has handed over")
	d.Admin.Call(t, "PATCH", "/apps/contacts", map[string]bool{"enabled": false}).Fails(409, "svc_conflict")
}

//e2e:broker
func TestARevokedKeyAndAnEndedSessionCountNowhere(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	person := sys.SignIn(t)
	key := person.Post(t, "/me/application-passwords", map[string]string{"name": "short-lived"}).Is(201)
	c := visitor.As("admin", key.Text("password")).Known(t)
	paths := []string{"/contacts", "/services", "/forms", "/webhooks", "/settings/api-access"}
	for _, p := range paths {
		c.Get(t, p).Is(200)
		person.Get(t, p).Is(200)
	}
	person.Call(t, "DELETE", "/me/application-passwords/"+key.Text("id"), nil).Is(204)
	person.Post(t, "/auth/logout", nil).Is(204)
	revoked := time.Now()
	// A call that is refused takes a while by itself: a credential that nobody knows may be on its way. What counts is when the last one was admitted.
	admitted := revoked
	for _, p := range paths {
		for name, caller := range map[string]system.Client{"the key": c, "the session": person} {
			system.Eventually(t, func() bool {
				asked := time.Now()
				if caller.Get(t, p).Status == 401 {
					return true
				}
				admitted = asked
				return false
			}, name+" counts for "+p)
			caller.Get(t, p).Fails(401, "svc_unauthorized")
		}
	}
	promised(t, admitted.Sub(revoked), "a revoked key and an ended session count nowhere")
	d.Admin.Get(t, "/contacts").Is(200)
}
