package db

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/fault"
)

// Page is the part of a list's input that pages through it. Embed it.
type Page struct {
	PerPage int    `json:"per_page,omitempty" minimum:"1" maximum:"100" doc:"Records per page, 20 when left out."`
	Cursor  string `json:"cursor,omitempty" maxLength:"64" doc:"next_cursor of the page before."`
}

// SortedPage is Page for a list that can be sorted by a text, which its cursors hold: db.Page(p) for Tx.Page.
type SortedPage struct {
	PerPage int    `json:"per_page,omitempty" minimum:"1" maximum:"100" doc:"Records per page, 20 when left out."`
	Cursor  string `json:"cursor,omitempty" maxLength:"1200" doc:"next_cursor of the page before, with the same sort."`
}

// List is the answer of every list.
type List[T any] struct {
	Items      []T     `json:"items" doc:"The records of this page."`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page, null on the last."`
	Total      int64   `json:"total" doc:"Records in the whole list, counted with its first page."`
}

// All is a list that fits on one page.
func All[T any](items []T) List[T] {
	if items == nil {
		items = []T{}
	}
	return List[T]{Items: items, Total: int64(len(items))}
}

// Place is where a record stands in a list: at a time, or in the order of a text.
type Place struct {
	At   time.Time
	Text string
	ID   uuid.UUID
}

// Cursor is an opened page: where it starts and how long it is.
type Cursor struct {
	// First is true for the first page: its total has to be counted.
	First bool
	// Place is where the last record of the page before stands; microseconds are kept.
	Place
	// Total is the count that the first page took.
	Total int64
	// Until ends a list of changes: set it on a first page with Tx.ChangesUntil, and the other pages have it too.
	Until time.Time
	// Limit is how many rows to fetch: one more than the page shows, to know whether there is a next.
	Limit int

	bind []byte
	key  []byte
}

const defaultPerPage = 20

// Page opens a page of a list. The cursor is bound to the list, to the filters in and to what the actor
// may see; any other cursor is svc_invalid_cursor.
func (tx *Tx) Page(p Page, list string, in any) (*Cursor, error) {
	c := &Cursor{First: true, Limit: cmp.Or(max(0, p.PerPage), defaultPerPage) + 1, key: tx.secret}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	filters := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &filters); err != nil {
		return nil, err
	}
	delete(filters, "cursor")
	delete(filters, "per_page")
	if c.bind, err = json.Marshal([]any{list, filters, tx.Who.OwnUser()}); err != nil {
		return nil, err
	}
	if p.Cursor != "" {
		err = c.open(p.Cursor)
	}
	return c, err
}

const macSize = 12

func (c *Cursor) mac(payload []byte) []byte {
	m := hmac.New(sha256.New, c.key)
	m.Write(payload)
	m.Write(c.bind)
	return m.Sum(nil)[:macSize]
}

func (c *Cursor) open(text string) error {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 8+16+1+macSize {
		return fault.InvalidCursor()
	}
	payload, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	if !hmac.Equal(mac, c.mac(payload)) {
		return fault.InvalidCursor()
	}
	c.First = false
	c.At = time.UnixMicro(int64(binary.BigEndian.Uint64(payload))).UTC()
	copy(c.ID[:], payload[8:24])
	total, n := binary.Uvarint(payload[24:])
	if n <= 0 {
		return fault.InvalidCursor()
	}
	c.Total = int64(total)
	if rest := payload[24+n:]; len(rest) > 0 {
		until, n := binary.Uvarint(rest)
		if n <= 0 {
			return fault.InvalidCursor()
		}
		if until > 0 {
			c.Until = time.Unix(int64(until), 0).UTC()
		}
		c.Text = string(rest[n:])
	}
	return nil
}

// Next is the cursor of a page that goes on behind a record.
func (c *Cursor) Next(last Place) string {
	payload := binary.BigEndian.AppendUint64(nil, uint64(last.At.UnixMicro()))
	payload = append(payload, last.ID[:]...)
	payload = binary.AppendUvarint(payload, uint64(c.Total))
	switch {
	case !c.Until.IsZero():
		payload = binary.AppendUvarint(payload, uint64(c.Until.Unix()))
	case last.Text != "":
		payload = append(payload, 0)
	}
	payload = append(payload, last.Text...)
	return base64.RawURLEncoding.EncodeToString(append(payload, c.mac(payload)...))
}

// Close makes the answer of rows, which were fetched with c.Limit; key gives a row's sort key.
// Set c.Total before on a first page.
func Close[T any](c *Cursor, rows []T, key func(T) (time.Time, uuid.UUID)) List[T] {
	return CloseAt(c, rows, func(row T) (T, Place) {
		at, id := key(row)
		return row, Place{At: at, ID: id}
	})
}

// CloseAt is Close for a list in any order: item is what a row shows, and where it stands.
func CloseAt[R, T any](c *Cursor, rows []R, item func(R) (T, Place)) List[T] {
	l := List[T]{Items: make([]T, min(len(rows), c.Limit-1)), Total: c.Total}
	var last Place
	for i := range l.Items {
		l.Items[i], last = item(rows[i])
	}
	if len(rows) == c.Limit {
		l.NextCursor = new(c.Next(last))
	}
	return l
}

// NumberID is an integer id as the uuid of a cursor, and Number the way back.
func NumberID(n int64) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// Number is the integer inside an id that NumberID made.
func Number(id uuid.UUID) int64 { return int64(binary.BigEndian.Uint64(id[8:])) }

// After goes on behind the last record of the page before, for lists with the newest first; alias is the table's.
func (w *Where) After(c *Cursor, alias string) { w.Behind(c, Newest(alias)) }

// Order is what a list is sorted by: a key, and among equals the id.
type Order struct {
	// Key and ID are SQL. A key that may be null needs a value in its place.
	Key, ID string
	Desc    bool
	// Text says that Key is a text, else it is a time.
	Text bool
}

// Newest is the order of lists with the newest first; alias is the table's.
func Newest(alias string) Order {
	return Order{Key: alias + ".created_at", ID: alias + ".id", Desc: true}
}

// TextKey is Key if it is a text, for the place of a row; else empty.
func (o Order) TextKey() string {
	if o.Text {
		return o.Key
	}
	return "''"
}

// By is the clause that sorts.
func (o Order) By() string {
	way := ""
	if o.Desc {
		way = " desc"
	}
	return " order by " + o.Key + way + ", " + o.ID + way
}

// Behind goes on behind the last record of the page before, in an order.
func (w *Where) Behind(c *Cursor, o Order) {
	if c.First {
		return
	}
	var key any = c.At
	if o.Text {
		key = c.Text
	}
	than := " > "
	if o.Desc {
		than = " < "
	}
	w.And("("+o.Key+", "+o.ID+")"+than+"(?, ?)", key, c.ID)
}
