package imports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

// numbered is a file of n people without addresses, whose first names are their numbers.
func numbered(n int) string {
	var text strings.Builder
	text.WriteString("first name,last name\n")
	for i := range n {
		fmt.Fprintf(&text, "N%d,Row\n", i)
	}
	return text.String()
}

// begin uploads a file, lets prepare change the stored import, and starts it.
func begin(t *testing.T, c *apptest.Client, text string, body any, prepare func(id string)) (id string) {
	t.Helper()
	id = c.Post("/imports", object{"file_name": "x", "csv": text}).Is(201).Text("id")
	if prepare != nil {
		prepare(id)
	}
	c.Post("/imports/"+id+"/start", body).Is(200)
	return id
}

// ended waits until an import has the status.
func ended(s *apptest.Service, c *apptest.Client, id, status string) (a *apptest.Answer) {
	s.Eventually(func() bool { a = c.Get("/imports/" + id).Is(200); return a.Text("status") == status })
	return a
}

func TestAnImportLosesNoRowWhenATransactionOfItRunsAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	pool := s.Kit.DB.Pool
	for _, c := range []struct{ name, code, trigger string }{
		{"for a deadlock in the middle", "40P01", `create trigger hiccup before insert on contact for each row when (new.first_name = 'N1500') execute function hiccup()`},
		{"for a deadlock at the commit", "40P01", `create constraint trigger hiccup after insert on contact deferrable initially deferred for each row
			when (new.first_name = 'N2100') execute function hiccup()`},
		{"for a serialization failure at the commit", "40001", `create constraint trigger hiccup after insert on contact deferrable initially deferred for each row
			when (new.first_name = 'N10') execute function hiccup()`},
		{"for a wrong assumption at the commit", "FD001", `create constraint trigger hiccup after insert on contact deferrable initially deferred for each row
			when (new.first_name = 'N10') execute function hiccup()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			contactstest.Afresh(t, s)
			admin := s.As("svc_admin")
			// A sequence is not rolled back, so the trigger raises the error once.
			contactstest.Execute(t, pool, `create sequence hiccups`)
			contactstest.Execute(t, pool, `create function hiccup() returns trigger language plpgsql as $$ begin
				if nextval('hiccups') = 1 then raise exception 'the error of the test' using errcode = '`+c.code+`'; end if; return new; end $$`)
			contactstest.Execute(t, pool, c.trigger)
			const rows = 3500
			id := begin(t, admin, numbered(rows), nil, nil)
			a := ended(s, admin, id, importCompleted)
			require.EqualValues(t, rows, a.Field("totals.created"))
			var contacts, names int
			var raised bool
			require.NoError(t, pool.QueryRow(t.Context(), `select count(*), count(distinct first_name), (select is_called from hiccups) from contact`).
				Scan(&contacts, &names, &raised))
			require.True(t, raised)
			require.Equal(t, []int{rows, rows}, []int{contacts, names})
			contactstest.Execute(t, pool, `drop function hiccup cascade`)
			contactstest.Execute(t, pool, `drop sequence hiccups`)
		})
	}
}

func TestWhatIsWrongWithAFileOrARow(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a file that cannot be taken ends as failed and the next one goes on", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		pool := s.Kit.DB.Pool
		for _, c := range []struct {
			name, spoil, reason string
			details             object
		}{
			{"its text is gone", `csv = ''`, "The file cannot be read: it must have a row with the names of the columns.", object{"code": "csv_empty"}},
			{"its separator is not allowed", `options = options || '{"separator": ":"}'`,
				"The file cannot be read: it must be auto, a comma, a semicolon, a tab or a bar.", object{"code": "csv_separator"}},
			{"a line is endless", `csv = csv || repeat(',', 20000)`, "The file cannot be read: it must have at most 500 columns.", object{"code": "csv_too_wide", "max": 500.0}},
			{"its mapping fits no column", `mapping = array['', '', '', '', 'phone', 'first_name'], headers = array['first name']`, "", nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				bad := admin.Post("/imports", object{"file_name": "x", "csv": numbered(3)}).Is(201).Text("id")
				contactstest.Execute(t, pool, `update import set status = 'queued', `+c.spoil+` where id = $1`, bad)
				next := begin(t, admin, numbered(3), nil, nil)
				require.EqualValues(t, 3, ended(s, admin, next, importCompleted).Field("totals.created"))
				if c.reason == "" {
					require.EqualValues(t, 3, ended(s, admin, bad, importCompleted).Field("totals.failed"))
					return
				}
				a := ended(s, admin, bad, importFailed)
				require.Equal(t, object{"row": 0.0, "column": "", "code": "svc_invalid_param", "message": c.reason, "dropped": "row", "details": c.details}, a.Field("errors.0"))
				require.NotNil(t, a.Field("finished_at"))
				require.Contains(t, admin.Get("/imports/"+bad+"/errors.csv").Is(200).Body, c.reason)
			})
		}
	})
	t.Run("a row that fails says why by a code and the values of its sentence", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		options := make([]string, 12)
		for i := range options {
			options[i] = fmt.Sprint("Size ", i)
		}
		for _, f := range []object{{"type": "number", "label": "Shoe"}, {"type": "checkbox", "label": "Member"}, {"type": "url", "label": "Site"},
			{"type": "dropdown", "label": "Size", "options": options}} {
			f["entity"] = "contact"
			admin.Post("/fields", f).Is(201)
		}
		ten := []any{}
		for _, o := range options[:10] {
			ten = append(ten, o)
		}
		rows := []struct {
			name, cells string
			details     object
		}{
			{"no address", "A,nowhere,,,,,", object{"code": "email", "example": "name@example.com"}},
			{"a name that is too long", strings.Repeat("n", 101) + ",,,,,,", object{"code": "too_long", "max": 100.0}},
			{"a status of nobody", "A,,friend,,,,", object{"code": "not_one_of", "allowed": []any{"lead", "customer", "inactive"}}},
			{"no number", "A,,,forty,,,", object{"code": "number"}},
			{"neither yes nor no", "A,,,,perhaps,,", object{"code": "type", "type": "true or false"}},
			{"no web address", "A,,,,,http://,", object{"code": "url"}},
			{"none of many options, of which the first ten are named", "A,,,,,,Huge", object{"code": "not_one_of", "allowed": ten}},
			{"nobody at all", ",,lead,,,,", object{"code": "nameless"}},
		}
		text := "first name,email,status,shoe,member,site,size\n"
		for _, r := range rows {
			text += r.cells + "\n"
		}
		a := contactstest.Finished(s, admin, begin(t, admin, text, nil, nil))
		for i, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				require.Equal(t, r.details, a.Field(fmt.Sprint("errors.", i, ".details")))
				require.NotEmpty(t, a.Text(fmt.Sprint("errors.", i, ".message")))
			})
		}
	})
	t.Run("a contact gets at most a hundred tags", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		tags := func(prefix string, n int) string {
			list := make([]string, n)
			for i := range list {
				list[i] = fmt.Sprint(prefix, i)
			}
			return `"` + strings.Join(list, ",") + `"`
		}
		admin.Post("/contacts", object{"email": "has@example.com", "tags": strings.Split(strings.Trim(tags("old", 60), `"`), ",")}).Is(201)
		text := "email,labels\n" +
			"99@example.com," + tags("t", 99) + "\n" +
			"100@example.com," + tags("t", 100) + "\n" +
			"101@example.com," + tags("never", 101) + "\n" +
			"has@example.com," + tags("t", 40) + "\n" +
			"has@example.com," + tags("t", 39) + "\n"
		id := begin(t, admin, text, object{"options": object{"tag": "Imported"}}, nil)
		a := contactstest.Finished(s, admin, id)
		require.Equal(t, object{"rows": 5.0, "created": 3.0, "updated": 2.0, "skipped": 0.0, "failed": 0.0, "cells": 3.0}, a.Field("totals"))
		for i, row := range []float64{3, 4, 5} {
			require.Equal(t, object{"row": row, "column": "labels", "code": "svc_invalid_param", "message": "tags must have at most 100 items",
				"dropped": "cell", "details": object{"code": "too_many", "max": 100.0}}, a.Field(fmt.Sprint("errors.", i)))
		}
		require.Len(t, admin.Get("/contacts?search=99%40example.com").Field("items.0.tags"), 100)
		require.Len(t, admin.Get("/contacts?search=has%40example.com").Field("items.0.tags"), 100)
		require.NotContains(t, admin.Get("/tags").Body, "never", "a cell that is left out makes no tags")
		require.Equal(t, []any{"Imported"}, admin.Get("/contacts?search=101%40example.com").Field("items.0.tags"))
	})
}

