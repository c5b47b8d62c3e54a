package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/freeport"
)

// during does a fault again and again for so long, with a pause after each.
func during(t *testing.T, long, each time.Duration, fault func()) {
	t.Helper()
	for until := time.Now().Add(long); time.Now().Before(until); time.Sleep(each) {
		fault()
	}
}

func TestTheBrokerIsDown(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	from := time.Now()
	up := w.System.Down(t, "kafka", syscall.SIGKILL)
	down := lasts(time.Minute, 8*time.Second)
	time.Sleep(down)
	require.Empty(t, l.Failed(from, time.Now()), "writes go on without a broker")
	up()
	w.Report(t, fmt.Sprint("broker down for ", down), l, w.Recovered(t, time.Minute))
}

func TestPostgresIsStoppedAtOnce(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	each := lasts(10*time.Second, 4*time.Second)
	during(t, lasts(time.Minute, 8*time.Second), each, func() { w.System.Down(t, "postgres", syscall.SIGQUIT)() })
	w.System.Healthy(t)
	w.Report(t, fmt.Sprint("pg_ctl stop -m immediate every ", each), l, w.Recovered(t, time.Minute))
}

func TestConnectionsAreCutEachSecond(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	during(t, lasts(time.Minute, 8*time.Second), time.Second, func() {
		var cut int
		require.NoError(t, w.DB.QueryRow(t.Context(), `select count(pg_terminate_backend(pid)) from pg_stat_activity
			where application_name = any($1)`, system.Services).Scan(&cut))
		require.Positive(t, cut)
	})
	w.Report(t, "all connections to Postgres cut each second", l, w.Recovered(t, time.Minute))
}

// What cannot be published must not be stored: the outbox is written in the transaction of the record.
func TestTheOutboxTakesNoRows(t *testing.T) {
	w := start(t)
	_, booking := w.Slots(t)
	form := w.FormToken(t)
	system.Wait()
	l := w.Load(t, 2, 4)
	change := func(format string) {
		for _, s := range system.Services {
			_, err := w.DB.Exec(t.Context(), fmt.Sprintf(format, s))
			require.NoError(t, err)
		}
	}
	change(`create function %[1]s.refuse() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$;
		create trigger refuse before insert on %[1]s.outbox for each row execute function %[1]s.refuse()`)
	began := time.Now()
	email := system.Address("refused")
	calls := []struct {
		from         system.Client
		path         string
		body         any
		status       int
		count, table string
	}{
		{w.Admin, "/contacts", map[string]any{"first_name": "Ada", "email": email}, 201, `email = $1`, "contacts.contact"},
		{w.System.Visitor(), "/booking/book", w.Booking(openDays(t)[300].Format(time.RFC3339), booking, email), 201, `contact_id in (select id from booking.contact where email = $1)`, "booking.appointment"},
		{w.System.Visitor(), "/forms/" + w.Form + "/submit", w.Submission(form, email), 200, `email = $1`, "forms.submission"},
	}
	rows := func(table, condition string) (n int) {
		require.NoError(t, w.DB.QueryRow(t.Context(), `select count(*) from `+table+` where `+condition, email).Scan(&n))
		return n
	}
	for i, c := range calls {
		calls[i].from = c.from.With("Idempotency-Key", uuid.NewString())
		a := calls[i].from.Post(t, c.path, c.body).Fails(503, "svc_unavailable")
		require.NotEmpty(t, a.Header.Get("Retry-After"), c.path)
		require.Zero(t, rows(c.table, c.count), c.path)
	}
	time.Sleep(lasts(20*time.Second, 3*time.Second))
	long := time.Since(began).Round(time.Second)
	change(`drop trigger refuse on %[1]s.outbox; drop function %[1]s.refuse()`)
	for _, c := range calls {
		c.from.Post(t, c.path, c.body).Is(c.status)
	}
	took := w.Recovered(t, time.Minute)
	for _, c := range calls {
		system.Eventually(t, func() bool { return rows(c.table, c.count) == 1 }, c.path)
	}
	w.Report(t, fmt.Sprint("every outbox refuses its rows for ", long), l, took)
}

