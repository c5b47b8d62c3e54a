package forms

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
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
	Slug      string
	Published bool
	// Forms are the ids of those that it shows.
	Forms []int64
}

type pageTable struct{ *bus.Table[page] }

var shortcode = regexp.MustCompile(`\[svc-form\s+id=["']?([0-9]{1,18})["']?\s*\]`)

func newPageTable(b *bus.Bus) *pageTable {
	return &pageTable{bus.NewTable(b, proto.PageTopic, func(_ string, value []byte) (page, error) {
		var p struct {
			ID                           int64
			Title, Slug, Status, Content string
		}
		kind, err := record(value, &p)
		out := page{ID: p.ID, Title: p.Title, Slug: p.Slug, Published: p.Status == "publish" && kind != "page.deleted"}
		for _, m := range shortcode.FindAllStringSubmatch(p.Content, -1) {
			if id, err := strconv.ParseInt(m[1], 10, 64); err == nil && !slices.Contains(out.Forms, id) {
				out.Forms = append(out.Forms, id)
			}
		}
		return out, err
	})}
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
func record(value []byte, v any) (kind string, err error) {
	var env proto.Envelope
	if err := protobuf.Unmarshal(value, &env); err != nil {
		return "", err
	}
	return env.GetKind(), json.Unmarshal(env.GetData(), v)
}
