package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
)

// local runs a command of the launcher on the data folder of the system.
func (w *world) local(t *testing.T, args ...string) {
	t.Helper()
	runLocal(t, w.System.Data, w.Mails, args...)
}

func runLocal(t *testing.T, data string, mails *postbox, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./deploy/local"}, args...)...)
	cmd.Dir, cmd.Env = "../..", localEnv(data, mails)
	out, err := cmd.CombinedOutput()
	t.Logf("local %s:\n%s", strings.Join(args, " "), out)
	require.NoError(t, err)
}

func localEnv(data string, mails *postbox) []string {
	return append(os.Environ(), "DATABASE_URL=", "KAFKA_BROKERS=", "SVC_HTTP_PORT=0", "SVC_DATA_DIR="+data, "SVC_ADMIN_PASSWORD="+system.Password,
		"SVC_RATE_FACTOR=0", "SVC_KAFKA_PARTITIONS=4", "SVC_SMTP_URL=smtp://"+mails.address)
}

// sentOut are how many mails to clients and webhooks have left the system. The administrator gets a mail about each new key.
func (w *world) sentOut() (n [2]int) {
	for _, m := range w.Mails.sent() {
		if !strings.Contains(m.To, "admin@") {
			n[0]++
		}
	}
	n[1] = len(w.Hook.All())
	return n
}

// nothingSentAgain runs f and requires that no mail and no webhook goes out because of it, and that every copy equals its owner.
func (w *world) nothingSentAgain(t *testing.T, f func()) {
	t.Helper()
	before := w.sentOut()
	f()
	w.System.Healthy(t)
	w.Settled(t)
	require.Equal(t, before, w.sentOut(), "mails and webhooks that went out")
	found := &findings{}
	w.checkCopies(t, found)
	require.Empty(t, found.unequal)
}

