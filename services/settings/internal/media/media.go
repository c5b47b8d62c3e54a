package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/row"
)

const (
	// Path is where pictures stand, for everybody. It is a part of the path that belongs to this service.
	Path = "/_ui/settings/media/"
	// most is how many pictures a site may have.
	most = 200
	// decoders is how many pictures a process decodes at once: each takes up to 64 MB.
	decoders = 2
)

// media is a picture of the site's own.
type media struct {
	ID        int64     `json:"id" doc:"The id of the record."`
	URL       string    `json:"url" doc:"Public. What stands there never changes."`
	Width     int       `json:"width" doc:"Its width in pixels."`
	Height    int       `json:"height" doc:"Its height in pixels."`
	Name      string    `json:"name" doc:"The file's name as it was sent; empty without one."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
}

// stored is a row of the table media without its body.
type stored struct {
	ID        int64
	Name      string
	Kind      string
	Hash      string
	Width     int
	Height    int
	CreatedAt time.Time
}

const columns = `id, name, kind, hash, width, height, created_at`

// path is where the picture stands on the site.
func (m stored) path() string { return fmt.Sprintf("%s%d-%s.%s", Path, m.ID, m.Hash, m.Kind) }

func (r *Room) shown(m stored) media {
	return media{ID: m.ID, URL: r.Config.PublicURL + m.path(), Width: m.Width, Height: m.Height, Name: m.Name, CreatedAt: m.CreatedAt}
}

// mediaID is the input of operations with nothing but a picture's id.
type mediaID struct {
	ID int64 `json:"id" minimum:"1"`
}

// upload decodes a picture outside of a transaction, which may take seconds, and stores it as it was encoded anew.
func (r *Room) upload(ctx context.Context, d *db.DB, in op.File) (media, error) {
	select {
	case r.decoders <- struct{}{}:
	case <-ctx.Done():
		return media{}, fault.Unavailable()
	}
	p, err := encodePicture(in.Bytes)
	<-r.decoders
	if err != nil {
		return media{}, err
	}
	sum := sha256.Sum256(p.Body)
	m := stored{Name: fileName(in.Name), Kind: p.Kind, Hash: base64.RawURLEncoding.EncodeToString(sum[:9]), Width: p.Width, Height: p.Height}
	err = d.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.media", ""); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `select count(*) from media`).Scan(&count); err != nil {
			return fmt.Errorf("count pictures: %w", err)
		}
		if count >= most {
			return fault.Conflict("too_many", "There are too many pictures. Delete one first.")
		}
		m.CreatedAt = tx.Now
		err := tx.QueryRow(ctx, `insert into media (name, kind, hash, width, height, body, created_at) values ($1, $2, $3, $4, $5, $6, $7) returning id`,
			m.Name, m.Kind, m.Hash, m.Width, m.Height, p.Body, m.CreatedAt).Scan(&m.ID)
		if err != nil {
			return fmt.Errorf("store a picture: %w", err)
		}
		return op.Audit(ctx, tx, "upload-media", "media", row.Key(m.ID))
	})
	return r.shown(m), err
}

// fileName is the last part of a name as somebody sent it, on one line and at most 190 characters.
func fileName(sent string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(sent, ""), `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if name == "." || name == "/" {
		return ""
	}
	if runes := []rune(name); len(runes) > 190 {
		name = string(runes[:190])
	}
	return name
}

func (r *Room) list(ctx context.Context, tx *db.Tx, in struct{ db.Page }) (db.List[media], error) {
	c, err := tx.Page(in.Page, "media", in)
	if err != nil {
		return db.List[media]{}, err
	}
	where := &db.Where{}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from media`).Scan(&c.Total); err != nil {
			return db.List[media]{}, fmt.Errorf("count pictures: %w", err)
		}
	} else {
		where.And("id < ?", db.Number(c.ID))
	}
	all, err := db.Rows[stored](ctx, tx, db.LimitTo(`select `+columns+` from media where `+where.String()+` order by id desc`, c.Limit), where.Args...)
	if err != nil {
		return db.List[media]{}, fmt.Errorf("list pictures: %w", err)
	}
	shown := make([]media, len(all))
	for i, m := range all {
		shown[i] = r.shown(m)
	}
	return db.Close(c, shown, func(m media) (time.Time, uuid.UUID) { return m.CreatedAt, db.NumberID(m.ID) }), nil
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in mediaID) (media, error) {
	m, err := byID(ctx, tx, in.ID)
	return r.shown(m), err
}

// PathOf is where a picture stands on the site; 404 for an unknown one.
func PathOf(ctx context.Context, tx *db.Tx, id int64) (string, error) {
	m, err := byID(ctx, tx, id)
	return m.path(), err
}

// byID reads a picture without its body; 404 for an unknown one.
func byID(ctx context.Context, tx *db.Tx, id int64) (stored, error) {
	return db.Find[stored](ctx, tx, fault.NotFound("picture"), `select `+columns+` from media where id = $1`, id)
}

// remove deletes a picture that is not the logo; 409 in_use while it is. It locks the portal's settings, so that it
// cannot become the logo meanwhile.
func (r *Room) remove(ctx context.Context, tx *db.Tx, in mediaID) (op.None, error) {
	logo, err := r.logo(ctx, tx)
	if err != nil {
		return op.None{}, err
	}
	if logo != nil && *logo == in.ID {
		return op.None{}, fault.Conflict("in_use", "This picture is the logo. Choose another one first.")
	}
	tag, err := tx.Exec(ctx, `delete from media where id = $1`, in.ID)
	if err != nil {
		return op.None{}, fmt.Errorf("delete picture %d: %w", in.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return op.None{}, fault.NotFound("picture")
	}
	return op.None{}, nil
}

var served = regexp.MustCompile(`^([1-9][0-9]{0,17})-([A-Za-z0-9_-]{12})\.(png|jpg)$`)

// Show serves pictures to everybody. An address holds the hash of its content, so it may be kept for ever.
func (r *Room) Show(w http.ResponseWriter, req *http.Request) {
	match := served.FindStringSubmatch(strings.TrimPrefix(req.URL.Path, Path))
	if match == nil {
		http.NotFound(w, req)
		return
	}
	id, _ := strconv.ParseInt(match[1], 10, 64)
	var body []byte
	err := r.DB.Read(req.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(req.Context(), `select body from media where id = $1 and hash = $2 and kind = $3`, id, match[2], match[3]).Scan(&body)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		http.NotFound(w, req)
		return
	}
	if err != nil {
		op.WriteFault(req.Context(), err, w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", map[string]string{"png": "image/png", "jpg": "image/jpeg"}[match[3]])
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", strconv.Quote(match[2]))
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(body))
}
