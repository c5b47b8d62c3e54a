package widget

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/lang"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/times"
)

// embed says how to show the booking widget, and where visitors find it.
type embed struct {
	Shortcode   string    `json:"shortcode" doc:"For a page of this site."`
	Block       string    `json:"block" doc:"HTML for any other site."`
	UsedOn      []pageRef `json:"used_on" doc:"Published pages that show it."`
	BookingPage *string   `json:"booking_page" doc:"Address of the booking page, null while it is off."`
}

// pageRef names a page.
type pageRef struct {
	ID    int64  `json:"id" doc:"The id of the page."`
	Title string `json:"title" doc:"The title of the page."`
	URL   string `json:"url" doc:"The address of the page."`
}

type widget struct {
	Service uuid.UUID `json:"service,omitzero"`
	Staff   int64     `json:"staff,omitempty" minimum:"1"`
}

// attributes of the shortcode and of the element alike.
func (w widget) attributes() string {
	var s string
	if w.Service != uuid.Nil {
		s += fmt.Sprintf(` service="%s"`, w.Service)
	}
	if w.Staff != 0 {
		s += fmt.Sprintf(` staff="%d"`, w.Staff)
	}
	return s
}

func (w widget) shortcode() string { return "[svc-booking" + w.attributes() + "]" }

// check refuses a service that does not exist and a person who does not do it, or is not on the team.
func (r *Room) checkWidget(ctx context.Context, tx *db.Tx, w widget) error {
	if w.Service != uuid.Nil {
		bookable, err := services.Get(ctx, tx, op.ByID{ID: w.Service})
		if err != nil {
			return err
		}
		if w.Staff != 0 && !slices.Contains(bookable.Staff, w.Staff) {
			return times.NotTheirs()
		}
	} else if w.Staff != 0 && !r.Identity.OnTeam(w.Staff) {
		return fault.NotFound("staff member")
	}
	return nil
}

func (r *Room) embed(ctx context.Context, tx *db.Tx, in widget) (embed, error) {
	out := embed{Shortcode: in.shortcode(), UsedOn: []pageRef{}, BookingPage: r.bookingPage()}
	if err := r.checkWidget(ctx, tx, in); err != nil {
		return out, err
	}
	inside := ""
	if out.BookingPage != nil {
		country := r.services.General().Country
		inside = `<a href="` + html.EscapeString(*out.BookingPage) + `">` + readers(lang.OfCountry(country), country, r.Config.Zone).T("book") + `</a>`
	}
	out.Block = `<script type="module" src="` + html.EscapeString(r.Config.PublicURL) + `/_ui/w/v1/svc.js"></script>` + "\n" + web.Room("svc-booking") + "\n" +
		`<svc-booking` + in.attributes() + `>` + inside + `</svc-booking>`
	rows, err := tx.Query(ctx, `select id, title, slug, url, shows from page where status = 'publish' and shows <> '[]' order by lower(title), id`)
	if err != nil {
		return out, err
	}
	var p pageRef
	var slug string
	var shows []shown
	_, err = pgx.ForEachRow(rows, []any{&p.ID, &p.Title, &slug, &p.URL, &shows}, func() error {
		if p.URL == "" {
			p.URL = r.Config.PublicURL + "/" + slug
		}
		if in.in(shows) {
			out.UsedOn = append(out.UsedOn, p)
		}
		return nil
	})
	return out, err
}

// shown is a widget that a page shows: of one app, for all services and people or for some.
type shown struct {
	App     string    `json:"app"`
	Service uuid.UUID `json:"service,omitzero"`
	Staff   int64     `json:"staff,omitempty"`
}

// in reports whether a page lets visitors book what w stands for: with a widget of just that, or with one that offers more.
func (w widget) in(page []shown) bool {
	return slices.ContainsFunc(page, func(s shown) bool {
		return s.App == "booking" && (w.Service == uuid.Nil || s.Service == uuid.Nil || s.Service == w.Service) && (w.Staff == 0 || s.Staff == 0 || s.Staff == w.Staff)
	})
}

// bookingPage is the address of the booking page while that is on.
func (r *Room) bookingPage() *string {
	var portal struct {
		BookingPage bool    `json:"booking_page"`
		BookingURL  *string `json:"booking_url"`
		Path        string  `json:"path"`
	}
	r.Site.Read("portal", &portal)
	if !portal.BookingPage {
		return nil
	}
	if portal.BookingURL != nil && *portal.BookingURL != "" {
		return portal.BookingURL
	}
	path := portal.Path
	if path == "" {
		path = "team"
	}
	address := r.Config.PublicURL + "/" + path + "/book"
	return &address
}

type embedInPage struct {
	Service      uuid.UUID `json:"service,omitzero" doc:"Only this service; all when left out."`
	Staff        int64     `json:"staff" minimum:"1" doc:"Only the times of this person; those of everybody when left out."`
	PageID       int64     `json:"page_id" minimum:"1" doc:"Page to append the widget to."`
	NewPageTitle string    `json:"new_page_title" maxLength:"190" doc:"Title of a new page, instead of page_id."`
	Publish      bool      `json:"publish" ability:"-" doc:"Publish a new page at once; it is a draft otherwise."`
}

// embedded is the page that shows the widget now.
type embedded struct {
	PageID  int64  `json:"page_id" doc:"The id of the page."`
	Status  string `json:"status" doc:"publish or draft: the status of the page."`
	EditURL string `json:"edit_url" doc:"Where to change it."`
	Created bool   `json:"created" doc:"The page was made for it."`
}

