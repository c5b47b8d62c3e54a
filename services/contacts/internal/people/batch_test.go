package people_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

// batch sends rows and gives the answers to them.
func batch(c *apptest.Client, rows ...any) (items []object) {
	return append(items, c.Post("/contacts/batch", object{"items": rows}).Is(200).Items()...)
}

func TestEachRowOfABatchIsMadeOrRefusedByItself(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	taken := admin.Post("/contacts", object{"email": "taken@example.com"}).Is(201).Text("id")
	rows := []any{
		object{"first_name": "Zoë", "email": "zoe@example.com", "tags": []string{"Fair"}},
		object{"email": "Taken@Example.com", "tags": []string{"Never made"}},
		object{"email": "twice@example.com", "first_name": "First"},
		object{"email": "TWICE@example.com", "first_name": "Second"},
		object{"first_name": strings.Repeat("x", 101)},
		object{"source": "x"},
		object{"email": "no address"},
		object{"first_name": "A", "colour": "red", "status": "boss"},
		object{"first_name": nil, "status": nil},
		object{"first_name": "a\x00b"},
		"a text", nil, 7, []any{},
		object{"first_name": "Ann", "owner_user_id": 99999},
		object{"last_name": "No address"},
	}
	got := batch(admin, rows...)
	require.Len(t, got, len(rows))
	for i, want := range []int{201, 409, 201, 409, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 201} {
		require.EqualValues(t, i, got[i]["index"])
		require.EqualValues(t, want, got[i]["status"], got[i])
		if want == 201 {
			require.NotContains(t, got[i], "error")
			made := got[i]["contact"].(object)
			require.Equal(t, any(made), any(admin.Get("/contacts/"+made["id"].(string)).Is(200).Map()))
			require.Equal(t, []string{proto.KindContactCreated}, s.Kinds(proto.ContactTopic, made["id"].(string)))
			continue
		}
		require.NotContains(t, got[i], "contact")
		if row, ok := rows[i].(object); ok {
			// As the operation for one says it.
			alone := admin.Post("/contacts", row).Map()
			delete(alone["data"].(object), "request_id")
			require.Equal(t, any(alone), got[i]["error"], "%v", row)
		} else {
			require.Equal(t, "svc_invalid_json", got[i]["error"].(object)["code"])
		}
	}
	require.Equal(t, taken, got[1]["error"].(object)["data"].(object)["id"])
	require.Equal(t, "First", got[2]["contact"].(object)["first_name"])
	require.Equal(t, []any{object{"name": "Fair", "slug": "fair", "changing": nil, "version": 1.0}}, admin.Get("/tags").Is(200).Field("items"), "a refused row leaves no tag")

	audited := map[string]int{}
	for _, e := range s.Events(proto.AuditTopic) {
		var a proto.Audit
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &a))
		require.NotEmpty(t, a.GetRecordId())
		audited[a.GetAction()+" "+a.GetOutcome()]++
	}
	require.Equal(t, map[string]int{"create-contact done": 4}, audited, "one alone and three in the batch")
}