func (w *world) number(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, w.DB.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

// person makes a contact and returns its id.
func (w *world) person(t *testing.T, email string) string {
	t.Helper()
	return w.Admin.Post(t, "/contacts", map[string]any{"first_name": "An", "last_name": "Peeters", "email": email}).Is(201).Text("id")
}

// visit lets a visitor book and another one write, and returns their addresses.
func (w *world) visit(t *testing.T, slot int) (booker, writer string) {
	t.Helper()
	starts, token := w.Slots(t)
	formToken := w.FormToken(t)
	system.Wait()
	booker, writer = system.Address("booker"), system.Address("writer")
	w.System.Visitor().Post(t, "/booking/book", w.Booking(starts[slot], token, booker)).Is(201)
	w.System.Visitor().Post(t, "/forms/"+w.Form+"/submit", w.Submission(formToken, writer)).Is(200)
	return booker, writer
}

func TestAServiceThatWentBackToABackupAgreesWithTheOthers(t *testing.T) {
	w := start(t)
	kept, erased, winner, loser := system.Address("kept"), system.Address("erased"), system.Address("winner"), system.Address("loser")
	a, gone, win, lose := w.person(t, kept), w.person(t, erased), w.person(t, winner), w.person(t, loser)
	w.visit(t, 0)
	w.Settled(t)
	saved := filepath.Join(t.TempDir(), "backup")
	w.local(t, "backup", saved)

	// The work goes on.
	later := w.person(t, system.Address("later"))
	w.Admin.Call(t, "PATCH", "/contacts/"+a, map[string]any{"mode": "overwrite", "last_name": "Maes"}).Is(200)
	booker, _ := w.visit(t, 4)
	w.Admin.Post(t, "/privacy/erase", map[string]string{"email": erased}).Is(200)
	w.Admin.Post(t, "/contacts/"+win+"/merge", map[string]string{"other_id": lose}).Is(200)
	browser := w.System.SignIn(t)
	key := browser.Post(t, "/me/application-passwords", map[string]string{"name": "later"}).Is(201)
	later2 := w.System.Visitor().As("admin", key.Text("password"))
	w.Settled(t)
	appointments := w.number(t, `select count(*) from booking.appointment`)
	submissions := w.number(t, `select count(*) from forms.submission`)
	version := w.number(t, `select version from contacts.contact where id = $1`, a)

	t.Run("settings alone", func(t *testing.T) {
		w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", "settings", saved) })
		for service, path := range map[string]string{"settings": "/me", "contacts": "/contacts?per_page=1", "booking": "/services", "forms": "/forms", "webhooks": "/webhooks"} {
			for name, c := range map[string]system.Client{"session": browser, "application password": later2} {
				system.Eventually(t, func() bool { return c.Get(t, path).Status == 401 }, service+" still takes a "+name+" from after the backup")
			}
			w.Admin.Get(t, path).Is(200)
		}
		require.Equal(t, version, w.number(t, `select version from contacts.contact where id = $1`, a))
	})

	t.Run("contacts alone", func(t *testing.T) {
		w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", "contacts", saved) })
		require.Equal(t, "Peeters", w.Admin.Get(t, "/contacts/"+a).Is(200).Text("last_name"))
		require.Greater(t, w.number(t, `select version from contacts.contact where id = $1`, a), version, "versions only grow")
		w.Admin.Get(t, "/contacts/"+later).Is(404)
		w.Admin.Get(t, "/contacts/"+gone).Is(404)
		require.Equal(t, appointments, w.number(t, `select count(*) from booking.appointment`))
		require.Equal(t, submissions, w.number(t, `select count(*) from forms.submission`))
		require.EqualValues(t, 1, w.Admin.Get(t, "/contacts?search="+booker).Is(200).Field("total"), "a visitor has the contact that the booking promised")
	})

	t.Run("booking, forms and webhooks, one after the other", func(t *testing.T) {
		for _, s := range []string{"booking", "forms", "webhooks"} {
			w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", s, saved) })
		}
		require.Less(t, w.number(t, `select count(*) from booking.appointment`), appointments)
	})

	t.Run("everything, on a fresh folder", func(t *testing.T) {
		w.visit(t, 8)
		w.Settled(t)
		all := filepath.Join(t.TempDir(), "all")
		w.local(t, "backup", all)
		before := w.sentOut()
		fresh := w.fresh(t, all)
		fresh.System.Healthy(t)
		fresh.Settled(t)
		require.Equal(t, before, w.sentOut(), "mails and webhooks that went out")
		found := &findings{}
		fresh.checkCopies(t, found)
		require.Empty(t, found.unequal)
		for _, table := range []string{"contacts.contact", "booking.appointment", "forms.submission", "settings.person", "webhooks.webhook"} {
			require.Equal(t, w.number(t, `select count(*) from `+table), fresh.number(t, `select count(*) from `+table), table)
		}
		fresh.visit(t, 12)
		fresh.Settled(t)
		require.Greater(t, w.sentOut()[0], before[0])
		require.Greater(t, w.sentOut()[1], before[1])
	})
}

// acknowledged is the load with nothing but what was acknowledged so far.
func (l *load) acknowledged() *load {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &load{w: l.w, mark: l.mark, contacts: maps.Clone(l.contacts), booked: maps.Clone(l.booked), sent: slices.Clone(l.sent)}
}

// checkOlder compares what had been acknowledged when a backup began with the owners' tables, of which some went back to it. A
// contact may have the name that it got after the backup.
func (w *world) checkOlder(t *testing.T, old, l *load) {
	t.Helper()
	f := &findings{}
	stored := w.stored(t, old.mark)
	for id, want := range old.contacts {
		if have, ok := stored[id]; !ok || have.version < want.version || have.last != want.last && have.last != l.contacts[id].last {
			f.lost = append(f.lost, fmt.Sprintf("contact %s is %+v, acknowledged before the backup %+v", id, have, want))
		}
	}
	w.checkBookings(t, old, f)
	w.checkSubmissions(t, old, f)
	require.Equal(t, &findings{}, f)
}

// A backup is no moment of the whole system: each service is dumped by itself, while all of them work.
func TestABackupThatWasTakenUnderLoadBringsBackEveryService(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 8)
	time.Sleep(lasts(30*time.Second, 5*time.Second))
	old := l.acknowledged()
	saved := filepath.Join(t.TempDir(), "backup")
	w.local(t, "backup", saved)
	held, err := os.Stat(saved)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), held.Mode().Perm(), "it holds people's data")
	time.Sleep(lasts(30*time.Second, 5*time.Second))
	l.Stop(t)
	w.Settled(t)
	require.Equal(t, &findings{}, w.Check(t, l))
	require.NotEmpty(t, old.booked)
	require.Greater(t, len(l.booked), len(old.booked))
	for _, s := range system.Services {
		t.Run(s, func(t *testing.T) {
			w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", s, saved) })
			w.checkOlder(t, old, l)
		})
	}
	again := w.Load(t, 4, 4)
	time.Sleep(5 * time.Second)
	took := w.Recovered(t, time.Minute)
	again.about = fmt.Sprintf("%s, %d changes before the backup, then %s", l.about, old.Acknowledged(), again.about)
	w.Report(t, "each service goes back to a backup taken under load", again, took)
}

