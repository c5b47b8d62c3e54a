package imports

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
)

type object = map[string]any

// room is an importing room as the service makes one.
func room(k *app.Kit) *Room { return New(k, field.New(k), marketing.New(k)) }

// start runs imports with what their tests look at.
func start(t *testing.T) *apptest.Service {
	t.Helper()
	return contactstest.Start(t, func(k *app.Kit, set *op.Set) app.Room {
		files := room(k)
		files.Imports(set)
		return app.Room{Name: "imports", Parts: files.Parts()}
	})
}

func TestWhatAnImportMakesOfAFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a file is imported", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		admin.Post("/fields", object{"entity": "contact", "type": "date", "label": "Birthday"}).Is(201)
		have := admin.Post("/contacts", object{"first_name": "Have", "email": "have@example.com"}).Is(201).Text("id")
		text := "\ufeffVoornaam;Achternaam;E-mail;GSM;Status;Labels;Birthday;Shoe\r\n" +
			"Ann;\"De; Wit\";ann@example.com;0470 12 34 56;klant;VIP,new;2000-01-31;40\r\n" +
			"Other;Name;HAVE@example.com;;;;;\r\n" +
			"Bad;;no address;;;;;\r\n" +
			";;;;;;;\r\n" +
			"Bad;;;;;;yesterday;\r\n" +
			"Again;;ann@example.com;;;x;;\r\n" +
			"Ragged\r\n"
		a := admin.Post("/imports", object{"file_name": "people.csv", "csv": text}).Is(201)
		require.Equal(t, "uploaded", a.Text("status"))
		require.Equal(t, []any{"first_name", "last_name", "email", "phone", "status", "tags", "fields.birthday", ""}, a.Field("mapping"))
		require.Equal(t, "De; Wit", a.Field("preview").([]any)[0].([]any)[1])
		require.EqualValues(t, 6, a.Field("totals.rows"))
		require.Equal(t, "fill_empty", a.Text("options.duplicates"))
		id := a.Text("id")
		admin.Patch("/imports/"+id, object{"mapping": []string{"nonsense"}}).Fails(400, "svc_invalid_param")
		admin.Patch("/imports/"+id, object{"options": object{"duplicates": "maybe"}}).Fails(400, "svc_invalid_param")
		admin.Patch("/imports/"+id, object{"options": object{"speed": "maybe"}}).Fails(400, "svc_invalid_param")
		admin.Patch("/imports/"+id, object{"options": object{"tag": "Imported"}}).Is(200)
		admin.Post("/imports/"+id+"/start", nil).Is(200)
		admin.Post("/imports/"+id+"/start", nil).Fails(409, "svc_invalid_status")
		admin.Patch("/imports/"+id, object{"options": object{"tag": "x"}}).Fails(409, "svc_invalid_status")
		a = contactstest.Finished(s, admin, id)
		require.Equal(t, object{"rows": 6.0, "created": 3.0, "updated": 2.0, "skipped": 0.0, "failed": 1.0, "cells": 1.0}, a.Field("totals"))
		require.NotNil(t, a.Field("finished_at"))
		require.Equal(t, []any{
			object{"row": 4.0, "column": "E-mail", "code": "svc_invalid_param", "message": "email must be an email address such as name@example.com",
				"dropped": "row", "details": object{"code": "email", "example": "name@example.com"}},
			object{"row": 6.0, "column": "Birthday", "code": "svc_invalid_param", "message": "fields.birthday must be a date such as 2026-12-31",
				"dropped": "cell", "details": object{"code": "date", "example": "2026-12-31"}},
		}, a.Field("errors"))

		ann := admin.Get("/contacts?search=ann%40example.com").Is(200)
		require.Equal(t, "De; Wit", ann.Text("items.0.last_name"))
		require.Equal(t, "+32470123456", ann.Text("items.0.phone"))
		require.Equal(t, "customer", ann.Text("items.0.status"))
		require.Equal(t, []any{"VIP", "new", "Imported", "x"}, ann.Field("items.0.tags"))
		require.Equal(t, object{"birthday": "2000-01-31"}, ann.Field("items.0.fields"))
		c := admin.Get("/contacts/" + have).Is(200)
		require.Equal(t, "Have", c.Text("first_name"))
		require.Equal(t, "Name", c.Text("last_name"))
		entry := admin.Get("/contacts/" + have + "/activities").Is(200).Items()[0]
		require.Equal(t, "import", entry["channel"])
		require.EqualValues(t, admin.UserID, entry["user_id"])
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated}, s.Kinds(proto.ContactTopic, ann.Text("items.0.id")))
		require.EqualValues(t, 4, admin.Get("/contacts").Is(200).Field("total"))

		down := admin.Get("/imports/" + id + "/errors.csv").Is(200)
		written := csv.NewReader(strings.NewReader(down.Body))
		written.Comma = ';'
		rows, err := written.ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 3)
		require.Equal(t, []string{"row", "column", "code", "message", "dropped", "Voornaam"}, rows[0][:6])
		require.Equal(t, "no address", rows[1][7])
		require.Equal(t, "cell", rows[2][4])
	})
	t.Run("duplicates in a file are skipped or overwritten", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "Old", "email": "a@example.com", "phone": "1"}).Is(201).Text("id")
		run := func(duplicates string) *apptest.Answer {
			f := admin.Post("/imports", object{"file_name": "x", "csv": "email,name,phone\na@example.com,New,\n"}).Is(201).Text("id")
			admin.Post("/imports/"+f+"/start", object{"options": object{"duplicates": duplicates}}).Is(200)
			return contactstest.Finished(s, admin, f)
		}
		require.EqualValues(t, 1, run("skip").Field("totals.skipped"))
		require.Equal(t, "Old", admin.Get("/contacts/"+id).Is(200).Text("first_name"))
		require.EqualValues(t, 1, run("fill_empty").Field("totals.skipped"))
		require.EqualValues(t, 1, run("overwrite").Field("totals.updated"))
		c := admin.Get("/contacts/" + id).Is(200)
		require.Equal(t, "New", c.Text("first_name"))
		require.Equal(t, "1", c.Text("phone"), "an empty cell takes nothing away")
	})
	t.Run("an import sees what its starter sees", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.Role("custom", "own", "svc_view_contacts", "svc_import_contacts", "svc_edit_contacts")
		admin, own := s.As("svc_admin"), s.As("custom")
		s.Eventually(func() bool { return own.Get("/contacts").Status == 200 })
		theirs := admin.Post("/contacts", object{"email": "theirs@example.com"}).Is(201).Text("id")
		f := own.Post("/imports", object{"file_name": "x", "csv": "email,first name\ntheirs@example.com,Taken\nnew@example.com,New\n"}).Is(201).Text("id")
		own.Post("/imports/"+f+"/start", nil).Is(200)
		a := contactstest.Finished(s, own, f)
		require.EqualValues(t, 1, a.Field("totals.created"))
		require.Equal(t, "svc_duplicate", a.Text("errors.0.code"))
		require.Equal(t, "", admin.Get("/contacts/"+theirs).Is(200).Text("first_name"))
		require.EqualValues(t, 1, own.Get("/contacts").Is(200).Field("total"))
		mine := admin.Post("/imports", object{"file_name": "x", "csv": "email\n"}).Is(201).Text("id")
		own.Get("/imports/"+mine).Fails(404, "svc_not_found")
		own.Get("/imports/"+mine+"/errors.csv").Fails(404, "svc_not_found")
	})
	t.Run("an empty, too large or too wide file is refused", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for code, csv := range map[string]string{"csv_empty": "", "too_long": strings.Repeat("x", 5<<20+1), "csv_too_wide": strings.Repeat("x,", 500) + "x"} {
			refused := admin.Post("/imports", object{"file_name": "x", "csv": csv}).Fails(400, "svc_invalid_param")
			require.Equal(t, code, refused.Field("data.details.csv.code"))
		}
		admin.Post("/imports", object{"file_name": " ", "csv": "email\n"}).Fails(400, "svc_invalid_param")
		f := admin.Post("/imports", object{"file_name": "x", "csv": "shoe,sock\n1,2\n"}).Is(201).Text("id")
		admin.Post("/imports/"+f+"/start", nil).Fails(400, "svc_invalid_param")
		admin.Post("/imports/"+f+"/start", object{"mapping": []string{"first_name"}}).Is(200)
		require.EqualValues(t, 1, contactstest.Finished(s, admin, f).Field("totals.created"))
	})
	t.Run("a record holds only so much", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		values := object{}
		for _, l := range []string{"a", "b", "c", "d", "e"} {
			values[admin.Post("/fields", object{"entity": "contact", "type": "long_text", "label": l}).Is(201).Text("key")] = strings.Repeat("x", 65535)
		}
		admin.Post("/contacts", object{"first_name": "A", "fields": values}).Fails(400, "svc_invalid_param")
		delete(values, "e")
		delete(values, "d")
		id := admin.Post("/contacts", object{"first_name": "A", "fields": values}).Is(201).Text("id")
		admin.Patch("/contacts/"+id, object{"fields": object{"d": strings.Repeat("\u0001", 65535)}}).Fails(400, "svc_invalid_param")
	})
}

