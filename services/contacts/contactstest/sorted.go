package contactstest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app/apptest"
)

// sorted is a record as the test knows it, to say where it should stand.
type sorted struct {
	id, name          string
	owner             int64
	created, activity time.Time
}

var sortings = map[string]func(a, b sorted) int{
	"":            func(a, b sorted) int { return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.id, a.id)) },
	"-created_at": func(a, b sorted) int { return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.id, a.id)) },
	"created_at":  func(a, b sorted) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) },
	"name": func(a, b sorted) int {
		return cmp.Or(cmp.Compare(folded(a.name), folded(b.name)), cmp.Compare(a.id, b.id))
	},
	"-last_activity": func(a, b sorted) int { return cmp.Or(b.activity.Compare(a.activity), cmp.Compare(b.id, a.id)) },
}

// PagesInOrder goes through the list of a noun, contact or organization, by pages, in any order. What nobody changes meanwhile stands in them once, at
// its place, whatever happens to the others: renamed, touched, put into the trash.
func PagesInOrder(t *testing.T, list string) {
	s := Start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	path := "/" + list + "s"
	var still, restless []sorted
	for i, name := range []string{"Zoë", "zoe", "Ämma", "amma", "Bob", "bob", "", "", "Émile", "emil", "Ωmega", "Ada", "Ada", "Ada", "ada", "Å", "ß", "x", "y", "z", "q", "r"} {
		by, m := admin, sorted{name: name + " X"}
		if i%3 == 0 {
			by, m.owner = own, own.UserID
		}
		body := map[string]any{"name": m.name}
		if m.owner != 0 {
			body["owner_user_id"] = m.owner
		}
		if list == "contact" {
			body = map[string]any{"first_name": name, "last_name": "X"}
			if name == "" {
				m.name = fmt.Sprint("mail", i, "@example.com")
				body = map[string]any{"email": m.name}
			}
		}
		m.name = strings.TrimSpace(m.name)
		m.id = by.Post(path, body).Is(201).Text("id")
		m.created = s.Now().UTC().Add(time.Duration(i/2) * time.Hour).Truncate(time.Second)
		var active *time.Time
		if i%4 > 0 {
			m.activity = m.created.Add(time.Duration(i%4) * time.Hour)
			active = &m.activity
		}
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `update `+list+` set created_at = $2, last_activity = $3 where id = $1`, m.id, m.created, active)
		require.NoError(t, err)
		if i < 18 {
			still = append(still, m)
		} else {
			restless = append(restless, m)
		}
	}
	s.Settle()
	rapid.Check(t, func(r *rapid.T) {
		sort := rapid.SampledFrom([]string{"", "-created_at", "created_at", "name", "-last_activity"}).Draw(r, "sort")
		by := rapid.SampledFrom([]*apptest.Client{admin, own}).Draw(r, "caller")
		q := url.Values{"per_page": {fmt.Sprint(rapid.IntRange(1, 9).Draw(r, "per_page"))}}
		if sort != "" {
			q.Set("sort", sort)
		}
		sees := func(m sorted) bool { return by == admin || list == "organization" || m.owner == own.UserID }
		if rapid.Bool().Draw(r, "owner") {
			q.Set("owner", fmt.Sprint(own.UserID))
			sees = func(m sorted) bool { return m.owner == own.UserID }
		}
		want := []string{}
		for _, m := range slices.SortedFunc(slices.Values(still), sortings[sort]) {
			if sees(m) {
				want = append(want, m.id)
			}
		}
		got := []string{}
		for {
			page := by.Get(path + "?" + q.Encode()).Is(200)
			for _, c := range page.Items() {
				if id := c["id"].(string); !slices.ContainsFunc(restless, func(m sorted) bool { return m.id == id }) {
					got = append(got, id)
				}
			}
			cursor, _ := page.Field("next_cursor").(string)
			if cursor == "" {
				break
			}
			q.Set("cursor", cursor)
			m := rapid.SampledFrom(restless).Draw(r, "changed")
			name := rapid.SampledFrom([]string{"Aa", "Bz", "Émile", "zz", "a"}).Draw(r, "name")
			change := `name = $2`
			if list == "contact" {
				change = `first_name = $2, last_name = ''`
			}
			_, err := s.Kit.DB.Pool.Exec(t.Context(), `update `+list+` set `+change+`, last_activity = $3, deleted_at = $4 where id = $1`, m.id, name,
				s.Now().Truncate(time.Second).Add(time.Duration(rapid.IntRange(-50, 50).Draw(r, "hours"))*time.Hour),
				rapid.SampledFrom([]*time.Time{nil, &m.created}).Draw(r, "trashed"))
			require.NoError(r, err)
		}
		require.Equal(r, want, got)
	})
	for _, sort := range []string{"name", "created_at", "-last_activity"} {
		cursor := admin.Get(path + "?per_page=2&sort=" + sort).Is(200).Text("next_cursor")
		admin.Get(path+"?per_page=2&cursor="+cursor).Fails(400, "svc_invalid_cursor")
		admin.Get(path+"?per_page=2&sort=-created_at&cursor="+cursor).Fails(400, "svc_invalid_cursor")
	}
	usual := admin.Get(path + "?per_page=2").Is(200).Text("next_cursor")
	admin.Get(path + "?per_page=2&sort=-created_at&cursor=" + usual).Is(200)
	admin.Get(path+"?sort=phone").Fails(400, "svc_invalid_param")
}

// folded is what the database does to text before it compares, for the letters of these tests.
func folded(s string) string {
	return strings.NewReplacer("ë", "e", "é", "e", "ä", "a", "å", "a", "ß", "ss").Replace(strings.ToLower(s))
}
