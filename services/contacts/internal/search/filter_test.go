package search_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/person"
)

// model is a contact as the test knows it, to say what a filter should find.
type model struct {
	id, text, status, source, tag string
	owner                         int64
	organization                  string
	appointments                  []time.Time // not cancelled
	created                       time.Time
	trashed                       bool
}

func TestFiltersFindWhatTheyShouldAloneAndTogether(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	now := s.Now().UTC().Truncate(time.Second)
	o := admin.Post("/organizations", object{"name": "O"}).Is(201).Text("id")
	words := []string{"Zoë", "Müller", "Jan", "Anna", "Peeters"}
	var all []model
	for i := range 40 {
		m := model{text: words[i%5] + " " + words[i*3%4], status: contact.Statuses[i%3], source: []string{"web", "fair", ""}[i*7%3], tag: []string{"VIP", "Été", ""}[i*5%3]}
		body := object{"first_name": words[i%5], "last_name": words[i*3%4], "status": m.status, "source": m.source}
		if m.tag != "" {
			body["tags"] = []string{m.tag}
		}
		by := admin
		if i%4 == 0 {
			by, m.owner = own, own.UserID
		}
		m.id = by.Post("/contacts", body).Is(201).Text("id")
		m.created = now.Add(time.Duration(i-20) * time.Hour)
		if i%6 == 0 {
			m.organization = o
			admin.Put("/organizations/"+o+"/contacts/"+m.id, nil).Is(204)
		}
		if i%3 == 0 {
			at := now.Add(time.Duration(i) * time.Hour)
			contactstest.Appointment(s, proto.KindAppointmentBooked, 1, m.id, "confirmed", at)
			m.appointments = append(m.appointments, at)
		}
		if i%5 == 0 {
			contactstest.Appointment(s, proto.KindAppointmentCancelled, 1, m.id, "cancelled", now.Add(48*time.Hour))
		}
		if m.trashed = i%9 == 0; m.trashed {
			admin.Delete("/contacts/"+m.id, nil).Is(204)
		}
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `update contact set created_at = $2 where id = $1`, m.id, m.created)
		require.NoError(t, err)
		all = append(all, m)
	}
	s.Settle()
	slices.SortFunc(all, func(a, b model) int { return cmp.Or(b.created.Compare(a.created), strings.Compare(b.id, a.id)) })

	rapid.Check(t, func(r *rapid.T) {
		q := url.Values{}
		var tests []func(model) bool
		// Each condition is there in one case of three.
		maybe := func(name string, values []string, holds func(m model, v string) bool) {
			if v := rapid.SampledFrom(append([]string{"", ""}, values...)).Draw(r, name); v != "" {
				q.Set(name, v)
				tests = append(tests, func(m model) bool { return holds(m, v) })
			}
		}
		at := func(v string) time.Time { x, _ := time.Parse(time.RFC3339, v); return x }
		hours := []string{now.Add(-10 * time.Hour).Format(time.RFC3339), now.Add(12 * time.Hour).Format(time.RFC3339), now.Add(24 * time.Hour).Format(time.RFC3339)}
		maybe("search", []string{"zoe", "MÜLLER", "an", "peeters"}, func(m model, v string) bool { return strings.Contains(fold(m.text), fold(v)) })
		maybe("status", []string{"lead", "customer"}, func(m model, v string) bool { return m.status == v })
		maybe("marketing", []string{"none", "subscribed"}, func(_ model, v string) bool { return v == "none" })
		maybe("source", []string{"web", "fair"}, func(m model, v string) bool { return m.source == v })
		maybe("tag", []string{"vip", "Été"}, func(m model, v string) bool { return m.tag != "" && person.Slug(m.tag) == person.Slug(v) })
		maybe("owner", []string{fmt.Sprint(own.UserID)}, func(m model, _ string) bool { return m.owner == own.UserID })
		maybe("organization", []string{o, uuid.NewString()}, func(m model, v string) bool { return m.organization == v })
		maybe("created_since", hours, func(m model, v string) bool { return !m.created.Before(at(v)) })
		maybe("no_appointment_since", hours, func(m model, v string) bool {
			return !slices.ContainsFunc(m.appointments, func(x time.Time) bool { return !x.Before(at(v)) })
		})
		from, to := time.Time{}, now.Add(1000*time.Hour)
		maybe("appointment_from", hours, func(model, string) bool { return true })
		maybe("appointment_to", hours, func(model, string) bool { return true })
		if v := q.Get("appointment_from"); v != "" {
			from = at(v)
		}
		if v := q.Get("appointment_to"); v != "" {
			to = at(v)
		}
		if q.Has("appointment_from") || q.Has("appointment_to") {
			tests = append(tests, func(m model) bool {
				return slices.ContainsFunc(m.appointments, func(x time.Time) bool { return !x.Before(from) && !x.After(to) })
			})
		}
		trash := rapid.SampledFrom([]string{"", "include_deleted", "deleted"}).Draw(r, "trash")
		if trash != "" {
			q.Set(trash, "true")
		}
		listed := func(m model) bool { return trash == "include_deleted" || m.trashed == (trash == "deleted") }
		by := rapid.SampledFrom([]*apptest.Client{admin, own}).Draw(r, "caller")
		want := []string{}
		for _, m := range all {
			if listed(m) && (by == admin || m.owner == own.UserID) && !slices.ContainsFunc(tests, func(f func(model) bool) bool { return !f(m) }) {
				want = append(want, m.id)
			}
		}
		q.Set("per_page", rapid.SampledFrom([]string{"3", "7", "100"}).Draw(r, "per_page"))
		got := []string{}
		for {
			page := by.Get("/contacts?" + q.Encode()).Is(200)
			require.EqualValues(r, len(want), page.Field("total"), q.Encode())
			for _, c := range page.Items() {
				got = append(got, c["id"].(string))
			}
			if page.Field("next_cursor") == nil {
				break
			}
			q.Set("cursor", page.Text("next_cursor"))
		}
		require.Equal(r, want, got, q.Encode())
	})
}

// fold is what the database does to text before it searches, for the letters of this test.
func fold(s string) string {
	return strings.NewReplacer("ë", "e", "ü", "u").Replace(strings.ToLower(s))
}
