package imports

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestADryRunSaysWhatAnImportWouldDoAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	admin.Post("/contacts", object{"email": "has@example.com"}).Is(201)
	var text strings.Builder
	text.WriteString("first name,email,labels,company\nHas,has@example.com,vip,Acme\nAnn,ann@example.com,new,Acme\n,nowhere,,\n")
	// The same address again, far behind, and a person without one.
	for i := range 2500 {
		fmt.Fprintf(&text, "N%d,n%d@example.com,,\n", i, i%2400)
	}
	text.WriteString("Ann again,ann@example.com,,\nNobody,,,\n")
	id := begin(t, admin, text.String(), object{"options": object{"dry_run": true, "tag": "Fair"}}, nil)
	checked := ended(s, admin, id, importChecked)
	require.Equal(t, true, checked.Field("options.dry_run"))
	require.Equal(t, object{"rows": 2505.0, "created": 2402.0, "updated": 1.0, "skipped": 101.0, "failed": 1.0, "cells": 0.0}, checked.Field("totals"))
	require.Equal(t, 4.0, checked.Field("errors.0.row"))
	require.Nil(t, checked.Field("finished_at"))
	require.EqualValues(t, 1, admin.Get("/contacts").Is(200).Field("total"))
	require.Empty(t, admin.Get("/tags").Is(200).Items())
	require.Empty(t, admin.Get("/organizations").Is(200).Items())
	admin.Post("/imports/"+id+"/undo", nil).Fails(409, "svc_invalid_status")

	admin.Post("/imports/"+id+"/start", object{"options": object{"dry_run": true}}).Is(200)
	again := ended(s, admin, id, importChecked)
	require.Equal(t, checked.Field("totals"), again.Field("totals"), "a second dry run counts from the start")
	admin.Post("/imports/"+id+"/start", nil).Is(200)
	done := contactstest.Finished(s, admin, id)
	require.Equal(t, checked.Field("totals"), done.Field("totals"), "the import does what the dry run said")
	require.Equal(t, checked.Field("errors"), done.Field("errors"))
	require.Equal(t, false, done.Field("options.dry_run"))
	require.EqualValues(t, 2403, admin.Get("/contacts").Is(200).Field("total"))
}

func TestACheckedImportCanBeCorrected(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	id := begin(t, admin, "first name,email\nAnn,nowhere\n", object{"options": object{"dry_run": true}}, nil)
	require.EqualValues(t, 1, ended(s, admin, id, importChecked).Field("totals.failed"))
	corrected := admin.Patch("/imports/"+id, object{"mapping": []string{"first_name", ""}}).Is(200)
	require.Equal(t, []any{importUploaded, 0.0, []any{}}, []any{corrected.Field("status"), corrected.Field("totals.failed"), corrected.Field("errors")})
	admin.Post("/imports/"+id+"/start", nil).Is(200)
	require.EqualValues(t, 1, contactstest.Finished(s, admin, id).Field("totals.created"))
}