func TestTheDiskOfPostgresIsFull(t *testing.T) {
	w := start(t)
	data := filepath.Join(w.System.Data, "postgres")
	run := func(name string, args ...string) {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, out)
	}
	up := w.System.Down(t, "postgres", syscall.SIGINT)
	run("cp", "-a", data, data+".disk")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=300m,mode=0700", "frontdesk", data).CombinedOutput(); err != nil {
		t.Skipf("a small disk needs root and mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", data).Run() })
	run("cp", "-a", data+".disk/.", data)
	run("chown", "--reference="+data+".disk", data)
	up()
	w.System.Healthy(t)

	l := w.Load(t, 4, 8)
	time.Sleep(time.Second)
	filler := filepath.Join(data, "filler")
	fill := func() {
		_ = exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=64k", "oflag=append", "conv=notrunc", "status=none").Run()
	} // until there is no room
	began := time.Now()
	during(t, lasts(time.Minute, 15*time.Second), 200*time.Millisecond, fill)
	refused := l.Failed(began, time.Now())
	t.Logf("%d calls were refused, %d were answered meanwhile", len(refused), l.Answered(began, time.Now()))
	for _, r := range refused {
		require.Contains(t, r, ": 503 ", "what cannot be stored is refused with 503")
	}
	require.NotEmpty(t, refused, "the disk was not full")
	require.NoError(t, os.Remove(filler))
	took := w.Recovered(t, 2*time.Minute)
	w.Report(t, "disk of Postgres full", l, took)
}

// Nobody waits for a service that does not move: neither the gateway's calls of others, nor what others do for themselves.
func TestAServiceIsFrozen(t *testing.T) {
	w := start(t)
	for _, name := range system.Services {
		t.Run(name, func(t *testing.T) {
			l := w.Load(t, 4, 8)
			long := lasts(30*time.Second, 5*time.Second)
			var before, while, took time.Duration
			// The machine may be busy with something else for a while. Who waits for a frozen service waits each time.
			for try := 0; try == 0 || while > max(2*before, 300*time.Millisecond); try++ {
				require.Less(t, try, 3, "others wait for %s: their p99 is %s, and was %s before", name, while, before)
				from := time.Now()
				time.Sleep(long)
				frozen := time.Now()
				thaw := w.freeze(t, name)
				time.Sleep(long)
				to := time.Now()
				thaw()
				before, while = l.P99(name, from, frozen), l.P99(name, frozen, to)
				t.Logf("p99 of the others: %s before, %s while %s is frozen", before, while, name)
				took = w.Recovered(t, time.Minute)
				for _, f := range l.Failed(from, to) {
					require.Contains(t, f, " "+name+": ", "others answer")
				}
			}
			l.about += fmt.Sprintf(", p99 of the others %s, before %s", rounded(while), rounded(before))
			w.Report(t, fmt.Sprintf("%s frozen for %s", name, long), l, took)
		})
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// The gateway leaves a replica out that does not move; callers wait for it no longer than the gateway needs to see that.
func TestOneOfTwoReplicasIsFrozen(t *testing.T) {
	w := start(t)
	addresses := []string{freeport.Address(), freeport.Address()}
	serving := []string{"http://" + addresses[0], "http://" + addresses[1]}
	frozen := w.replica(t, "contacts", how{address: addresses[0], serving: serving[:1]})
	w.replica(t, "contacts", how{address: addresses[1], serving: serving})
	w.routed(t, "contacts", serving)
	l := w.Load(t, 4, 8)
	time.Sleep(2 * time.Second)
	frozen.Freeze(t)
	const notices = 7 * time.Second
	time.Sleep(notices)
	from := time.Now()
	long := lasts(30*time.Second, 5*time.Second)
	time.Sleep(long)
	to := time.Now()
	failed := slices.DeleteFunc(l.Failed(from, to), func(f string) bool { return strings.Contains(f, "deadline exceeded") })
	require.Empty(t, failed, "the other replica answers")
	p99 := l.P99("", from, to)
	require.Less(t, p99, time.Second)
	frozen.Thaw(t)
	l.about += fmt.Sprintf(", p99 %s", rounded(p99))
	w.Report(t, fmt.Sprint("one of two replicas of contacts frozen for ", notices+long), l, w.Recovered(t, time.Minute))
}
