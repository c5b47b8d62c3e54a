package templates

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/lang"
	"frontdesk/libs/letter"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/site"
)

type object = map[string]any

func start(t *testing.T) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		s := site.New(k, func(context.Context, *db.Tx, string) (bool, error) { return false, nil })
		r := New(k, s)
		r.Operations(set)
		require.NoError(t, k.DB.Do(t.Context(), func(tx *db.Tx) error {
			if err := document.Add(t.Context(), tx, s.First()); err != nil {
				return err
			}
			return document.Add(t.Context(), tx, First())
		}))
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "site", Parts: s.Parts()}, {Name: "templates", Parts: r.Parts()}}
	})
}

func TestTheWordsOfMailsAreTheBusinesssOwn(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.AsSession("site_admin")
	const path = "/mail-templates/appointment.booked/nl"

	t.Run("every kind in every language has its standard words and can be previewed", func(t *testing.T) {
		items := c.Get("/mail-templates").Is(200).Items()
		require.Len(t, items, len(letter.Kinds)*len(lang.Languages))
		for _, one := range items {
			require.Equal(t, true, one["standard"])
			look := c.Post("/mail-templates/"+one["kind"].(string)+"/"+one["language"].(string)+"/preview", object{}).Is(200)
			require.NotEmpty(t, look.Text("subject"))
			require.NotRegexp(t, `\{[a-z_]+\}`, look.Text("subject")+look.Text("text")+look.Text("html"))
		}
	})
	t.Run("own words are published for whoever writes the mail, in their language only", func(t *testing.T) {
		first := c.Get(path).Is(200)
		own := c.With("If-Match", first.Header.Get("ETag")).Put(path, object{"subject": " Tot dan, {client} ", "body": "Dag {client}\r\n\r\n{manage}"}).Is(200)
		require.Equal(t, "Tot dan, {client}", own.Text("subject"))
		require.Equal(t, false, own.Field("standard"))
		s.Eventually(func() bool {
			return letter.Of(s.Kit.Site.Read, letter.Reader("nl", "BE", time.UTC), proto.KindAppointmentBooked).Body == "Dag {client}\n\n{manage}"
		})
		en := letter.Reader("en", "BE", time.UTC)
		require.Equal(t, letter.Standard(en, proto.KindAppointmentBooked), letter.Of(s.Kit.Site.Read, en, proto.KindAppointmentBooked))
		require.Contains(t, c.Post(path+"/preview", object{}).Is(200).Text("text"), "Dag Ada Visitor\n\n")

		stale := c.With("If-Match", first.Header.Get("ETag")).Put(path, object{"subject": "A", "body": "{manage}"}).Is(412)
		require.NotEmpty(t, stale.Text("code"))
	})
	t.Run("words that are not saved are previewed, escaped and on one line", func(t *testing.T) {
		look := c.Post(path+"/preview", object{"body": "<img src=x> & co\n{manage}"}).Is(200)
		require.Contains(t, look.Text("html"), "&lt;img src=x&gt; &amp; co")
		require.Equal(t, "Tot dan, Ada Visitor", look.Text("subject"))
		c.Post(path+"/preview", object{"subject": "a\r\nBcc: eve@example.com"}).Is(400)
		c.Post(path+"/preview", object{"body": "no link"}).Is(400)
	})
	t.Run("what is wrong is one clear error", func(t *testing.T) {
		wrong := c.Put(path, object{"subject": "{nobody}", "body": "Dag"}).Is(400)
		require.Contains(t, wrong.Text("data.params.subject"), "{nobody}")
		require.Contains(t, wrong.Text("data.params.body"), "{manage}")
		require.Equal(t, "placeholder_unknown", wrong.Text("data.details.subject.code"))
		c.Put(path, object{"subject": "a\nb", "body": "{manage}"}).Is(400)
		c.Put("/mail-templates/appointment.booked/es", object{"subject": "A", "body": "{manage}"}).Is(400)
		c.Put("/mail-templates/user.invited/nl", object{"subject": "A", "body": "A"}).Is(404)
		s.As("staff").Get(path).Is(403)
	})
	t.Run("the standard words come back", func(t *testing.T) {
		c.Delete(path, nil).Is(204)
		now := c.Get(path).Is(200)
		require.Equal(t, true, now.Field("standard"))
		c.Put(path, object{"subject": now.Text("subject"), "body": now.Text("body")}).Is(200)
		require.Equal(t, true, c.Get(path).Is(200).Field("standard"), "the standard words, saved, stay the program's")
	})
}