func TestUndoingAnImportTakesBackWhatNobodyTouchedSince(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	admin.Post("/fields", object{"entity": "contact", "type": "number", "label": "Shoe"}).Is(201)
	has := admin.Post("/contacts", object{"email": "has@example.com", "first_name": "Had", "tags": []string{"old"}, "fields": object{"shoe": 40}}).Is(201).Text("id")
	part := admin.Post("/contacts", object{"email": "part@example.com", "first_name": "Had"}).Is(201).Text("id")
	id := begin(t, admin, "first name,last name,email,labels,Shoe,company\n"+
		"Ann,A,ann@example.com,vip,,Acme\nBob,B,bob@example.com,,,\nCas,C,cas@example.com,,,\nDea,D,dea@example.com,,,\n"+
		"New,Name,has@example.com,vip,41,Acme\nNew,Part,part@example.com,,,\nEva,E,,,,\n",
		object{"options": object{"duplicates": "overwrite", "tag": "Fair"}}, nil)
	require.Equal(t, object{"rows": 7.0, "created": 5.0, "updated": 2.0, "skipped": 0.0, "failed": 0.0, "cells": 0.0}, contactstest.Finished(s, admin, id).Field("totals"))
	bob, cas := found(t, admin, "bob@example.com").Text("id"), found(t, admin, "cas@example.com").Text("id")
	dea, ann := found(t, admin, "dea@example.com").Text("id"), found(t, admin, "ann@example.com").Text("id")
	admin.Patch("/contacts/"+bob, object{"first_name": "Changed", "mode": "overwrite"}).Is(200)
	admin.Post("/contacts/"+cas+"/notes", object{"body": "called"}).Is(201)
	admin.Delete("/contacts/"+dea, nil).Is(204)
	admin.Patch("/contacts/"+part, object{"last_name": "Changed", "mode": "overwrite"}).Is(200)

	undoing := admin.Post("/imports/"+id+"/undo", nil).Is(200)
	require.Equal(t, object{"removed": 0.0, "restored": 0.0, "kept": 0.0}, undoing.Field("undo"))
	admin.Post("/imports/"+id+"/undo", nil).Fails(409, "svc_invalid_status")
	undone := ended(s, admin, id, importUndone)
	require.Equal(t, object{"removed": 2.0, "restored": 1.0, "kept": 4.0}, undone.Field("undo"))

	for _, gone := range []string{ann} {
		require.NotNil(t, admin.Get("/contacts/"+gone).Is(200).Field("deleted_at"))
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactDeleted}, s.Kinds(proto.ContactTopic, gone))
	}
	c := admin.Get("/contacts/" + has).Is(200)
	require.Equal(t, []any{"Had", "", []any{"old"}, object{"shoe": 40.0}, nil}, []any{c.Field("first_name"), c.Field("last_name"), c.Field("tags"), c.Field("fields"), c.Field("organization")})
	c = admin.Get("/contacts/" + part).Is(200)
	require.Equal(t, []any{"Had", "Changed", []any{}}, []any{c.Field("first_name"), c.Field("last_name"), c.Field("tags")}, "what somebody changed since stays, the rest returns")
	for _, stays := range []string{bob, cas} {
		c = admin.Get("/contacts/" + stays).Is(200)
		require.Equal(t, []any{nil, []any{}}, []any{c.Field("deleted_at"), c.Field("tags")})
	}
	entry := admin.Get("/contacts/" + part + "/activities").Is(200).Items()[0]
	require.Equal(t, []any{"updated", "Import undone", "import"}, []any{entry["type"], entry["subject"], entry["channel"]})
	kept := admin.Get("/imports/" + id + "/kept.csv").Is(200).Body
	for _, line := range []string{bob + ",changed,", cas + ",used,", dea + ",gone,", part + ",changed,"} {
		require.Contains(t, kept, line)
	}
	require.Equal(t, 5, strings.Count(kept, "\n"))
}

func TestAnImportCanBeUndoneForThirtyDays(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Role("custom", "own", auth.ViewContacts, auth.ImportContacts)
	admin, own := s.As("svc_admin"), s.As("custom")
	s.Eventually(func() bool { return own.Get("/contacts").Status == 200 })
	id := imported(t, s, admin, "email\nann@example.com\n").Text("id")
	own.Post("/imports/"+id+"/undo", nil).Fails(404, "svc_not_found")
	own.Get("/imports/"+id+"/kept.csv").Fails(404, "svc_not_found")
	s.As("staff").Post("/imports/"+id+"/undo", nil).Fails(403, "svc_forbidden")
	s.Travel(31 * 24 * time.Hour)
	admin.Post("/imports/"+id+"/undo", nil).Fails(409, "svc_conflict")
}

func TestAnUndoThatWasCutOffGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	const people = undoSlice + 200
	id := contactstest.Finished(s, admin, begin(t, admin, numbered(people), nil, nil)).Text("id")
	contactstest.Execute(t, s.Kit.DB.Pool, `create sequence hiccups`)
	contactstest.Execute(t, s.Kit.DB.Pool, `create function hiccup() returns trigger language plpgsql as $$ begin
		if nextval('hiccups') in (600, 601) then raise exception 'the error of the test'; end if; return new; end $$`)
	contactstest.Execute(t, s.Kit.DB.Pool, `create trigger hiccup before update on contact for each row execute function hiccup()`)
	admin.Post("/imports/"+id+"/undo", nil).Is(200)
	require.Equal(t, object{"removed": float64(people), "restored": 0.0, "kept": 0.0}, ended(s, admin, id, importUndone).Field("undo"))
	require.EqualValues(t, 0, admin.Get("/contacts").Is(200).Field("total"))
}
