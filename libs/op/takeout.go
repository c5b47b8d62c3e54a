package op

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/csvcell"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// List is all rows of a query, whoever may see them. The columns of the query name the cells; secrets are not among them.
type List struct{ Name, Query string }

// Manifest says what is in a takeout. A file without a matching sum is not whole.
type Manifest struct {
	// Version of this layout.
	Version int       `json:"version"`
	MadeAt  time.Time `json:"made_at"`
	Lists   []Listed  `json:"lists"`
}

// Listed is a file of a takeout.
type Listed struct {
	Name   string `json:"name"`
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

// ManifestName is the file of a takeout that holds its Manifest.
const ManifestName = "manifest.json"

var errAdminOnly = fault.Refused("admin_only", "Only an administrator of the site may do this.")

// AddTakeout is AddDownload for a zip file with lists of a service, each as <name>.csv and <name>.json beside a Manifest. They show one state of the
// data. Administrators of the site get it, in a session.
func AddTakeout(s *Set, o Op, lists ...List) {
	addZip(s, o, func(ctx context.Context, d *Download) error {
		return s.DB.Read(db.Within(ctx, db.Exports), func(tx *db.Tx) error {
			if d.name != "" {
				return errors.New("op: " + o.ID + " began to write and cannot run again")
			}
			// A first query may fail because the database is away: nothing is written before.
			if err := tx.QueryRow(ctx, `select 1`).Scan(new(int)); err != nil {
				return err
			}
			d.name = s.Service + ".zip"
			z, m := zip.NewWriter(d.to), Manifest{Version: 1, MadeAt: tx.Now}
			for _, l := range lists {
				for _, write := range []writer{{".csv", l.csv}, {".json", l.json}} {
					listed, err := write.to(ctx, tx, z, l.Name)
					if err != nil {
						return fmt.Errorf("take out %s%s: %w", l.Name, write.suffix, err)
					}
					m.Lists = append(m.Lists, listed)
				}
			}
			return m.Close(z)
		})
	})
}

// AddArchive is AddTakeout for a zip file that f writes, such as of the takeouts of all services. f names the file before its first byte.
func AddArchive(s *Set, o Op, name string, f func(ctx context.Context, to func() io.Writer) error) {
	addZip(s, o, func(ctx context.Context, d *Download) error {
		return f(ctx, func() io.Writer {
			d.name = name
			return d.to
		})
	})
}

func addZip(s *Set, o Op, write func(context.Context, *Download) error) {
	if !o.PersonOnly || !o.Audited || o.Ability != "-" {
		panic("op: " + o.ID + " is for a person alone, and in the audit log")
	}
	o.Fails = Fails{"svc_forbidden admin_only": "The caller is no administrator of the site."}
	e := newEntry(s, o, reflect.TypeFor[None](), reflect.TypeFor[None]())
	e.Download, e.Media = true, "application/zip"
	e.bindTo(func(ctx context.Context, r *request, _ any) (any, error) {
		if !slices.Contains(r.actor.Roles, "site_admin") {
			return nil, errAdminOnly
		}
		return e.file(ctx, r, write)
	})
}

// Close writes the manifest, and ends the file.
func (m Manifest) Close(z *zip.Writer) error {
	w, err := z.Create(ManifestName)
	if err != nil {
		return err
	}
	encoded := json.NewEncoder(w)
	encoded.SetIndent("", "  ")
	if err := encoded.Encode(m); err != nil {
		return err
	}
	return z.Close()
}

type writer struct {
	suffix string
	write  func(context.Context, *db.Tx, *bufio.Writer) (rows int, err error)
}

// to adds a file to z.
func (w writer) to(ctx context.Context, tx *db.Tx, z *zip.Writer, name string) (Listed, error) {
	file, err := z.CreateHeader(&zip.FileHeader{Name: name + w.suffix, Method: zip.Deflate, Modified: tx.Now})
	if err != nil {
		return Listed{}, err
	}
	sum := sha256.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(file, sum), 32<<10)
	rows, err := w.write(ctx, tx, buffered)
	if err == nil {
		err = buffered.Flush()
	}
	return Listed{Name: name + w.suffix, Rows: rows, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// each calls f with every row as JSON, in the order of the columns.
func (l List) each(ctx context.Context, tx *db.Tx, f func(row []byte) error) (n int, err error) {
	rows, err := tx.Query(ctx, `select row_to_json(x)::text from (`+l.Query+`) x`)
	if err != nil {
		return 0, err
	}
	var row []byte
	_, err = pgx.ForEachRow(rows, []any{&row}, func() error {
		n++
		return f(row)
	})
	return n, err
}

func (l List) json(ctx context.Context, tx *db.Tx, w *bufio.Writer) (int, error) {
	between := "[\n"
	n, err := l.each(ctx, tx, func(row []byte) error {
		_, _ = w.WriteString(between) // the writer keeps an error until Flush
		between = ",\n"
		_, err := w.Write(row)
		return err
	})
	if n == 0 {
		_, _ = w.WriteString("[")
	}
	_, _ = w.WriteString("\n]\n")
	return n, err
}

func (l List) csv(ctx context.Context, tx *db.Tx, w *bufio.Writer) (int, error) {
	rows, err := tx.Query(ctx, `select * from (`+l.Query+`) x limit 0`)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return 0, err
	}
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return 0, err
	}
	cells := make([]string, len(names))
	n, err := l.each(ctx, tx, func(row []byte) error {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(row, &values); err != nil {
			return err
		}
		for i, name := range names {
			cells[i] = csvcell.Neutral(cellOf(values[name]))
		}
		return out.Write(cells)
	})
	out.Flush()
	return n, errors.Join(err, out.Error())
}

// cellOf is a text as it is, and another value as JSON.
func cellOf(value json.RawMessage) string {
	var text string
	switch {
	case string(value) == "null":
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	return string(value)
}
