package contacts

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestExportsHoldWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.Role("custom", "own", "svc_view_contacts", "svc_export_contacts", "svc_edit_contacts")
	admin, own := s.As("svc_admin"), s.As("custom")
	s.Eventually(func() bool { return own.Get("/contacts").Status == 200 })
	admin.Post("/fields", object{"entity": "contact", "type": "choices", "label": "Colours", "options": []string{"red", "blue"}}).Is(201)
	admin.Post("/contacts", object{"first_name": "=cmd|' /C calc'!A0", "phone": "+32 470 12 34 56", "email": "a@example.com", "tags": []string{"x", "y"},
		"fields": object{"colours": []string{"blue", "red"}}}).Is(201)
	mine := own.Post("/contacts", object{"first_name": "Mine; mine"}).Is(201).Text("id")
	read := func(body string, comma rune) [][]string {
		r := csv.NewReader(strings.NewReader(body))
		r.Comma = comma
		rows, err := r.ReadAll()
		require.NoError(t, err)
		return rows
	}
	a := admin.Get("/exports/contacts.csv").Is(200)
	require.Equal(t, "text/csv; charset=utf-8; header=present", a.Header.Get("Content-Type"))
	rows := read(a.Body, ',')
	require.Len(t, rows, 3)
	require.Equal(t, "Colours", rows[0][15])
	require.Equal(t, "'=cmd|' /C calc'!A0", rows[2][1])
	require.Equal(t, "+32 470 12 34 56", rows[2][4])
	require.Equal(t, "x, y", rows[2][9])
	require.Equal(t, "red, blue", rows[2][15])
	require.Len(t, read(admin.Get("/exports/contacts.csv?ids="+mine).Is(200).Body, ','), 2)
	require.Len(t, read(admin.Get("/exports/contacts.csv?search=cmd").Is(200).Body, ','), 2)
	rows = read(own.Get("/exports/contacts.csv?separator=%3B").Is(200).Body, ';')
	require.Len(t, rows, 2)
	require.Equal(t, "Mine; mine", rows[1][1])
	admin.Get("/exports/contacts.csv?separator=x").Fails(400, "svc_invalid_param")
	require.Equal(t, rows, read(own.Get("/exports/contacts.csv?separator=,").Is(200).Body, ','))
	admin.Get("/exports/organizations.csv?separator=;").Is(200)

	o := admin.Post("/organizations", object{"name": "O"}).Is(201).Text("id")
	admin.Put("/organizations/"+o+"/contacts/"+mine, nil).Is(204)
	rows = read(admin.Get("/exports/organizations.csv").Is(200).Body, ',')
	require.Equal(t, "contacts_count", rows[0][11])
	require.Equal(t, "1", rows[1][11])
	audited := 0
	for _, e := range s.Events(proto.AuditTopic) {
		if strings.Contains(string(e.GetData()), "export-contacts") {
			audited++
		}
	}
	require.Equal(t, 5, audited)
}

func TestAnExportOfMuchIsAFileToItsEnd(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	require.NoError(t, s.Kit.DB.Do(db.WithActor(t.Context(), db.Actor{}), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `insert into contact (id, first_name, source, created_at, updated_at)
			select gen_random_uuid(), 'N' || n, repeat('x', 2000), date_trunc('second', now()), date_trunc('second', now()) from generate_series(1, 20000) n`)
		return err
	}))
	a := admin.Get("/exports/contacts.csv").Is(http.StatusOK)
	require.Equal(t, 20001, strings.Count(a.Body, "\n"))
	require.EqualValues(t, 20000, admin.Get("/contacts").Is(200).Field("total"))

	// A client that goes away in the middle is not written for any more.
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/exports/contacts.csv", nil)
	require.NoError(t, err)
	req.AddCookie(&http.Cookie{Name: auth.Cookie, Value: fmt.Sprint("session-of-", s.AsSession("svc_admin").UserID)})
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = res.Body.Read(make([]byte, 100))
	require.NoError(t, err)
	beside := s.Begin()
	require.NoError(t, beside.Rollback(t.Context()))
	running := func() (n int) {
		require.NoError(t, beside.Conn().QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database()
			and state <> 'idle' and query like '%c.tags, array[coalesce(po.name%' and pid <> pg_backend_pid()`).Scan(&n))
		return n
	}
	// The header is sent before the query begins.
	s.Eventually(func() bool { return running() == 1 })
	leave()
	_ = res.Body.Close()
	s.Eventually(func() bool { return running() == 0 })
}