// RecordID is what the audit log names.
func (e embedded) RecordID() string { return fmt.Sprint(e.PageID) }

const settingsAnswersWithin = 8 * time.Second

// embedInPage sends settings, which owns pages, a command, and waits for the page's event. The error is svc_unavailable when
// it does not come within settingsAnswersWithin; the page may still change afterwards. A page that is gone is svc_not_found, one that is full
// svc_conflict.
func (r *Room) embedInPage(ctx context.Context, _ *db.DB, in embedInPage) (embedded, error) {
	title := strings.TrimSpace(in.NewPageTitle)
	if (in.PageID == 0) == (title == "") {
		return embedded{}, fault.Invalid("page_id", fault.NewProblem("one_of_two", "or new_page_title must be given, and not both", "other", "new_page_title"))
	}
	if in.PageID == 0 {
		if wrong := form.Name(title, 190); !wrong.IsZero() {
			return embedded{}, fault.Invalid("new_page_title", wrong)
		}
	}
	w := widget{in.Service, in.Staff}
	request := db.NewID()
	err := r.DB.Do(ctx, func(tx *db.Tx) error {
		if err := r.checkWidget(ctx, tx, w); err != nil {
			return err
		}
		if in.PageID != 0 {
			var found bool
			if err := tx.QueryRow(ctx, `select exists (select from page where id = $1)`, in.PageID).Scan(&found); err != nil {
				return fmt.Errorf("look for page %d: %w", in.PageID, err)
			}
			if !found {
				return tx.Arriving("page")
			}
		}
		// The audit log names the page that was asked for; that of a new one settings gives out.
		record := ""
		if in.PageID != 0 {
			record = fmt.Sprint(in.PageID)
		}
		if err := op.Audit(ctx, tx, "embed-booking-in-page", "page", record); err != nil {
			return err
		}
		return tx.Emit(ctx, db.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindEmbedInPage, Key: embedKey(in.PageID, request),
			Data: &proto.EmbedInPage{RequestId: request.String(), PageId: in.PageID, NewPageTitle: title, Publish: in.Publish, Shortcode: w.shortcode()}})
	})
	if err != nil {
		return embedded{}, err
	}
	return r.awaitEmbedded(ctx, request, in.PageID)
}

// embedKey keeps the requests for one page in order.
func embedKey(page int64, request uuid.UUID) string {
	if page != 0 {
		return fmt.Sprint("page/", page)
	}
	return request.String()
}

// awaitEmbedded waits for what becomes of a page; 0 for a new one.
func (r *Room) awaitEmbedded(ctx context.Context, request uuid.UUID, page int64) (out embedded, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingsAnswersWithin)
	defer cancel()
	for {
		var there bool
		var refused string
		err := r.DB.Pool.QueryRow(ctx, `select e.request_id is not null, coalesce(e.page_id, 0), coalesce(e.status, ''), coalesce(e.edit_url, ''), coalesce(e.created, false),
			coalesce(e.refused, '') from (select) one left join embedding e on e.request_id = $1
			where e.request_id is not null or $2::bigint = 0 or exists (select from page where id = $2)`, request, page).
			Scan(&there, &out.PageID, &out.Status, &out.EditURL, &out.Created, &refused)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return out, fault.NotFound("page")
		case err != nil && ctx.Err() == nil:
			return out, fmt.Errorf("look for the answer of settings: %w", err)
		case err == nil && refused != "":
			return out, fault.PageFull()
		case err == nil && there:
			return out, nil
		}
		select {
		case <-ctx.Done():
			return out, fault.Unavailable()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keepAnswers is how long the answers of settings are kept, in case whoever asked still waits.
const keepAnswers = time.Hour

func onPage(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindPageDeleted {
		_, err = tx.Exec(ctx, `delete from page where id = $1`, id)
		return err
	}
	var p struct {
		Title   string  `json:"title"`
		Slug    string  `json:"slug"`
		Status  string  `json:"status"`
		Content string  `json:"content"`
		URL     string  `json:"url"`
		EditURL string  `json:"edit_url"`
		Shows   []shown `json:"shows"`
	}
	if err := e.Decode(&p); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into page as p (id, version, title, slug, status, content, url, shows)
		values (@id, @version, @title, @slug, @status, @content, @url, coalesce(@shows, '[]'::jsonb))
		on conflict (id) do update set version = excluded.version, title = excluded.title, slug = excluded.slug, status = excluded.status,
			content = excluded.content, url = excluded.url, shows = excluded.shows where p.version < @below`,
		db.Args{"id": id, "version": e.Version, "title": p.Title, "slug": p.Slug, "status": p.Status, "content": p.Content, "url": p.URL,
			"shows": p.Shows, "below": e.ReplacesBelow()})
	if err != nil || e.Extra == nil {
		return err
	}
	var x proto.PageEmbedded
	if err := e.DecodeExtra(&x); err != nil || x.GetRequestId() == "" {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from embedding where at < $1`, tx.Now.Add(-keepAnswers)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into embedding (request_id, page_id, status, edit_url, created, refused, at) values ($1::uuid, $2, $3, $4, $5, $6, $7)
		on conflict do nothing`, x.GetRequestId(), id, p.Status, p.EditURL, x.GetCreated(), x.GetRefused(), tx.Now)
	return err
}