func TestAnImportThatMeetsAnother(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("an import that was cut off goes on where it was", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		var text strings.Builder
		text.WriteString("first name,email\n")
		const rows = 3500
		for i := range rows {
			fmt.Fprintf(&text, "N%d,%s\n", i, map[bool]string{true: fmt.Sprintf("n%d@example.com", i)}[i%2 == 0])
		}
		f := admin.Post("/imports", object{"file_name": "x", "csv": text.String()}).Is(201).Text("id")
		admin.Post("/imports/"+f+"/start", nil).Is(200)
		// A second worker beside the service's own, thrown away after each batch as by a crash.
		for {
			r := newImporter(room(s.Kit))
			worked, err := r.batch(t.Context())
			require.NoError(t, err)
			if !worked && admin.Get("/imports/"+f).Is(200).Text("status") == "completed" {
				break
			}
		}
		a := contactstest.Finished(s, admin, f)
		require.EqualValues(t, rows, a.Field("totals.created"))
		require.EqualValues(t, rows, admin.Get("/contacts").Is(200).Field("total"))
		var names int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(distinct first_name) from contact`).Scan(&names))
		require.Equal(t, rows, names)
	})
	t.Run("two imports of one file make each contact once", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		var text strings.Builder
		text.WriteString("email\n")
		for i := range 3000 {
			fmt.Fprintf(&text, "n%d@example.com\n", i)
		}
		var files []string
		for range 2 {
			f := admin.Post("/imports", object{"file_name": "x", "csv": text.String()}).Is(201).Text("id")
			admin.Post("/imports/"+f+"/start", nil).Is(200)
			files = append(files, f)
		}
		other := newImporter(room(s.Kit))
		for worked := true; worked; {
			var err error
			worked, err = other.batch(t.Context())
			require.NoError(t, err)
		}
		created := 0.0
		for _, f := range files {
			created += contactstest.Finished(s, admin, f).Field("totals.created").(float64)
		}
		require.EqualValues(t, 3000, created)
		require.EqualValues(t, 3000, admin.Get("/contacts").Is(200).Field("total"))
	})
}

func TestImportsAreListedNewestFirstToThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Role("custom", "own", auth.ViewContacts, auth.ImportContacts)
	admin, own := s.As("svc_admin"), s.As("custom")
	s.Eventually(func() bool { return own.Get("/contacts").Status == 200 })
	upload := func(by *apptest.Client, name string) string {
		id := by.Post("/imports", object{"file_name": name, "csv": "email\n" + name + "@example.com\n"}).Is(201).Text("id")
		s.Travel(time.Second)
		return id
	}
	first, theirs, last := upload(admin, "first"), upload(own, "theirs"), upload(admin, "last")
	page := admin.Get("/imports?per_page=2").Is(200)
	require.Equal(t, []any{3.0, last, theirs}, []any{page.Field("total"), page.Field("items.0.id"), page.Field("items.1.id")})
	require.NotContains(t, page.Items()[0], "preview")
	require.Equal(t, []any{"uploaded", 1.0}, []any{page.Field("items.0.status"), page.Field("items.0.totals.rows")})
	rest := admin.Get("/imports?per_page=2&cursor=" + page.Text("next_cursor")).Is(200)
	require.Equal(t, []any{1, first, nil}, []any{len(rest.Items()), rest.Field("items.0.id"), rest.Field("next_cursor")})
	page = own.Get("/imports").Is(200)
	require.Equal(t, []any{1.0, theirs}, []any{page.Field("total"), page.Field("items.0.id")})
	s.As("staff").Get("/imports").Fails(403, "svc_forbidden")
}
