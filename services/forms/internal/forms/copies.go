package forms

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// fieldTable is the copy of the custom fields.
type fieldTable struct {
	*bus.Table[definition.Field]
	// revision grows with each change.
	revision atomic.Int64
}

func newFieldTable(b *bus.Bus) *fieldTable {
	t := &fieldTable{}
	t.Table = bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (definition.Field, error) {
		var f struct {
			Entity, Key, Label, Type string
			Options                  []string
			Archived                 bool
		}
		_, err := record(value, &f)
		return definition.Field(f), err
	})
	t.Watch(func(string, definition.Field, bool) { t.revision.Add(1) })
	return t
}

// list is all fields, archived ones too.
func (t *fieldTable) list() []definition.Field {
	var fields []definition.Field
	for _, f := range t.All() {
		fields = append(fields, f)
	}
	return fields
}

// page is a page of the site, as far as forms go.
type page struct {
	ID        int64
	Title     string
	URL       string
	EditURL   string
	Status    string
	Published bool
	Gone      bool
	// Forms are the ids of those that it shows.
	Forms []int64
	// Asked is the request that the newest change answers, Created whether it made the page.
	Asked   string
	Created bool
}

// pageTable is the copy of the pages.
type pageTable struct {
	*bus.Table[page]

	mu      sync.Mutex
	waiting map[string]chan page // by request
}

var shortcode = regexp.MustCompile(`\[svc-form\s+id=["']?([0-9]{1,18})["']?\s*\]`)

func newPageTable(b *bus.Bus) *pageTable {
	t := &pageTable{waiting: map[string]chan page{}}
	t.Table = bus.NewTable(b, proto.PageTopic, func(_ string, value []byte) (page, error) {
		var p struct {
			ID                          int64
			Title, URL, Status, Content string
			EditURL                     string `json:"edit_url"`
		}
		env, err := record(value, &p)
		if err != nil {
			return page{}, err
		}
		out := page{ID: p.ID, Title: p.Title, URL: p.URL, EditURL: p.EditURL, Status: p.Status, Gone: env.GetKind() == "page.deleted"}
		out.Published = p.Status == "publish" && !out.Gone
		for _, m := range shortcode.FindAllStringSubmatch(p.Content, -1) {
			if id, err := strconv.ParseInt(m[1], 10, 64); err == nil && !slices.Contains(out.Forms, id) {
				out.Forms = append(out.Forms, id)
			}
		}
		if len(env.GetExtra()) > 0 {
			var x struct {
				RequestID string `json:"request_id"`
				Created   bool   `json:"created"`
			}
			if err := json.Unmarshal(env.GetExtra(), &x); err != nil {
				return out, err
			}
			out.Asked, out.Created = x.RequestID, x.Created
		}
		return out, nil
	})
	t.Watch(t.answer)
	return t
}

// await registers a request; the channel gets the page that answers it.
func (t *pageTable) await(request string) (answer <-chan page, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan page, 1)
	t.waiting[request] = c
	return c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, request)
	}
}

func (t *pageTable) answer(_ string, p page, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.waiting[p.Asked]
	if gone || c == nil {
		return
	}
	select {
	case c <- p:
	default: // it is answered already
	}
}

// showing are the published pages by form, in the order of their ids.
func (t *pageTable) showing() map[int64][]page {
	by := map[int64][]page{}
	for _, p := range t.All() {
		if !p.Published {
			continue
		}
		for _, id := range p.Forms {
			by[id] = append(by[id], p)
		}
	}
	for _, pages := range by {
		slices.SortFunc(pages, func(a, b page) int { return int(a.ID - b.ID) })
	}
	return by
}

// record decodes the record in an envelope into v.
func record(value []byte, v any) (*proto.Envelope, error) {
	env := &proto.Envelope{}
	if err := protobuf.Unmarshal(value, env); err != nil {
		return env, err
	}
	return env, json.Unmarshal(env.GetData(), v)
}