func TestARowThatCannotBeStoredIsNotedAndTheOthersAreImported(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	contactstest.Execute(t, s.Kit.DB.Pool, `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
	contactstest.Execute(t, s.Kit.DB.Pool, `create trigger refuse before insert on contact for each row when (new.first_name in ('N7', 'N8', 'N44')) execute function refuse()`)
	a := ended(s, admin, begin(t, admin, numbered(60), nil, nil), importCompleted)
	require.Equal(t, object{"rows": 60.0, "created": 57.0, "updated": 0.0, "skipped": 0.0, "failed": 3.0, "cells": 0.0}, a.Field("totals"))
	for i, row := range []float64{9, 10, 46} {
		require.Equal(t, object{"row": row, "column": "", "code": "svc_internal", "message": "the row could not be stored", "dropped": "row", "details": object{"code": "not_stored"}}, a.Field(fmt.Sprint("errors.", i)))
	}
}

func TestAnImportWhoseOutcomeCannotBeStoredIsSetAside(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	pool := s.Kit.DB.Pool
	contactstest.Execute(t, pool, `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
	bad := begin(t, admin, "email\nno address\n", nil, func(id string) {
		contactstest.Execute(t, pool, `create trigger refuse before insert on import_error for each row when (new.import_id = '`+id+`') execute function refuse()`)
	})
	next := begin(t, admin, numbered(3), nil, nil)
	ended(s, admin, next, importCompleted)
	require.NotEqual(t, importFailed, admin.Get("/imports/"+bad).Text("status"))
	contactstest.Execute(t, pool, `drop trigger refuse on import_error`)
	require.Equal(t, "The rows that follow could not be imported.", ended(s, admin, bad, importFailed).Text("errors.0.message"))
}

func TestAnImportAsksForThePermissionOfItsStarterAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	// goOn gives an import as another replica left it after the first of three rows.
	goOn := func(t *testing.T, user int64) string {
		id := admin.Post("/imports", object{"file_name": "x", "csv": "email,first name\ndone@example.com,\nnew@example.com,\ntheirs@example.com,Taken\n"}).Is(201).Text("id")
		contactstest.Execute(t, s.Kit.DB.Pool, `update import set status = 'running', done_row = 2, created = 1, user_id = $2, actor = jsonb_build_object('user_id', $2::bigint, 'label', 'X') where id = $1`, id, user)
		return id
	}
	s.Role("custom", "own", auth.ViewContacts, auth.ImportContacts)
	s.Role("viewer", "all", auth.ViewContacts)
	importer, viewer := s.As("custom"), s.As("viewer")
	s.Eventually(func() bool { return importer.Get("/contacts").Status == 200 && viewer.Get("/contacts").Status == 200 })
	theirs := admin.Post("/contacts", object{"email": "theirs@example.com"}).Is(201).Text("id")
	for _, c := range []struct {
		name string
		user int64
	}{{"without the permission", viewer.UserID}, {"on no team", s.As("nobody").UserID}, {"who is not known", 424242}, {"none", 0}} {
		t.Run(c.name, func(t *testing.T) {
			a := ended(s, admin, goOn(t, c.user), importFailed)
			require.Equal(t, object{"row": 0.0, "column": "", "code": "svc_forbidden",
				"message": "Who started the import may no longer import contacts. Rows that were done before stay.", "dropped": "row", "details": object{"code": "may_not_import"}}, a.Field("errors.0"))
			require.EqualValues(t, 1, a.Field("totals.created"))
			require.EqualValues(t, 0, admin.Get("/contacts?search=new%40example.com").Field("total"))
		})
	}
	t.Run("who sees only their own", func(t *testing.T) {
		a := ended(s, admin, goOn(t, importer.UserID), importCompleted)
		require.EqualValues(t, 2, a.Field("totals.created"))
		require.Equal(t, "svc_duplicate", a.Text("errors.0.code"))
		require.Equal(t, object{"code": "somebody_else"}, a.Field("errors.0.details"))
		require.Equal(t, "", admin.Get("/contacts/"+theirs).Is(200).Text("first_name"))
		require.EqualValues(t, importer.UserID, admin.Get("/contacts?search=new%40example.com").Field("items.0.owner_user_id"))
	})
}

