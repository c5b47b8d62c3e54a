package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestASessionOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	person := sys.SignIn(t)
	begin := time.Now().Add(-time.Second).UTC().Truncate(time.Second)
	name := "assistant " + uuid.NewString()[:8]
	key := person.Post(t, "/me/application-passwords", map[string]any{"name": name}).Is(201)
	work := sys.Visitor().As("admin", key.Text("password"))
	system.Eventually(t, func() bool { return work.Get(t, "/contacts").Status == 200 }, "the key does not arrive")

	ann := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "Ann", "email": system.Address("ann")}).Is(201).Text("id")
	bo := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "Bo", "email": system.Address("bo")}).Is(201).Text("id")
	made := work.Post(t, "/contacts", map[string]any{"first_name": "Cas", "email": system.Address("cas")}).Is(201).Text("id")
	for _, id := range []string{ann, bo} {
		work.Call(t, "PATCH", "/contacts/"+id, map[string]any{"mode": "overwrite", "first_name": "X"}).Is(200)
		work.Call(t, "PATCH", "/contacts/"+id, map[string]any{"mode": "overwrite", "last_name": "Y"}).Is(200)
	}
	d.Admin.Call(t, "PATCH", "/contacts/"+bo, map[string]any{"mode": "overwrite", "source": "Fair"}).Is(200)
	work.Post(t, "/contacts/"+ann+"/mails", map[string]any{"subject": "Hello", "body": "Hello"}).Is(201)

	asked := map[string]any{"credential_id": key.Text("id"), "from": begin, "to": time.Now().Add(time.Minute).UTC().Truncate(time.Second)}
	system.Eventually(t, func() bool {
		for _, s := range person.Get(t, "/sessions-of-work").Is(200).Items() {
			if s["actor"].(map[string]any)["id"] == key.Text("id") && s["calls"] == 6.0 {
				require.Equal(t, map[string]any{"kind": "key", "name": name, "user_id": float64(d.User), "id": key.Text("id")}, s["actor"])
				return true
			}
		}
		return false
	}, "the session of work is not listed")

	asked["dry_run"] = true
	dry := person.Post(t, "/undo", asked).Is(200)
	require.Equal(t, "X", d.Admin.Get(t, "/contacts/"+ann).Text("first_name"), "a rehearsal changes nothing")
	delete(asked, "dry_run")
	done := person.Post(t, "/undo", asked).Is(200)
	require.Equal(t, dry.Body, done.Body, "the rehearsal has said what would be done")
	require.Equal(t, 3.0, done.Field("undone"))
	require.Len(t, done.Field("kept"), 2)
	require.Equal(t, []any{"update-contact", bo, "changed"}, []any{done.Text("kept.0.operation"), done.Text("kept.0.record.id"), done.Text("kept.0.reason")})
	require.Contains(t, done.Text("kept.0.by"), "integration", "the name of the key that has changed it since")
	require.Equal(t, []any{"write-mail", "sent"}, []any{done.Text("cannot.0.operation"), done.Text("cannot.0.reason")})

	require.Equal(t, []any{"Ann", ""}, []any{d.Admin.Get(t, "/contacts/"+ann).Text("first_name"), d.Admin.Get(t, "/contacts/"+ann).Text("last_name")})
	require.Equal(t, []any{"X", "Fair"}, []any{d.Admin.Get(t, "/contacts/"+bo).Text("first_name"), d.Admin.Get(t, "/contacts/"+bo).Text("source")})
	require.NotNil(t, d.Admin.Get(t, "/contacts/"+made).Field("deleted_at"))
	require.Equal(t, 0.0, person.Post(t, "/undo", asked).Is(200).Field("undone"), "a second time nothing is left")
	require.Equal(t, "person_only", work.Post(t, "/undo", asked).Fails(403, "svc_forbidden").Text("data.reason"))
}

// Two sessions ask two replicas of settings. Both are at the first step when either may take it back.
func TestTwoWhoTakeBackASessionAtOnceTakeEachStepBackOnce(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	person, other, there := sys.SignIn(t), sys.SignIn(t), sys.Beside(t, "settings")
	begin := time.Now().Add(-time.Second).UTC().Truncate(time.Second)
	key := person.Post(t, "/me/application-passwords", map[string]any{"name": "assistant " + uuid.NewString()[:8]}).Is(201)
	work := visitor.As("admin", key.Text("password")).Known(t)

	ann := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "Ann", "email": system.Address("ann")}).Is(201)
	day, label := time.Now().AddDate(0, 6, 0).Format(time.DateOnly), "Dentist "+uuid.NewString()[:8]
	off := d.Admin.Post(t, fmt.Sprintf("/staff/%d/exceptions", d.User), map[string]any{"date_from": day, "label": label}).Is(201).Field("id")
	made := work.Post(t, "/contacts", map[string]any{"first_name": "Cas", "email": system.Address("cas")}).Is(201).Text("id")
	for _, name := range []string{"X", "Y", "Z"} {
		work.Call(t, "PATCH", "/contacts/"+ann.Text("id"), map[string]any{"mode": "overwrite", "first_name": name}).Is(200)
	}
	work.Call(t, "DELETE", fmt.Sprint("/exceptions/", off), nil).Is(204)
	asked := map[string]any{"credential_id": key.Text("id"), "from": begin, "to": time.Now().Add(time.Minute).UTC().Truncate(time.Second)}
	system.Eventually(t, func() bool {
		for _, s := range person.Get(t, "/sessions-of-work").Is(200).Items() {
			if s["actor"].(map[string]any)["id"] == key.Text("id") {
				return s["calls"] == 5.0
			}
		}
		return false
	}, "the session of work is not listed")
	system.Eventually(t, func() bool {
		a, err := other.TryAt(t.Context(), there, "GET", "/me", nil)
		return err == nil && a.Status == 200
	}, "the other replica does not know the session")

	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `lock table booking.deed in share mode`)
	require.NoError(t, err)
	answers := make(chan *system.Answer, 2)
	for client, at := range map[*system.Client]string{&person: sys.Now(t).Gateway, &other: there} {
		go func() {
			a, err := client.TryAt(context.WithoutCancel(t.Context()), at, "POST", "/undo", asked)
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
	}
	system.Eventually(t, func() (both bool) {
		require.NoError(t, conn.QueryRow(t.Context(), `select count(distinct pid) = 2 from pg_locks where not granted`).Scan(&both))
		return both
	}, "the two do not meet")
	require.NoError(t, held.Rollback(t.Context()))
	for range 2 {
		a := <-answers
		require.NotNil(t, a)
		a.T = t
		require.Equal(t, 200, a.Status, a.Body)
		require.Equal(t, []any{5.0, []any{}, []any{}}, []any{a.Field("undone"), a.Value("kept"), a.Value("cannot")}, a.Body)
	}

	left := d.Admin.Get(t, "/exceptions?from="+day+"&to="+day).Is(200).Items()
	require.Len(t, left, 1)
	require.Equal(t, label, left[0]["label"])
	now := d.Admin.Get(t, "/contacts/"+ann.Text("id")).Is(200)
	require.Equal(t, []any{"Ann", `"7"`}, []any{now.Text("first_name"), now.Header.Get("ETag")}, "three changes, each taken back")
	require.NotNil(t, d.Admin.Get(t, "/contacts/"+made).Is(200).Field("deleted_at"))
}
