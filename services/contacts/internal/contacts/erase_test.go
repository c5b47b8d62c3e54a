package contacts

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/imports"
)

// erasures are the ForgetPerson commands so far.
func erasures(t *testing.T, s *apptest.Service) (all []*proto.ForgetPerson) {
	for _, e := range s.Events(proto.ForgetTopic) {
		m := &proto.ForgetPerson{}
		require.NoError(t, protobuf.Unmarshal(e.GetData(), m))
		all = append(all, m)
	}
	return all
}

func hashes(s *apptest.Service, called ...string) (all [][]byte) {
	for _, c := range called {
		all = append(all, s.Kit.Keys.Person(c))
	}
	return all
}

func TestErasingStrikesAPersonFromFilesAndTimelinesAndLeavesLookAlikesAlone(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.Post("/contacts", object{"first_name": "Ann", "last_name": "Lee", "email": "x@bücher.example"}).Is(201).Text("id")
	upload := func(name, csv string) string {
		return admin.With("Idempotency-Key", name).Post("/imports", object{"file_name": name, "csv": csv}).Is(201).Text("id")
	}
	waits := upload("waits.csv", "first,last,email\nA,B,X@XN--BCHER-KVA.example\nC,D,Bücher <x@bücher.example>\nJan,X,janx@bücher.example\nJoanna,Leeds,ok@example.com\nAnn,Lee,\n Ann Lee ,,\nAnn,Other,ann@example.com\nAnn,Lee,namesake@example.com\n")
	headless := upload("headless.csv", "Ann,Lee,x@bücher.example\nBob,Stays,bob@example.com\n")
	failed := upload("failed.csv", "first,email,note\nAnn,nowhere,x@bücher.example at work\nJan,nowhere,janx@bücher.example at work\nAnn Lee,nowhere,namesake@example.com at work\n"+
		"Ann,nowhere,x\u00ad@bücher.example\nAnn,nowhere,x\\u0040bücher.example\nZOÉ ΠΑΠΆΣ,nowhere,\n")
	admin.Post("/imports/"+failed+"/start", object{"mapping": []string{"first_name", "email", ""}}).Is(200)
	s.Eventually(func() bool { return admin.Get("/imports/"+failed).Is(200).Text("status") == "completed" })

	admin.Patch("/contacts/"+id, object{"mode": "overwrite", "email": "moved@example.com"}).Is(200)
	next := admin.Post("/contacts", object{"first_name": "Next", "email": "X@Bücher.example"}).Is(201).Text("id")
	admin.Patch("/contacts/"+next, object{"mode": "overwrite", "email": "janx@bücher.example"}).Is(200)
	admin.Post("/contacts/"+next+"/notes", object{"body": "was x@bücher.example, is janx@bücher.example"}).Is(201)

	require.EqualValues(t, 1, admin.Post("/privacy/erase", object{"email": "moved@example.com"}).Is(200).Field("erased"))
	s.Settle()
	require.Equal(t, s.Kit.Keys.SharedID(), erasures(t, s)[0].GetSharedKey())
	preview := func(id string) any { return admin.Get("/imports/" + id).Is(200).Field("preview") }
	require.Equal(t, []any{[]any{"", "", ""}, []any{"", "", ""}, []any{"Jan", "X", "janx@bücher.example"}, []any{"Joanna", "Leeds", "ok@example.com"}, []any{"", "", ""}},
		preview(waits))
	admin.Post("/imports/"+waits+"/start", object{"mapping": []string{"first_name", "last_name", "email"}}).Is(200)
	s.Eventually(func() bool { return admin.Get("/imports/"+waits).Is(200).Text("status") == "completed" })
	done := admin.Get("/imports/" + waits).Is(200)
	require.Equal(t, object{"rows": 8.0, "created": 3.0, "updated": 1.0, "skipped": 0.0, "failed": 4.0, "cells": 0.0}, done.Field("totals"), "Joanna Leeds, Ann Other and a namesake; Jan is there already")
	require.Equal(t, object{"row": 2.0, "column": "", "code": "erased", "message": "the person in the row was erased", "dropped": "row", "details": object{"code": "erased"}}, done.Field("errors.0"))
	require.Len(t, done.Field("errors"), 4)
	require.Equal(t, 5, strings.Count(admin.Get("/imports/"+waits+"/errors.csv").Is(200).Body, "\n"))
	require.Equal(t, []any{"Column 1", "Column 2", "Column 3"}, admin.Get("/imports/"+headless).Is(200).Field("headers"))
	require.Equal(t, []any{[]any{"", "", ""}, []any{"Bob", "Stays", "bob@example.com"}}, preview(headless))
	refused := admin.Get("/imports/" + failed).Is(200)
	require.EqualValues(t, 6, refused.Field("totals.failed"))
	var codes []any
	for _, e := range refused.Field("errors").([]any) {
		codes = append(codes, e.(object)["code"])
	}
	require.Equal(t, []any{"erased", "svc_invalid_param", "svc_invalid_param", "erased", "erased", "svc_invalid_param"}, codes, "Jan, a namesake and Zoé stay")
	admin.Post("/contacts", object{"first_name": "Zoé", "last_name": "Παπάς", "email": "zoe@example.com"}).Is(201)
	admin.Post("/privacy/erase", object{"email": "zoe@example.com"}).Is(200)
	require.Equal(t, "erased", admin.Get("/imports/"+failed).Is(200).Field("errors.5.code"), "a final sigma is a sigma")
	require.Contains(t, admin.Get("/imports/"+failed+"/errors.csv").Is(200).Body, "2,,erased,the person in the row was erased,row\n")

	var timeline string
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select string_agg(data::text || body, ' ') from activity where contact_id = $1`, next).Scan(&timeline))
	require.Contains(t, timeline, "was , is janx@bücher.example")
	require.Contains(t, timeline, `"old": ""`)
	for _, table := range []string{"import", "import_error", "activity", "former_address", "idempotency", "outbox", "parked"} {
		var n int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from `+table+` r where r::text ~* '(^|[^n])x@(bücher|xn--bcher-kva)'`).Scan(&n))
		require.Zero(t, n, table)
	}
	// A repeated upload does not bring the rows back.
	require.NotEqual(t, waits, upload("waits.csv", "first,last,email\nA,B,C\n"))
}

