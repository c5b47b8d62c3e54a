package submission

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

func (d *desk) export(query string, separator rune) [][]string {
	d.t.Helper()
	a := d.admin.Get("/exports/submissions.csv" + query).Is(http.StatusOK)
	require.Contains(d.t, a.Header.Get("Content-Type"), "text/csv")
	r := csv.NewReader(strings.NewReader(a.Body))
	r.Comma = separator
	rows, err := r.ReadAll()
	require.NoError(d.t, err)
	return rows
}

func TestAnExportHasAColumnForEachAnswerOverAllVersions(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.addField("submission", "colour", "Colour", "choices", "Red", "Blue")
	consent := m{"id": "terms", "type": "consent", "text": "I agree."}
	d.send(d.form, m{"email": "ann@example.com", "message": "First\nversion"}).Is(200)
	d.admin.Patch("/forms/"+d.form, m{"definition": m{"elements": []any{
		field("mail", "contact.email", "label", "Your address"), field("colour", "submission.fields.colour"), field("other", "contact.last_name", "label", "Message"), consent}}}).Is(200)
	d.send(d.form, m{"mail": "bob@example.com", "colour": []string{"Red", "Blue"}, "other": "=1+1", "terms": true}).Is(200)
	d.send(d.publish(field("phone", "contact.phone")), m{"phone": "+32 470 12 34 56"}).Is(200)

	rows := d.export("?form="+d.form, ',')
	require.Equal(t, []string{"id", "created_at", "form", "status", "contact", "organization", "page", "spam_reason",
		"First name", "Your address", "Message (submission.fields.message)", "Colour", "Message (contact.last_name)", "I agree."}, rows[0])
	require.Len(t, rows, 3)
	require.Equal(t, []string{"", "bob@example.com", "", "Red, Blue", "'=1+1", "Yes"}, rows[1][8:])
	require.Equal(t, []string{"", "ann@example.com", "First\nversion", "", "", ""}, rows[2][8:])

	require.Len(t, d.export("?form=9007199254740991", ','), 1, "no form has this id")
	all := d.export("?separator=%3B&status=received", ';')
	require.Len(t, all, 4)
	require.Equal(t, "Phone", all[0][len(all[0])-1])
	require.Equal(t, "+32 470 12 34 56", all[1][len(all[1])-1])
	require.Len(t, d.export("?status=spam", ','), 1)
	d.admin.Get("/exports/submissions.csv?separator=x").Fails(400, "svc_invalid_param")
}

// A sort would keep the first row back until the last one is read, and fill the server's disk with all of them.
func TestAnExportReadsInTheOrderOfAnIndexHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("site_admin")
	form := admin.Post("/forms", `{"name":"Contact","template":"contact"}`).Is(201).Field("id")
	const many = 20_000
	fill := &pgx.Batch{}
	fill.Queue(`insert into contact (id, version, name, email) select md5(n::text)::uuid, 1, 'Ann', n || '@example.com' from generate_series(1, $1) n`, many)
	fill.Queue(`insert into submission (id, form_id, contact_id, status, result, values, answers, page, email, created_at)
		select gen_random_uuid(), $1, md5(n::text)::uuid, 'received', 'none', '{}', '[]', '', '', now() - random() * interval '1 year' from generate_series(1, $2) n`, form, many)
	fill.Queue(`analyze submission, contact`)
	require.NoError(t, s.Kit.DB.Pool.SendBatch(t.Context(), fill).Close())

	require.Equal(t, many+1, strings.Count(admin.Get("/exports/submissions.csv").Is(200).Body, "\n"))

	planned := 0
	s.OnEach(func(conn *pgxpool.Conn) {
		rows, err := conn.Query(t.Context(), `select name from pg_prepared_statements where statement like '%s.spam_reason%order by%'`)
		require.NoError(t, err)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, name := range names {
			rows, err := conn.Query(t.Context(), `explain execute `+pgx.Identifier{name}.Sanitize(), pgx.QueryExecModeSimpleProtocol)
			require.NoError(t, err)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.NotContains(t, strings.Join(plan, "\n"), "Sort")
			planned++
		}
	})
	require.NotZero(t, planned)
}