const (
	importingDatabase = "TEST_IMPORTING_DATABASE"
	importingUser     = 7
)

// importing is a service without anything but a database and a person who may import.
func importing(t *testing.T, url string) *Room {
	t.Helper()
	d, err := db.Open(t.Context(), url, "contacts")
	require.NoError(t, err)
	t.Cleanup(d.Close)
	b := bus.New("127.0.0.1:1", bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	k := &app.Kit{DB: d, Bus: b, Identity: auth.NewIdentity(b), Site: app.NewSite(b)}
	k.Identity.Table.Put("user", &proto.Identity{Record: &proto.Identity_User{User: &proto.User{Id: importingUser, Roles: []string{auth.SiteAdmin}}}})
	return room(k)
}

// TestImportingProcess lets a copy of this test binary be a process that imports until it is killed.
func TestImportingProcess(t *testing.T) {
	url := os.Getenv(importingDatabase)
	if url == "" {
		t.Skip("run by TestAKilledImportStoresEachRowOnce")
	}
	for r := newImporter(importing(t, url)); ; {
		if worked, err := r.batch(t.Context()); err != nil || !worked {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func TestAKilledImportStoresEachRowOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "contacts", os.DirFS("../contacts"))
	s := importing(t, url)
	const rows = 9000
	id := uuid.New()
	contactstest.Execute(t, s.DB.Pool, `insert into import (id, user_id, actor, file_name, csv, status, headers, mapping, options, preview, rows, created_at)
		values ($1, $2, jsonb_build_object('user_id', $2::bigint, 'label', 'X'), 'x', $3, 'queued', array['first name', 'last name'], array['first_name', 'last_name'],
			'{"duplicates": "fill_empty", "tag": "", "separator": "auto"}', '[]', $4, now())`, id, importingUser, numbered(rows), rows)
	done := func() (row int, status string) {
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select done_row, status from import where id = $1`, id).Scan(&row, &status))
		return row, status
	}
	kills := 0
	for until := time.Now().Add(time.Minute); ; kills++ {
		if _, status := done(); status == importCompleted {
			break
		}
		require.True(t, time.Now().Before(until), "the import does not end")
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestImportingProcess$")
		process.Env = append(os.Environ(), importingDatabase+"="+url)
		require.NoError(t, process.Start())
		at, _ := done()
		for now, status := at, ""; now == at && status != importCompleted && time.Now().Before(until); now, status = done() {
			time.Sleep(2 * time.Millisecond)
		}
		// Somewhere in the batch behind the first one.
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		require.NoError(t, process.Process.Kill())
		_ = process.Wait()
	}
	require.Greater(t, kills, 1)
	var contacts, names, entries, created, events int
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select count(*), count(distinct first_name), (select count(*) from activity), (select created from import),
		(select count(*) from outbox) from contact`).Scan(&contacts, &names, &entries, &created, &events))
	require.Equal(t, []int{rows, rows, rows, rows, rows}, []int{contacts, names, entries, created, events})
}

func TestAnImportWhoseConnectionIsCutStoresEachRowOnce(t *testing.T) {
	t.Parallel()
	s := importing(t, dbtest.URL(t, "contacts", os.DirFS("../contacts")))
	const rows = 5000
	contactstest.Execute(t, s.DB.Pool, `insert into import (id, user_id, actor, file_name, csv, status, headers, mapping, options, preview, rows, created_at)
		values ($1, $2, jsonb_build_object('user_id', $2::bigint, 'label', 'X'), 'x', $3, 'queued', array['first name', 'last name'], array['first_name', 'last_name'],
			'{"duplicates": "fill_empty", "tag": "", "separator": "auto"}', '[]', $4, now())`, uuid.New(), importingUser, numbered(rows), rows)
	r := newImporter(s)
	for status, cut := "", 1; status != importCompleted; cut++ {
		// Later and later, so that the cut comes behind each statement and the import ends nevertheless.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(cut*10)*time.Millisecond)
		_, _ = r.batch(ctx)
		cancel()
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select status from import`).Scan(&status))
	}
	var contacts, names, created int
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select count(*), count(distinct first_name), (select created from import) from contact`).Scan(&contacts, &names, &created))
	require.Equal(t, []int{rows, rows, rows}, []int{contacts, names, created})
}

func TestAPanicSetsItsImportAside(t *testing.T) {
	t.Parallel()
	s := importing(t, dbtest.URL(t, "contacts", os.DirFS("../contacts")))
	id := uuid.New()
	contactstest.Execute(t, s.DB.Pool, `insert into import (id, user_id, actor, file_name, csv, status, headers, mapping, options, preview, created_at)
		values ($1, 1, '{}', 'x', 'x', 'queued', '{}', '{}', '{}', '[]', now())`, id)
	s.Identity = nil
	r := newImporter(s)
	for range len(batchSizes) + 2 {
		worked, err := r.batch(t.Context())
		require.NoError(t, err)
		require.True(t, worked)
	}
	require.Equal(t, []uuid.UUID{id}, r.aside.Keys())
	worked, err := r.batch(t.Context())
	require.NoError(t, err)
	require.False(t, worked)
}
