package op

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"frontdesk/libs/db"
)

// AddDocument is AddOutside for a GET whose answer is one file of a media type. Its ETag is the hash of the file, and who has that one is answered
// 304. Callers may keep the file and have to ask each time whether it is still the same.
func AddDocument[In any](s *Set, o Op, media string, f func(context.Context, *db.DB, In) ([]byte, error)) {
	e := newEntry(s, o, reflect.TypeFor[In](), reflect.TypeFor[None]())
	e.Media, e.Kept = media, true
	e.bindTo(func(ctx context.Context, r *request, in any) (any, error) {
		body, err := f(ctx, s.DB, *in.(*In))
		if err != nil {
			return nil, err
		}
		return &document{media, body, r.http.Header.Values("If-None-Match")}, nil
	})
}

// document is the answer of AddDocument. has are the tags of what the caller has.
type document struct {
	media string
	body  []byte
	has   []string
}

func (d *document) send(w http.ResponseWriter) error {
	sum := sha256.Sum256(d.body)
	tag := strconv.Quote(hex.EncodeToString(sum[:16]))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	for has := range strings.SplitSeq(strings.Join(d.has, ","), ",") {
		// Proxies that compress make tags weak.
		if has = strings.TrimPrefix(strings.TrimSpace(has), "W/"); has == tag || has == "*" {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	w.Header().Set("Content-Type", d.media+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(d.body)))
	// The error is the client's: it has closed the connection.
	_, _ = w.Write(d.body)
	return nil
}
