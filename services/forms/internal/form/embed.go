package form

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/proto"
)

// embed shows a form on a page.
type embed struct {
	Shortcode string `json:"shortcode" doc:"For pages of this site."`
	Block     string `json:"block" doc:"HTML for any site."`
}

func (r *Room) embed(ctx context.Context, tx *db.Tx, in formID) (embed, error) {
	if _, err := live(read(ctx, tx, in.ID)); err != nil {
		return embed{}, err
	}
	url := r.Config.PublicURL
	return embed{Shortcode: shortcodeOf(in.ID), Block: fmt.Sprintf(
		`<script type="module" src="%s/_ui/w/v1/svc.js"></script>%s<svc-form form="%d"><a href="%s/f/%d">Open the form</a></svc-form>`, url, web.Room("svc-form"), in.ID, url, in.ID)}, nil
}

func shortcodeOf(form int64) string { return `[svc-form id="` + keyOf(form) + `"]` }

type embedInPage struct {
	ID           int64  `json:"id" minimum:"1"`
	PageID       int64  `json:"page_id" minimum:"1" doc:"A page to add the form to; either this or new_page_title."`
	NewPageTitle string `json:"new_page_title" maxLength:"190" doc:"Title of a new page, which is a draft."`
}

// embedded is the page that shows the form now.
type embedded struct {
	PageID  int64  `json:"page_id" doc:"The id of the page."`
	Status  string `json:"status" enum:"draft,publish" doc:"publish or draft: the status of the page."`
	EditURL string `json:"edit_url" doc:"Where to change it."`
	Created bool   `json:"created" doc:"The page was made for it."`
}

// StatusCode is 201 for a new page, else 200.
func (e embedded) StatusCode() int {
	if e.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// How long a page that was made just now may take to arrive, and how long settings may take to answer.
const (
	pageArrives   = 2 * time.Second
	pageIsChanged = 8 * time.Second
)

// embedInPage asks settings, which owns the pages, to add the form to one. It answers with the page as settings publishes it,
// and with 503 svc_unavailable when that takes longer than pageIsChanged; the page changes all the same. A page that is gone is svc_not_found, one
// that is full svc_conflict.
func (r *Room) embedInPage(ctx context.Context, d *db.DB, in embedInPage) (embedded, error) {
	title := strings.TrimSpace(in.NewPageTitle)
	if (in.PageID == 0) == (title == "") {
		return embedded{}, fault.Invalid("page_id", fault.NewProblem("exactly_one", "or new_page_title must be given, and not both", "of", []string{"page_id", "new_page_title"}))
	}
	if in.PageID == 0 {
		if wrong := form.Name(in.NewPageTitle, maxName); !wrong.IsZero() {
			return embedded{}, fault.Invalid("new_page_title", wrong)
		}
	}
	// Changing pages takes more than changing forms.
	if !db.ActorFrom(ctx).Can(auth.ManageCRM) {
		return embedded{}, fault.Forbidden(auth.ManageCRM)
	}
	request := db.NewID().String()
	answer, done := r.pages.await(request, in.PageID) // before it looks for the page, whose end is seen from here on
	defer done()
	if in.PageID != 0 && !r.pageThere(ctx, in.PageID) {
		return embedded{}, fault.NotFound("page")
	}
	err := d.Do(ctx, func(tx *db.Tx) error {
		f, err := live(read(ctx, tx, in.ID))
		if err != nil {
			return err
		}
		// Commands for one page keep their order.
		key := request
		if in.PageID != 0 {
			key = strconv.FormatInt(in.PageID, 10)
		}
		cmd := &proto.EmbedInPage{RequestId: request, PageId: in.PageID, NewPageTitle: title, Shortcode: shortcodeOf(f.ID)}
		if err := tx.Emit(ctx, db.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindEmbedInPage, Key: key, Data: cmd}); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "embed-in-page", "form", keyOf(f.ID))
	})
	if err != nil {
		return embedded{}, err
	}
	select {
	case p := <-answer:
		if p.Gone {
			return embedded{}, fault.NotFound("page")
		}
		if p.Embedded.GetRefused() != "" {
			return embedded{}, fault.PageFull()
		}
		return embedded{PageID: p.ID, Status: p.Status, EditURL: p.EditURL, Created: p.Embedded.GetCreated()}, nil
	case <-time.After(pageIsChanged):
	case <-ctx.Done():
	}
	return embedded{}, fault.Unavailable()
}

// pageThere reports whether a page exists. It waits for one that was made just now.
func (r *Room) pageThere(ctx context.Context, id int64) bool {
	ctx, cancel := context.WithTimeout(ctx, pageArrives)
	defer cancel()
	return r.pages.Wait(ctx, func() bool {
		p, ok := r.pages.Get(strconv.FormatInt(id, 10))
		return ok && !p.Gone
	})
}
