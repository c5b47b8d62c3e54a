package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/services/contacts/contactstest"
)

// imported uploads a file, starts it as it was guessed, and waits for its end.
func imported(t *testing.T, s *apptest.Service, c *apptest.Client, text string) *apptest.Answer {
	t.Helper()
	return contactstest.Finished(s, c, begin(t, c, text, nil, nil))
}

// summed requires that each row of an import is created, updated, skipped or failed.
func summed(t *testing.T, a *apptest.Answer) {
	t.Helper()
	n := func(name string) float64 { return a.Field("totals." + name).(float64) }
	require.Equal(t, n("rows"), n("created")+n("updated")+n("skipped")+n("failed"))
}

// found is the contact that a search finds, which has to be one.
func found(t *testing.T, c *apptest.Client, search string) *apptest.Answer {
	t.Helper()
	a := c.Get("/contacts?search=" + strings.ReplaceAll(search, "@", "%40")).Is(200)
	require.EqualValues(t, 1, a.Field("total"), search)
	return c.Get("/contacts/" + a.Text("items.0.id")).Is(200)
}

func TestAStrayQuoteCostsItsRowOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "Note"}).Is(201)
	a := imported(t, s, admin, "first_name,last_name,email,Note\nAnn,U,ann@example.com,\"5 cm heel\nBob,U,bob@example.com,tea\nCas,U,cas@example.com,\nDea,U,dea@example.com,\n")
	require.Equal(t, object{"rows": 4.0, "created": 3.0, "updated": 0.0, "skipped": 0.0, "failed": 1.0, "cells": 0.0}, a.Field("totals"))
	require.Equal(t, []any{2.0, "row", "quotes"}, []any{a.Field("errors.0.row"), a.Field("errors.0.dropped"), a.Field("errors.0.details.code")})
	require.Contains(t, admin.Get("/imports/"+a.Text("id")+"/errors.csv").Is(200).Body, "Ann,U,ann@example.com,")
	a = imported(t, s, admin, "Voornaam;Naam;E-mail\n\"De Linde\" vzw;V;linde@example.com\nEva;V;eva@example.com\n")
	require.EqualValues(t, 2, a.Field("totals.created"))
	require.Equal(t, `"De Linde" vzw`, found(t, admin, "linde@example.com").Text("first_name"))
}

func TestACellThatCannotBeReadCostsTheCell(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.SetSite("general", object{"country": "BE"})
	admin := s.As("svc_admin")
	admin.Post("/fields", object{"entity": "contact", "type": "number", "label": "Shoe"}).Is(201)
	admin.Post("/fields", object{"entity": "contact", "type": "url", "label": "Site"}).Is(201)
	a := contactstest.Finished(s, admin, begin(t, admin, "first name,email,status,shoe,site,gsm\n"+
		"Ann,ann@example.com,friend,forty,http://,3.24701E+10\n"+
		"Bob,nowhere,lead,40,,\n"+
		",,lead,x,,\n"+
		"Cas,,lead,41,,0470 12 34 56\n", object{"mapping": []string{"first_name", "email", "status", "fields.shoe", "fields.site", "phone"}}, nil))
	require.Equal(t, object{"rows": 4.0, "created": 2.0, "updated": 0.0, "skipped": 0.0, "failed": 2.0, "cells": 4.0}, a.Field("totals"))
	var got []string
	for i := range 6 {
		at := fmt.Sprint("errors.", i, ".")
		got = append(got, fmt.Sprint(a.Field(at+"row"), a.Field(at+"column"), a.Field(at+"dropped"), a.Field(at+"details.code")))
	}
	require.Equal(t, []string{"2statuscellnot_one_of", "2shoecellnumber", "2sitecellurl", "2gsmcellnumber_lost", "3emailrowemail", "4shoerownumber"}, got)
	ann := found(t, admin, "ann@example.com")
	require.Equal(t, []any{"lead", "", object{}}, []any{ann.Field("status"), ann.Field("phone"), ann.Field("fields")})
}

func TestTheErrorsOfAFileAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	a := contactstest.Finished(s, admin, begin(t, admin, "first name,email\n"+strings.Repeat(",x\n", maxErrors+100), nil, nil))
	require.EqualValues(t, maxErrors+100, a.Field("totals.failed"))
	var kept int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from import_error`).Scan(&kept))
	require.Equal(t, maxErrors, kept)
}

func TestOnlyOneWhoStartsAnImportTakesItOver(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	id := admin.Post("/imports", object{"file_name": "x", "csv": "email;Naam\nann@example.com;Ann\n"}).Is(201).Text("id")
	var before, after int64
	owner := func(n *int64) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select user_id from import where id = $1`, id).Scan(n))
	}
	owner(&before)
	other := s.As("svc_admin")
	other.Patch("/imports/"+id, object{"mapping": []string{"email", ""}}).Is(200)
	owner(&after)
	require.Equal(t, before, after)
	kept := other.Patch("/imports/"+id, object{"options": object{"separator": ";"}}).Is(200)
	require.Equal(t, []any{"email", ""}, kept.Field("mapping"), "the columns are the same, and so is their mapping")
	kept = other.Patch("/imports/"+id, object{"options": object{"header": 0}}).Is(200)
	require.Equal(t, []any{[]any{"Column 1", "Column 2"}, 2.0}, []any{kept.Field("headers"), kept.Field("totals.rows")})
	other.Patch("/imports/"+id, object{"options": object{"header": 9}}).Fails(400, "svc_invalid_param")
}