func TestAnErasureNamesEveryIDOfThePersonAndNoAddressOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.Post("/contacts", object{"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}).Is(201).Text("id")
	twin := admin.Post("/contacts", object{"first_name": "Ann", "email": "twin@example.com"}).Is(201).Text("id")
	admin.Post("/contacts/"+id+"/merge", object{"other_id": twin}).Is(200)
	requested := uuid.NewString()
	s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: "ann@example.com", Actor: &proto.Actor{Channel: db.ChannelForm, Label: "Annie"},
		Data: &proto.EnsureContact{ContactId: requested, Email: "ann@example.com", Phone: "0470 12 34 56", Create: true}})
	s.Settle()
	// The merged address belongs to somebody else by now.
	admin.Post("/contacts", object{"first_name": "Tom", "email": "twin@example.com"}).Is(201)

	require.EqualValues(t, 1, admin.Post("/privacy/erase", object{"email": "Ann@example.com"}).Is(200).Field("erased"))
	all := erasures(t, s)
	require.Len(t, all, 1)
	require.ElementsMatch(t, []string{id, twin, requested}, all[0].GetIds())
	require.ElementsMatch(t, hashes(s, "ann@example.com", "Ann Lee", "Annie"), all[0].GetCalled())
}

func TestANameThatARemainingContactHasIsNotForgotten(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	add := func(first, last, email string) string {
		return admin.With("Idempotency-Key", email).Post("/contacts", object{"first_name": first, "last_name": last, "email": email}).Is(201).Text("id")
	}
	visits := func(id, email, label string) {
		s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: email, Actor: &proto.Actor{Channel: db.ChannelForm, Label: label},
			Data: &proto.EnsureContact{ContactId: uuid.NewString(), Email: email, Phone: "0470 12 34 56", Create: true, Origin: "submission", OriginId: uuid.NewString()}})
		s.Settle()
		require.Contains(t, admin.Get("/contacts/"+id+"/activities").Is(200).Body, label)
	}
	gone := add("Ann", "Lee", "gone@example.com")
	visits(gone, "gone@example.com", "Zoë")
	add("ann", "lee", "namesake@example.com")
	add("", "zoë", "nick@example.com")
	upload := admin.Post("/imports", object{"file_name": "x.csv", "csv": "first,last\nAnn,Lee\n"}).Is(201).Text("id")

	admin.Post("/privacy/erase", object{"email": "gone@example.com"}).Is(200)
	require.ElementsMatch(t, hashes(s, "gone@example.com"), erasures(t, s)[0].GetCalled())
	require.Equal(t, []any{"Ann", "Lee"}, admin.Get("/imports/"+upload).Is(200).Field("preview.0"))
	admin.Post("/privacy/erase", object{"email": "nick@example.com"}).Is(200)
	require.ElementsMatch(t, hashes(s, "nick@example.com", "zoë"), erasures(t, s)[1].GetCalled())

	// Namesakes who leave together, from the trash, remain nowhere.
	add("Ann", "Lee", "second@example.com")
	for _, c := range admin.Get("/contacts?search=lee").Is(200).Items() {
		admin.Delete("/contacts/"+c["id"].(string), nil).Is(204)
	}
	s.Travel(40 * 24 * time.Hour)
	for _, j := range s.Parts.Jobs {
		if j.Name == "trash" {
			require.NoError(t, j.Run(t.Context()))
		}
	}
	require.ElementsMatch(t, hashes(s, "namesake@example.com", "second@example.com", "ann lee"), erasures(t, s)[2].GetCalled())
}

