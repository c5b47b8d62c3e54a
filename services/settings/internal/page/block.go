package page

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

// Block is a paragraph, or the widget of a shortcode.
type Block struct {
	Text string
	// Form is the id of a form; Service and Staff narrow a booking down, "" for all.
	Form, Service, Staff string
}

var (
	shortcode  = regexp.MustCompile(`\[svc-(form|booking)((?:\s+[a-z]+=["']?[A-Za-z0-9-]{1,40}["']?)*)\s*\]`)
	attribute  = regexp.MustCompile(`([a-z]+)=["']?([A-Za-z0-9-]+)["']?`)
	paragraphs = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// blocksOf cuts a page's content at its shortcodes and empty lines. A shortcode for a form without an id stays text.
func blocksOf(content string) (out []Block) {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	text := func(s string) {
		for _, one := range paragraphs.Split(strings.TrimSpace(s), -1) {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, Block{Text: one})
			}
		}
	}
	rest := 0
	for _, m := range shortcode.FindAllStringSubmatchIndex(content, -1) {
		values := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(content[m[4]:m[5]], -1) {
			values[a[1]] = a[2]
		}
		b := Block{Service: values["service"], Staff: values["staff"]}
		if content[m[2]:m[3]] == "form" {
			if b = (Block{Form: values["id"]}); b.Form == "" {
				continue
			}
		}
		text(content[rest:m[0]])
		out = append(out, b)
		rest = m[1]
	}
	text(content[rest:])
	return out
}

// shows is a widget of a page, for the services whose it is. What a widget narrows itself down to and nobody can have, such as a service
// whose id is no id, makes it one that shows nothing, which is left out.
type shows struct {
	App     string     `json:"app"`
	Form    int64      `json:"form,omitempty"`
	Service *uuid.UUID `json:"service,omitempty"`
	Staff   int64      `json:"staff,omitempty"`
}

func showsOf(content string) []shows {
	out := []shows{}
	for _, b := range blocksOf(content) {
		if b.Text != "" {
			continue
		}
		one, err := b.shows()
		if err == nil {
			out = append(out, one)
		}
	}
	return out
}

func (b Block) shows() (one shows, err error) {
	if b.Form != "" {
		one.App = "forms"
		one.Form, err = strconv.ParseInt(b.Form, 10, 64)
		return one, err
	}
	one.App = "booking"
	if b.Service != "" {
		id, err := uuid.Parse(b.Service)
		if err != nil {
			return one, err
		}
		one.Service = &id
	}
	if b.Staff != "" {
		one.Staff, err = strconv.ParseInt(b.Staff, 10, 64)
	}
	return one, err
}

// previewedBlock is a block as it would stand on a page.
type previewedBlock struct {
	Text    string     `json:"text" doc:"The text of a paragraph; empty for a widget."`
	App     string     `json:"app" doc:"forms or booking for a widget that visitors would see; empty for a paragraph, and for a widget whose shortcode names what cannot be."`
	Form    *int64     `json:"form" doc:"The id of the form; null for others."`
	Service *uuid.UUID `json:"service" format:"uuid" nullable:"true" doc:"The only service of a booking; null for all."`
	Staff   *int64     `json:"staff" doc:"The only person of a booking; null for everybody."`
}

// preview cuts content as a page of it would be.
func (r *Room) preview(_ context.Context, _ *db.Tx, in struct {
	Content string `json:"content" required:"true" maxLength:"200000" doc:"Plain text with an empty line between paragraphs, and shortcodes."`
}) (db.List[previewedBlock], error) {
	blocks := blocksOf(in.Content)
	out := make([]previewedBlock, len(blocks))
	for i, b := range blocks {
		out[i].Text = b.Text
		if b.Text != "" {
			continue
		}
		shown, err := b.shows()
		if err != nil {
			continue
		}
		out[i].App, out[i].Service = shown.App, shown.Service
		if shown.Form != 0 {
			out[i].Form = &shown.Form
		}
		if shown.Staff != 0 {
			out[i].Staff = &shown.Staff
		}
	}
	return db.All(out), nil
}

// tellShows publishes pages again that an older version of this service has published: without what they show.
func (r *Room) tellShows(ctx context.Context) error {
	for {
		var ids []int64
		if err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
			ids, err = db.Column[int64](ctx, tx, `update page set shown_version = version where id in
				(select id from page where shown_version <> version order by id limit 100 for no key update) returning id`)
			if err != nil {
				return err
			}
			return row.Each(ctx, tx, func(p stored) error {
				e := r.event(proto.KindPageUpdated, p)
				e.State = true
				return tx.Emit(ctx, e)
			}, `select `+columns+` from page where id = any($1) order by id`, ids)
		}); err != nil || len(ids) == 0 {
			return err
		}
	}
}
