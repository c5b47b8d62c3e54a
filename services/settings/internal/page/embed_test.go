package page

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

func TestAWidgetIsPutIntoAPageForAnotherService(t *testing.T) {
	t.Parallel()
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r := New(k)
		r.Operations(set)
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "page", Parts: r.Parts()}}
	})
	c := s.As("site_admin")
	made := c.Post("/pages", map[string]any{"title": "Contact", "content": "Write to us\n"}).Is(201)
	existing := int64(made.Field("id").(float64))
	send := func(m *proto.EmbedInPage) {
		s.Send(apptest.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindEmbedInPage, Key: "k", Data: m})
	}
	send(&proto.EmbedInPage{RequestId: "one", PageId: existing, Shortcode: `[svc-form id="3"]`})
	send(&proto.EmbedInPage{RequestId: "two", NewPageTitle: "Book", Shortcode: `[svc-booking]`, Publish: true})
	full := int64(c.Post("/pages", map[string]any{"title": "Full", "content": strings.Repeat("é", 199_990)}).Is(201).Field("id").(float64))
	send(&proto.EmbedInPage{RequestId: "full", PageId: full, Shortcode: `[svc-booking]`})
	send(&proto.EmbedInPage{RequestId: "three", PageId: 999, Shortcode: `[svc-booking]`})
	s.Settle()
	require.Equal(t, "Write to us\n\n[svc-form id=\"3\"]", c.Get("/pages/"+fmt.Sprint(existing)).Is(200).Text("content"))
	require.Equal(t, 199_990, utf8.RuneCountInString(c.Get("/pages/"+fmt.Sprint(full)).Is(200).Text("content")), "a page that is full stays as it is")
	var answers []string
	for _, e := range s.Events(proto.PageTopic) {
		if len(e.GetExtra()) > 0 {
			answers = append(answers, e.GetKind()+" "+string(e.GetExtra()))
		}
	}
	require.ElementsMatch(t, []string{proto.KindPageUpdated + ` {"request_id":"one","created":false,"refused":""}`, proto.KindPageCreated + ` {"request_id":"two","created":true,"refused":""}`,
		proto.KindPageUpdated + ` {"request_id":"full","created":false,"refused":"page_full"}`}, answers)
}
