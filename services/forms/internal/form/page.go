package form

import (
	"slices"
	"sync"

	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// page is a page of the site.
type page struct {
	ID        int64
	Title     string
	URL       string
	EditURL   string
	Status    string
	Published bool
	Gone      bool
	// Forms are the ids of the forms that the page shows.
	Forms []int64
	// Embedded says which request the newest change answers; empty when it answers none.
	Embedded *proto.PageEmbedded
}

// pageTable is the copy of the pages.
type pageTable struct {
	*bus.Table[page]

	mu      sync.Mutex
	waiting map[string]waiter // by request
}

// waiter waits for what becomes of a page; 0 for a new one.
type waiter struct {
	page   int64
	answer chan page
}

func (w waiter) get(p page) {
	select {
	case w.answer <- p:
	default: // it is answered already
	}
}

func newPageTable(b *bus.Bus) *pageTable {
	t := &pageTable{waiting: map[string]waiter{}}
	t.Table = bus.NewTable(b, proto.PageTopic, func(_ string, value []byte) (page, int64, error) {
		var p struct {
			ID                 int64
			Title, URL, Status string
			EditURL            string `json:"edit_url"`
			Shows              []struct{ Form int64 }
		}
		env, err := bus.OpenEnvelope(value, &p)
		if err != nil {
			return page{}, 0, err
		}
		out := page{ID: p.ID, Title: p.Title, URL: p.URL, EditURL: p.EditURL, Status: p.Status, Gone: env.GetKind() == proto.KindPageDeleted,
			Embedded: &proto.PageEmbedded{}}
		out.Published = p.Status == statusPublish && !out.Gone
		for _, w := range p.Shows {
			if w.Form != 0 && !slices.Contains(out.Forms, w.Form) {
				out.Forms = append(out.Forms, w.Form)
			}
		}
		return out, env.GetVersion(), bus.Event{Kind: env.GetKind(), Extra: env.GetExtra()}.DecodeExtra(out.Embedded)
	})
	t.Watch(t.answer)
	return t
}

// await registers a request about a page, 0 for a new one. The channel receives the page that answers it, or the page that is gone. Call done
// to stop waiting.
func (t *pageTable) await(request string, id int64) (answer <-chan page, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := waiter{id, make(chan page, 1)}
	t.waiting[request] = w
	return w.answer, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, request)
	}
}

func (t *pageTable) answer(key string, p page, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if gone || p.Gone {
		for _, w := range t.waiting {
			if keyOf(w.page) == key {
				w.get(page{ID: w.page, Gone: true})
			}
		}
		return
	}
	if w, ok := t.waiting[p.Embedded.GetRequestId()]; ok {
		w.get(p)
	}
}

// showing gives the published pages by the form that they show, in the order of their ids.
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