func TestAnAddressWithoutAContactIsForgottenAndExportedToo(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, staff := s.As("svc_admin"), s.As("staff")
	sent := uuid.NewString()
	extra := func(email string) object {
		return object{"called": []string{base64.StdEncoding.EncodeToString(s.Kit.Keys.Person(address.Key(email)))}}
	}
	submission := func(id, email string) {
		s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: id, Version: 1, Extra: extra(email), Data: object{"id": id,
			"form": object{"id": 3, "name": "Ask us"}, "status": "received", "contact": nil, "created_at": s.Now().UTC().Format(time.RFC3339)}})
	}
	submission(sent, "nobody@bücher.example")
	kept := uuid.NewString()
	submission(kept, "somebody@bücher.example")
	s.Settle()
	data := admin.Post("/privacy/personal-data", object{"email": "Nobody@xn--bcher-kva.example"}).Is(200)
	require.Empty(t, data.Field("contacts"))
	require.Len(t, data.Field("submissions"), 1)
	require.Equal(t, sent, data.Text("submissions.0.id"))
	require.Equal(t, "null\n", admin.Post("/privacy/personal-data", object{"email": "other@example.com"}).Is(200).Body)

	if staff.Post("/privacy/erase", object{"email": "nobody@bücher.example"}).Status == 200 {
		require.Empty(t, erasures(t, s), "what belongs to no contact is not theirs")
	}
	require.EqualValues(t, 0, admin.Post("/privacy/erase", object{"email": "Nobody@bücher.example"}).Is(200).Field("erased"))
	all := erasures(t, s)
	require.Len(t, all, 1)
	require.Equal(t, hashes(s, address.Key("nobody@bücher.example")), all[0].GetCalled())
	s.Settle()
	var copies []string
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select array_agg(id::text) from submission`).Scan(&copies))
	require.Equal(t, []string{kept}, copies, "the copy goes, that of somebody else stays")
}

func TestACommandFromBeforeTheErasureDoesNotBringThePersonBack(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	admin.Post("/privacy/erase", object{"email": "ann@example.com"}).Is(200)
	ask := func() string {
		id := uuid.NewString()
		s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: "ann@example.com",
			Data: &proto.EnsureContact{ContactId: id, Email: "Ann@Example.com", FirstName: "Ann", Create: true}})
		s.Settle()
		return id
	}
	s.Travel(-time.Minute)
	late := ask()
	require.EqualValues(t, 0, admin.Get("/contacts").Is(200).Field("total"))
	all := erasures(t, s)
	require.Equal(t, []string{late}, all[len(all)-1].GetIds(), "the sender forgets the request as well")
	s.Travel(2 * time.Minute)
	ask()
	require.EqualValues(t, 1, admin.Get("/contacts").Is(200).Field("total"))
}

func TestTheRowBehindOneThatWasStruckOutIsImported(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	admin.Post("/contacts", object{"email": "zeb@quist.example"}).Is(201)
	var begun imports.ListedImport
	require.NoError(t, json.Unmarshal([]byte(admin.Post("/imports", object{"file_name": "x", "csv": "email\na@example.com\nzeb@quist.example\nbehind@example.com\nlast@example.com\n"}).Is(201).Body), &begun))
	id := begun.ID.String()
	// The import was cut off behind the person's row, and goes on after the person was erased.
	contactstest.Execute(t, s.Kit.DB.Pool, `update import set done_row = 3, updated = 2 where id = $1`, id)
	admin.Post("/privacy/erase", object{"email": "zeb@quist.example"}).Is(200)
	admin.Post("/imports/"+id+"/start", nil).Is(200)
	var done imports.Import
	require.NoError(t, json.Unmarshal([]byte(contactstest.Finished(s, admin, id).Body), &done))
	require.Equal(t, []int{4, 2, 2, 0}, []int{done.Totals.Rows, done.Totals.Created, done.Totals.Updated, done.Totals.Failed}, "what was done before is not counted again")
	require.EqualValues(t, 1, admin.Get("/contacts?search=behind%40example.com").Is(200).Field("total"))
}

func TestAFileThatIsSplitAnewStillCountsTheRowsOfSomebodyErased(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.Post("/imports", object{"file_name": "x", "csv": "email;Note\nzeb@quist.example;a,b\nbehind@example.com;c,d\n"}).Is(201).Text("id")
	admin.Post("/privacy/erase", object{"email": "zeb@quist.example"}).Is(200)
	admin.Post("/imports/"+id+"/start", object{"options": object{"separator": ";"}}).Is(200)
	require.Equal(t, object{"rows": 2.0, "created": 1.0, "updated": 0.0, "skipped": 0.0, "failed": 1.0, "cells": 0.0}, contactstest.Finished(s, admin, id).Field("totals"))
}

func TestFilesAreNotKeptForGood(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	waiting := admin.Post("/imports", object{"file_name": "x", "csv": "email\nzeb@quist.example\n"}).Is(201).Text("id")
	done := admin.Post("/imports", object{"file_name": "x", "csv": "email\nnobody\n"}).Is(201).Text("id")
	admin.Post("/imports/"+done+"/start", nil).Is(200)
	contactstest.Finished(s, admin, done)
	forget := func() {
		for _, j := range s.Parts.Jobs {
			if j.Name == "imports" {
				require.NoError(t, j.Run(t.Context()))
			}
		}
	}
	s.Travel(8 * 24 * time.Hour)
	forget()
	a := admin.Get("/imports/" + waiting).Is(200)
	require.Equal(t, "failed", a.Text("status"))
	require.Empty(t, tablesWith(t, s, "quist"))
	admin.Post("/imports/"+waiting+"/start", nil).Fails(409, "svc_invalid_status")
	admin.Get("/imports/" + done).Is(200)
	s.Travel(90 * 24 * time.Hour)
	forget()
	admin.Get("/imports/"+done).Fails(404, "svc_not_found")
}

func TestAContactThatCannotBeErasedDoesNotKeepTheTrashFull(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	var ids []string
	for range 5 {
		id := admin.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
		admin.Delete("/contacts/"+id, nil).Is(204)
		ids = append(ids, id)
	}
	heal := contactstest.Refusing(t, s, "contact", "delete", ids[1])
	s.Travel(40 * 24 * time.Hour)
	empty := func() (left int) {
		for _, j := range s.Parts.Jobs {
			if j.Name == "trash" {
				require.NoError(t, j.Run(t.Context()))
			}
		}
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact`).Scan(&left))
		return left
	}
	require.Equal(t, 1, empty())
	heal()
	s.Eventually(func() bool { return empty() == 0 })
}
