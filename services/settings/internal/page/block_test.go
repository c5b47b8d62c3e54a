package page

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

func TestAPageSaysWhatItShowsAndNothingElse(t *testing.T) {
	t.Parallel()
	service := "0198c0de-0000-7000-8000-000000000001"
	for content, want := range map[string]string{
		`[svc-form id="3" lang="fr"]`:                       `[{"app":"forms","form":3}]`,
		`Ask [svc-form id=3], or [svc-form id='4']`:         `[{"app":"forms","form":3},{"app":"forms","form":4}]`,
		`[svc-booking]`:                                     `[{"app":"booking"}]`,
		`[svc-booking service="` + service + `" staff="7"]`: `[{"app":"booking","service":"` + service + `","staff":7}]`,
		`[SVC-Booking]`:                                     `[]`,
		`[svc-booking service=“x”]`:                         `[]`,
		`[svc-booking service = "` + service + `"]`:         `[]`,
		`<svc-booking></svc-booking>`:                       `[]`,
		`[svc-booking, please]`:                             `[]`,
		`[svc-booking service="nobody"]`:                    `[]`,
		`[svc-form]`:                                        `[]`,
		``:                                                  `[]`,
	} {
		t.Run(content, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(showsOf(content))
			require.NoError(t, err)
			require.JSONEq(t, want, string(got))
			widgets := 0
			for _, b := range blocksOf(content) {
				if b.Text == "" {
					widgets++
				}
			}
			if content != `[svc-booking service="nobody"]` {
				require.Len(t, showsOf(content), widgets, "what is shown, and that only")
			}
		})
	}
}

func TestAPreviewHasTheBlocksOfThePage(t *testing.T) {
	t.Parallel()
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r := New(k)
		r.Operations(set)
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "page", Parts: r.Parts()}}
	})
	answer := s.As("staff").Post("/pages/preview", map[string]any{"content": "Hello\n\n[svc-form id=3]\n[svc-booking staff=4] Bye [svc-booking service=x]"}).Is(200)
	require.Equal(t, []any{"Hello", "", "", "Bye", ""}, []any{answer.Text("items.0.text"), answer.Text("items.1.text"), answer.Text("items.2.text"), answer.Text("items.3.text"), answer.Text("items.4.text")})
	require.Equal(t, []any{"forms", 3.0, "booking", 4.0, ""}, []any{answer.Text("items.1.app"), answer.Field("items.1.form"), answer.Text("items.2.app"), answer.Field("items.2.staff"), answer.Text("items.4.app")})
}

func TestWhatAPageShowsIsPublishedWithItAlsoOfPagesFromBefore(t *testing.T) {
	t.Parallel()
	var room *Room
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		room = New(k)
		room.Operations(set)
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "page", Parts: room.Parts()}}
	})
	c := s.As("site_admin")
	id := fmt.Sprint(c.Post("/pages", map[string]any{"title": "Contact", "content": "[svc-form id=3]"}).Is(201).Field("id"))
	c.Patch("/pages/"+id, map[string]any{"content": "[svc-booking]"}).Is(200)
	told := func() (all []string) {
		for _, e := range s.Events(proto.PageTopic) {
			var p struct{ Shows []struct{ App string } }
			require.NoError(t, json.Unmarshal(e.GetData(), &p))
			require.Len(t, p.Shows, 1)
			all = append(all, p.Shows[0].App)
		}
		return all
	}
	require.Equal(t, []string{"forms", "booking"}, told())
	require.NoError(t, room.tellShows(t.Context()))
	require.Len(t, told(), 2, "all is told")
	// A replica of before changes it.
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update page set content = '[svc-form id=3]', version = version + 1`)
	require.NoError(t, err)
	require.NoError(t, room.tellShows(t.Context()))
	require.NoError(t, room.tellShows(t.Context()))
	require.Equal(t, []string{"forms", "booking", "forms"}, told())
}