// A mail or a webhook that waited when the backup was made has gone out since.
func TestWhatWaitedInABackupIsNotSentAgain(t *testing.T) {
	w := start(t)
	for _, c := range []struct {
		where    string
		services []string
		block    func(t *testing.T) (unblock func())
		waits    string // counts what waits
	}{
		{"at a mail server that takes none", []string{"settings"}, func(*testing.T) func() {
			w.Mails.meets(func(stage, letter) error { return &smtp.SMTPError{Code: 451, Message: "come back later"} })
			return func() { w.Mails.meets(nil) }
		}, `select count(*) from settings.mail where status = 'retrying'`},
		{"at a receiver that answers 503", []string{"webhooks"}, func(*testing.T) func() {
			w.Hook.Busy(true)
			return func() { w.Hook.Busy(false) }
		}, `select count(*) from webhooks.delivery where status = 'retrying'`},
		{"in the outboxes, for the broker", []string{"contacts", "booking", "forms"}, func(t *testing.T) func() {
			return w.System.Down(t, "kafka", syscall.SIGTERM)
		}, `select count(*) from booking.outbox where sent_at is null`},
	} {
		t.Run(c.where, func(t *testing.T) {
			w.Settled(t)
			before := w.sentOut()
			unblock := sync.OnceFunc(c.block(t))
			defer unblock()
			booker, _ := w.visit(t, 0)
			w.person(t, system.Address("waiting"))
			until.Holds(t, func() bool { return w.number(t, c.waits) > 0 }, time.Minute, 50*time.Millisecond)
			saved := filepath.Join(t.TempDir(), "backup")
			w.local(t, "backup", "-services", strings.Join(c.services, ","), saved)
			unblock()
			w.System.Healthy(t)
			w.Settled(t)
			require.Greater(t, w.sentOut()[0], before[0])
			require.Greater(t, w.sentOut()[1], before[1])
			for _, s := range c.services {
				w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", s, saved) })
			}
			require.Equal(t, 1, w.Mails.count(booker))
			require.Equal(t, 1, w.number(t, `select count(*) from booking.appointment a join booking.contact c on c.id = a.contact_id where c.email = $1`, booker))
		})
	}
}

// fresh restores a backup into a new data folder, starts a system there and returns it as the same business.
func (w *world) fresh(t *testing.T, backup string) *world {
	t.Helper()
	folder, err := os.MkdirTemp("", "frontdesk-restored-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o755)) // PostgreSQL runs as another user
	data := filepath.Join(folder, "data")
	require.NoError(t, os.Mkdir(data, 0o755))
	secrets, err := os.ReadFile(filepath.Join(w.System.Data, "secrets.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(data, "secrets.json"), secrets, 0o600))
	runLocal(t, data, w.Mails, "restore", backup)

	launcher := filepath.Join(folder, "local")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", launcher, "./deploy/local")
	build.Dir = "../.."
	require.NoError(t, build.Run())
	cmd := exec.Command(launcher, "run")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "../..", localEnv(data, w.Mails), os.Stderr, os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	next := &world{Mails: w.Mails, Desk: w.Desk}
	until.Holds(t, func() bool {
		next.System, err = system.Start(context.Background(), system.Options{Data: data})
		if err != nil {
			return false
		}
		now, err := next.System.State()
		return err == nil && now.Ready
	}, 3*time.Minute, 100*time.Millisecond)
	key := next.System.SignIn(t).Post(t, "/me/application-passwords", map[string]string{"name": "restored"}).Is(201)
	next.Admin = next.System.Visitor().As("admin", key.Text("password"))
	next.DB, err = pgxpool.New(t.Context(), next.System.Now(t).Database)
	require.NoError(t, err)
	t.Cleanup(next.DB.Close)
	return next
}
