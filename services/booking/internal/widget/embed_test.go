package widget

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

type object = map[string]any

// office is the room and those below it, with a service that one colleague does.
type office struct {
	*apptest.Service
	admin, staff *apptest.Client
	service      string
}

func open(t *testing.T) office {
	t.Helper()
	s := apptest.StartRooms(t, "booking", func(k *app.Kit, set *op.Set) []app.Room {
		people := staff.New(k)
		services := services.New(k, people)
		r := New(k, services)
		services.Services(set)
		r.Embedding(set)
		return []app.Room{{Name: "staff", Parts: people.Parts()}, {Name: "services", Parts: services.Parts()}, {Name: "widget", Parts: r.Parts(set.Handler())}}
	})
	o := office{Service: s, admin: s.As("site_admin"), staff: s.As("staff")}
	o.service = o.admin.Post("/services", object{"name": "Intake", "duration_min": 60, "staff": []int64{o.staff.UserID}}).Is(201).Text("id")
	return o
}

func TestTheWidgetIsShownWhereAPageSaysSo(t *testing.T) {
	t.Parallel()
	o := open(t)
	page := func(id int, status string, shows ...object) {
		o.SendSample("settings.page/page.created", func(e *apptest.Event) {
			e.Key = fmt.Sprint(id)
			data := e.Data.(object)
			data["id"], data["status"], data["shows"], data["url"] = id, status, shows, fmt.Sprintf("http://localhost:8080/page-%d", id)
		})
	}
	page(1, "publish", object{"app": "booking"})
	page(2, "publish", object{"app": "forms", "form": 3}, object{"app": "booking", "service": o.service})
	page(3, "draft", object{"app": "booking"})
	page(4, "publish", object{"app": "forms", "form": 3})
	page(5, "publish", object{"app": "booking", "service": uuid.NewString()})
	page(6, "publish", object{"app": "booking", "staff": o.staff.UserID + 1})
	page(7, "publish")
	o.Settle()
	used := func(query string) []any {
		var ids []any
		list, _ := o.staff.Get("/booking-widget/embed" + query).Is(200).Field("used_on").([]any)
		for _, p := range list {
			ids = append(ids, p.(object)["id"])
		}
		slices.SortFunc(ids, func(a, b any) int { return int(a.(float64) - b.(float64)) })
		return ids
	}
	require.Equal(t, []any{1.0, 2.0, 6.0}, used("?service="+o.service))
	require.Equal(t, []any{1.0, 2.0, 5.0, 6.0}, used(""))
	require.Equal(t, []any{1.0, 2.0}, used(fmt.Sprintf("?service=%s&staff=%d", o.service, o.staff.UserID)))
	e := o.staff.Get(fmt.Sprintf("/booking-widget/embed?service=%s&staff=%d", o.service, o.staff.UserID)).Is(200)
	require.Equal(t, fmt.Sprintf(`[svc-booking service="%s" staff="%d"]`, o.service, o.staff.UserID), e.Text("shortcode"))
	require.Contains(t, e.Text("block"), fmt.Sprintf(`<svc-booking service="%s" staff="%d">`, o.service, o.staff.UserID))
	require.Nil(t, e.Field("booking_page"))
	o.SetSite("portal", object{"booking_page": true, "booking_url": "http://localhost:8080/team/book", "path": "team"})
	o.SetSite("general", object{"country": "NL"})
	o.Eventually(func() bool {
		return strings.Contains(o.staff.Get("/booking-widget/embed").Is(200).Text("block"), `<a href="http://localhost:8080/team/book">Online boeken</a>`)
	})
	require.Equal(t, "http://localhost:8080/team/book", o.staff.Get("/booking-widget/embed").Is(200).Text("booking_page"))
	o.staff.Get("/booking-widget/embed?service="+uuid.NewString()).Fails(404, "svc_not_found")
	o.staff.Get(fmt.Sprintf("/booking-widget/embed?service=%s&staff=%d", o.service, o.admin.UserID)).Fails(400, "svc_invalid_param")
}

func TestAWidgetIsPutIntoAPageBySettings(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.SendSample("settings.page/page.created", nil)
	for id := 3; id <= 4; id++ {
		o.Send(apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageCreated, Key: fmt.Sprint(id), Version: 1, Data: object{"id": id, "title": "Page", "status": "publish"}})
	}
	o.Settle()
	// settings answers each command with the page.
	stop := make(chan struct{})
	answered := map[string]bool{}
	go func() {
		defer close(stop)
		for len(answered) < 4 && t.Context().Err() == nil {
			for _, e := range o.Events(proto.SettingsCommandTopic) {
				var c proto.EmbedInPage
				if e.GetKind() != proto.KindEmbedInPage || protobuf.Unmarshal(e.GetData(), &c) != nil || answered[c.GetRequestId()] {
					continue
				}
				answered[c.GetRequestId()] = true
				id, created := c.GetPageId(), c.GetPageId() == 0
				if created {
					id = 2
				}
				if id == 4 {
					o.Send(apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageDeleted, Key: "4", Version: 5, Data: object{"id": 4}})
					continue
				}
				o.SendSample("settings.page/page.updated", func(e *apptest.Event) {
					e.Key, e.Version, e.Extra = fmt.Sprint(id), 5, object{"request_id": c.GetRequestId(), "created": created, "refused": ""}
					if id == 3 {
						e.Version, e.State, e.Extra = 1, true, object{"request_id": c.GetRequestId(), "created": false, "refused": "page_full"}
					}
					e.Data.(object)["id"], e.Data.(object)["content"] = id, c.GetShortcode()
				})
			}
		}
	}()
	existing := o.admin.Post("/booking-widget/embed-in-page", object{"service": o.service, "page_id": 1}).Is(200)
	require.EqualValues(t, 1, existing.Field("page_id"))
	require.Equal(t, false, existing.Field("created"))
	made := o.admin.Post("/booking-widget/embed-in-page", object{"new_page_title": "Book", "publish": true}).Is(200)
	require.EqualValues(t, 2, made.Field("page_id"))
	require.Equal(t, true, made.Field("created"))
	require.Equal(t, "page_full", o.admin.Post("/booking-widget/embed-in-page", object{"page_id": 3}).Fails(409, "svc_conflict").Text("data.reason"))
	o.admin.Post("/booking-widget/embed-in-page", object{"page_id": 4}).Fails(404, "svc_not_found")
	<-stop
	o.Travel(2 * time.Hour)
	o.SendSample("settings.page/page.updated", func(e *apptest.Event) {
		e.Key, e.Version, e.Extra = "2", 6, object{"request_id": db.NewID().String()}
	})
	o.Settle()
	var kept int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from embedding`).Scan(&kept))
	require.Equal(t, 1, kept, "nobody waits for the answers of before")
	o.admin.Post("/booking-widget/embed-in-page", object{"service": o.service}).Fails(400, "svc_invalid_param")
	o.admin.Post("/booking-widget/embed-in-page", object{"page_id": 1, "new_page_title": "x"}).Fails(400, "svc_invalid_param")
	o.admin.Post("/booking-widget/embed-in-page", object{"new_page_title": "Book\nonline"}).Fails(400, "svc_invalid_param")
	o.admin.Post("/booking-widget/embed-in-page", object{"page_id": 77}).Fails(404, "svc_not_found")
	o.staff.Post("/booking-widget/embed-in-page", object{"page_id": 1}).Fails(403, "svc_forbidden")
}
