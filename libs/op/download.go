package op

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/csvcell"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// AddDownload is Add for an answer that is a CSV file. f writes it in one read-only transaction, which sees a single state of
// the data. The rows go to a temporary file, and from there to the client at the same time, so a slow client keeps no
// connection of the database. An error before the first byte is answered as usual. After it the connection is cut, so that
// nobody takes a part of the file for the whole. A client who takes nothing for stalledAfter is cut off too.
//
// A process sends maxFiles at once, filesEach to one credential: beyond that it answers svc_unavailable and svc_rate_limited.
func AddDownload[In any](s *Set, o Op, f func(context.Context, *db.Tx, In, *Download) error) {
	e := newEntry(s, o, reflect.TypeFor[In](), reflect.TypeFor[None]())
	e.Download, e.Media = true, "text/csv"
	e.bindTo(func(ctx context.Context, r *request, in any) (any, error) {
		return e.download(ctx, r, func(ctx context.Context, tx *db.Tx, d *Download) error { return f(ctx, tx, *in.(*In), d) })
	})
}

// download is the file that write writes in one transaction.
func (e *Entry) download(ctx context.Context, r *request, write func(context.Context, *db.Tx, *Download) error) (*file, error) {
	return e.file(ctx, r, func(ctx context.Context, d *Download) error {
		return e.set.DB.Read(db.Within(ctx, db.Exports), func(tx *db.Tx) error {
			if d.name != "" {
				return errors.New("op: " + e.ID + " began to write and cannot run again")
			}
			d.marked = tx.Who.Channel == db.ChannelApp
			if err := write(ctx, tx, d); err != nil {
				return err
			}
			return d.flush()
		})
	})
}

// file is the answer that write makes, once there is room for one more and the audit log has it.
func (e *Entry) file(ctx context.Context, r *request, write func(context.Context, *Download) error) (*file, error) {
	leave, err := e.set.files.Enter(r.actor.Credential, true)
	if err != nil {
		return nil, err
	}
	if e.Audited {
		if err := e.set.DB.Do(ctx, func(tx *db.Tx) error { return e.audit(ctx, tx, r, nil) }); err != nil {
			leave()
			return nil, err
		}
	}
	return &file{ctx: ctx, leave: leave, media: e.Media, write: write}, nil
}

// Download is a file that is being written.
type Download struct {
	to    io.Writer
	name  string
	csv   *csv.Writer
	rows  int
	cells []string
	// marked is true for a person in the app: their spreadsheet takes a file without a byte order mark for another encoding.
	marked bool
}

// Separator stands between the cells of a CSV file: a comma, also when it is empty, or a semicolon. Callers ask for one of these; a file that
// answers another may have its tab.
type Separator string

// Schema names the two.
func (Separator) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{",", ";"}, Description: "A comma when left out."}
}

// Start names the file and sets the separator. A person in the app gets a byte order mark, which goes out with the first row: what fails before
// that is still answered as an error. Call it before the first row, and after everything that may make the transaction run again.
func (d *Download) Start(fileName string, separator Separator) {
	buffered := bufio.NewWriter(d.to)
	if d.marked {
		_, _ = buffered.WriteString("\ufeff") // an error comes again with the first row
	}
	d.name, d.csv = fileName, csv.NewWriter(buffered) // the writer takes this buffer as its own
	if separator == ";" || separator == "\t" {
		d.csv.Comma = rune(separator[0])
	}
}

// Row writes one row and neutralises cells that a spreadsheet would run. The first row is sent at once.
func (d *Download) Row(cells []string) error {
	d.cells = d.cells[:0]
	for _, cell := range cells {
		d.cells = append(d.cells, csvcell.Neutral(cell))
	}
	if err := d.csv.Write(d.cells); err != nil {
		return err
	}
	if d.rows++; d.rows == 1 || d.rows%100 == 0 {
		return d.flush()
	}
	return nil
}

// Query runs the query of the file's rows. It is planned for the values of its conditions and for the first rows: in the order of an index
// they come at once, where a sort of all rows takes as much room and time as there are rows.
func (d *Download) Query(ctx context.Context, tx *db.Tx, sql string, args ...any) (pgx.Rows, error) {
	if _, err := tx.Exec(ctx, `set local plan_cache_mode = force_custom_plan`); err != nil {
		return nil, err
	}
	// The planner takes a limit that it cannot know for a tenth of the rows.
	return tx.Query(ctx, sql+` limit (select null::bigint)`, args...)
}

func (d *Download) flush() error {
	if d.csv == nil {
		return nil
	}
	d.csv.Flush()
	return d.csv.Error()
}

// longestRead is how long a file may be read from the database.
const longestRead = 10 * time.Minute

// file is the answer of a download. Either send or inMemory writes it, once.
type file struct {
	ctx   context.Context
	leave func()
	media string
	write func(context.Context, *Download) error
}

// send passes the file on to the client while it is written to a spool.
func (f *file) send(w http.ResponseWriter) error {
	defer f.leave()
	unhurried(w)
	spool, err := newSpool()
	if err != nil {
		slog.ErrorContext(f.ctx, "no temporary file for a download", "error", err)
		return fault.Unavailable()
	}
	defer spool.close()
	ctx, cancel := context.WithTimeout(f.ctx, longestRead)
	d := &Download{to: spool}
	var writing sync.WaitGroup
	writing.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				slog.ErrorContext(ctx, "panic in a download", "request_id", RequestID(ctx), "panic", p, "stack", string(debug.Stack()))
				spool.end(errors.New("op: a download panicked"))
			}
		}()
		spool.end(f.write(ctx, d))
	})
	defer writing.Wait()
	defer cancel()

	out := http.NewResponseController(w)
	chunk := make([]byte, 32<<10)
	for at := int64(0); ; {
		n, err := spool.read(chunk, at)
		switch {
		case at == 0 && err != nil && !errors.Is(err, io.EOF):
			return err
		case at == 0 && d.name != "":
			media := f.media
			if media == "text/csv" {
				media += "; charset=utf-8; header=present"
			}
			w.Header().Set("Content-Type", media)
			w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, d.name))
		}
		_ = out.SetWriteDeadline(time.Now().Add(stalledAfter))
		if err == nil {
			at += int64(n)
			if _, err = w.Write(chunk[:n]); err == nil {
				err = out.Flush()
			}
			if err == nil {
				continue
			}
		}
		if errors.Is(err, io.EOF) && out.Flush() == nil {
			_ = out.SetWriteDeadline(time.Time{})
			return nil
		}
		slog.WarnContext(ctx, "a download is cut off", "request_id", RequestID(ctx), "sent", at, "error", err)
		panic(http.ErrAbortHandler)
	}
}