func TestABatchOfContacts(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("a batch has its bounds", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		rows := func(n int, name string) []any {
			var all []any
			for i := range n {
				all = append(all, object{"first_name": name, "email": fmt.Sprintf("person%d@example.com", i)})
			}
			return all
		}
		for name, body := range map[string]any{"101": object{"items": rows(101, "A")}, "none": object{"items": []any{}}, "no list": object{"items": object{}},
			"nothing": object{}, "null": object{"items": nil}, "more": object{"items": rows(1, "A"), "mode": "x"}} {
			t.Run(name, func(*testing.T) { admin.Post("/contacts/batch", body).Fails(400, "svc_invalid_param") })
		}
		admin.Post("/contacts/batch", object{"items": rows(100, strings.Repeat("x", 20_000))}).Fails(413, "svc_too_large")
		require.EqualValues(t, 0, admin.Get("/contacts").Is(200).Field("total"))
		for _, row := range batch(admin, rows(100, "A")...) {
			require.EqualValues(t, 201, row["status"])
		}
		require.EqualValues(t, 100, admin.Get("/contacts").Is(200).Field("total"))
		s.As("viewer").Post("/contacts/batch", object{"items": rows(1, "A")}).Fails(403, "svc_forbidden")
	})
	t.Run("a batch under one key is made once", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin").With("Idempotency-Key", "one batch")
		body := object{"items": []any{object{"email": "a@example.com"}, object{"email": "wrong"}, object{"email": "a@example.com"}}}
		answers := make([]apptest.Answer, 5)
		var calls []func()
		for i := range answers {
			calls = append(calls, func() { answers[i] = *admin.Post("/contacts/batch", body) })
		}
		contactstest.Together(t, calls...)
		for _, a := range answers {
			require.Equal(t, 200, a.Status, a.Body)
			require.JSONEq(t, answers[0].Body, a.Body)
		}
		require.EqualValues(t, 1, admin.Get("/contacts").Field("total"))
		admin.Post("/contacts/batch", object{"items": []any{object{"email": "b@example.com"}}}).Fails(409, "svc_idempotency_conflict")
	})
	t.Run("who sees only their own makes their own in a batch", func(t *testing.T) {
		contactstest.Afresh(t, s)
		hidden := s.As("svc_admin").Post("/contacts", object{"email": "hidden@example.com"}).Is(201).Text("id")
		own := s.As("staff")
		got := batch(own, object{"email": "mine@example.com"}, object{"email": "hidden@example.com"})
		require.EqualValues(t, own.UserID, got[0]["contact"].(object)["owner_user_id"])
		require.EqualValues(t, 409, got[1]["status"])
		require.NotContains(t, fmt.Sprint(got[1]), hidden)
	})
}

// Batches with the same addresses in any order, and single calls between them: each address becomes one contact, and every
// other call is told so.
func TestBatchesAndSingleCallsRaceForTheSameAddresses(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	const addresses, batches = 20, 6
	row := func(i int) any {
		return object{"email": fmt.Sprintf("racer%d@example.com", i), "tags": []string{fmt.Sprintf("Tag %d", (i*7)%10)}}
	}
	var mu sync.Mutex
	made := map[string][]int{}
	note := func(email string, status int) {
		mu.Lock()
		defer mu.Unlock()
		made[email] = append(made[email], status)
	}
	var calls []func()
	for b := range batches {
		calls = append(calls, func() {
			var rows []any
			for i := range addresses {
				rows = append(rows, row((i*(2*b+1)+b)%addresses))
			}
			if b%2 == 1 {
				slices.Reverse(rows)
			}
			a := admin.Post("/contacts/batch", object{"items": rows})
			if a.Status != 200 {
				note("the whole batch", a.Status)
				return
			}
			for i, answer := range a.Items() {
				note(rows[i].(object)["email"].(string), int(answer["status"].(float64)))
			}
		})
		calls = append(calls, func() {
			for i := range addresses {
				a := admin.Post("/contacts", row(i))
				note(fmt.Sprintf("racer%d@example.com", i), a.Status)
			}
		})
	}
	contactstest.Together(t, calls...)
	require.Len(t, made, addresses, "%v", made)
	for email, statuses := range made {
		slices.Sort(statuses)
		require.Equal(t, 201, statuses[0], "%s: %v", email, statuses)
		for _, other := range statuses[1:] {
			require.Equal(t, 409, other, "%s: %v", email, statuses)
		}
	}
	require.EqualValues(t, addresses, admin.Get("/contacts").Is(200).Field("total"))
	ids := map[uuid.UUID]bool{}
	for _, e := range s.Events(proto.ContactTopic) {
		require.Equal(t, proto.KindContactCreated, e.GetKind())
		ids[uuid.MustParse(e.GetRecordId())] = true
	}
	require.Len(t, ids, addresses)
}
