package chaos

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/proto"
)

var full = flag.Bool("full", false, "faults as long as they are in earnest, not as short as while a test is written")

// lasts is how long a fault takes: with -full, and without.
func lasts(inFull, inShort time.Duration) time.Duration {
	if *full {
		return inFull
	}
	return inShort
}

// world is a system of one test, set up as a business.
type world struct {
	system.Desk
	DB    *pgxpool.Pool // as the database's administrator
	Mails *postbox

	slot atomic.Int64 // the next time that nobody has booked
}

// start starts a system of its own for the test; env are more variables of the launcher.
func start(t *testing.T, env ...string) *world {
	t.Helper()
	return startCheckout(t, "", env...)
}

// startCheckout is start with the programs of another checkout, unless its name is empty.
func startCheckout(t *testing.T, checkout string, env ...string) *world {
	t.Helper()
	w := &world{Mails: openPostbox(t)}
	sys, err := system.Start(t.Context(), system.Options{Checkout: checkout, Env: append([]string{"SVC_KAFKA_PARTITIONS=4", "SVC_SMTP_URL=smtp://" + w.Mails.address}, env...)})
	require.NoError(t, err)
	t.Cleanup(sys.Stop)
	t.Cleanup(func() {
		if t.Failed() {
			sys.Logs(os.Stderr)
		}
	})
	w.DB, err = pgxpool.New(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	t.Cleanup(w.DB.Close)
	w.Desk = sys.SetUp(t)
	w.Admin.Call(t, "PATCH", "/services/"+w.Service, map[string]any{"max_advance_days": 365}).Is(200)
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[fmt.Sprint(day)] = [][]string{{fmt.Sprintf("%02d:00", opens), fmt.Sprintf("%02d:00", closes)}}
	}
	w.Admin.Call(t, "PUT", fmt.Sprintf("/staff/%d/hours", w.User), map[string]any{"hours": hours}).Is(200)
	return w
}

// postbox takes mails over SMTP and remembers which.
type postbox struct {
	address string

	mu    sync.Mutex
	mails []letter
	meet  func(stage, letter) error
}

// stage is where the sender of a mail waits for an answer.
type stage int

const (
	addressed stage = iota // nothing was sent but the recipient
	complete               // all was sent
)

// meets lets meet decide, from now on, whether a mail is taken at each stage; nil takes them all. The sender gets no answer before
// meet returns.
func (p *postbox) meets(meet func(stage, letter) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meet = meet
}

// letter is one mail as it was taken.
type letter struct{ To, Raw string }

func openPostbox(t *testing.T) *postbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &postbox{address: l.Addr().String()}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{postbox: p}, nil }))
	server.EnableSMTPUTF8 = true
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

// sent are the mails so far.
func (p *postbox) sent() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]letter(nil), p.mails...)
}

// count is how many mails an address has got.
func (p *postbox) count(to string) (n int) {
	for _, m := range p.sent() {
		if m.To == to {
			n++
		}
	}
	return n
}

type delivery struct {
	*postbox
	to []string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error { return nil }

func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.to = append(d.to, to)
	return d.met(addressed, letter{To: strings.ToLower(to)})
}

func (d *delivery) met(at stage, l letter) error {
	d.mu.Lock()
	meet := d.meet
	d.mu.Unlock()
	if meet == nil {
		return nil
	}
	return meet(at, l)
}

func (d *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	for _, to := range d.to {
		l := letter{strings.ToLower(to), string(raw)}
		if err := d.met(complete, l); err != nil {
			return err
		}
		d.mu.Lock()
		d.mails = append(d.mails, l)
		d.mu.Unlock()
	}
	return nil
}

func (d *delivery) Reset()        { d.to = nil }
func (d *delivery) Logout() error { return nil }

// freeze stops a process of the launcher without ending it, until thaw is called.
func (w *world) freeze(t *testing.T, name string) (thaw func()) {
	t.Helper()
	pid := w.System.Now(t).Processes[name].PID
	system.Freeze(t, pid)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
}

// unsent is the condition under which a row of the outbox has not reached Kafka.
const unsent = `sent_at is null`

// unfinished says what is still on its way; empty when every outbox is empty, every consumer is at the end of its topics and all
// mails, deliveries and submissions are done. The error is that of a database or a broker that does not answer.
func (w *world) unfinished(ctx context.Context) (left []string, err error) {
	count := func(what, sql string) {
		var n int
		if err == nil {
			if err = w.DB.QueryRow(ctx, sql).Scan(&n); n > 0 {
				left = append(left, fmt.Sprint(n, " ", what))
			}
		}
	}
	for _, s := range system.Services {
		count("messages in the outbox of "+s, `select count(*) from `+s+`.outbox where `+unsent)
	}
	if err != nil {
		return nil, err
	}
	behind, err := w.behind(ctx)
	if err != nil {
		return nil, err
	}
	left = append(left, behind...)
	count("deliveries that wait", `select count(*) from webhooks.delivery where status in ('queued', 'retrying')`)
	count("mails that wait", `select count(*) from settings.mail where status in ('queued', 'retrying')`)
	count("clients without a contact", `select count(*) from booking.contact where version = 0`)
	count("submissions without a result", `select count(*) from forms.submission where status = 'received' and result = 'pending'`)
	return left, err
}

// behind are the partitions that a service has not read to their present end.
func (w *world) behind(ctx context.Context) (behind []string, err error) {
	ends, err := w.ends(ctx)
	if err != nil {
		return nil, err
	}
	return w.before(ctx, ends)
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int
}

// ends are the offsets behind the last message of each partition.
func (w *world) ends(ctx context.Context) (map[place]int64, error) {
	now, err := w.System.State()
	if err != nil {
		return nil, err
	}
	client, _, err := now.Broker()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range proto.Topics {
		names = append(names, t.Name)
	}
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		return nil, err
	}
	ask := map[string][]kafka.OffsetRequest{}
	for _, topic := range meta.Topics {
		for _, p := range topic.Partitions {
			ask[topic.Name] = append(ask[topic.Name], kafka.LastOffsetOf(p.ID))
		}
	}
	answer, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ask})
	if err != nil {
		return nil, err
	}
	ends := map[place]int64{}
	for topic, partitions := range answer.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, p.Error
			}
			ends[place{topic, p.Partition}] = p.LastOffset
		}
	}
	return ends, nil
}

// before are the positions of services that stand before ends.
func (w *world) before(ctx context.Context, ends map[place]int64) (behind []string, err error) {
	for _, s := range system.Services {
		rows, err := w.DB.Query(ctx, `select topic, partition, next from `+s+`.position`)
		if err != nil {
			return nil, err
		}
		var at place
		var next int64
		if _, err := pgx.ForEachRow(rows, []any{&at.topic, &at.partition, &next}, func() error {
			if end := ends[at]; next < end {
				behind = append(behind, fmt.Sprintf("%s is at %d of %d in %s/%d", s, next, end, at.topic, at.partition))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return behind, nil
}

// Settled waits until nothing is on its way any more. There must be no load.
func (w *world) Settled(t *testing.T) {
	t.Helper()
	var left []string
	var err error
	for until := time.Now().Add(3 * time.Minute); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		if left, err = w.unfinished(t.Context()); err == nil && len(left) == 0 {
			return
		}
	}
	require.Fail(t, "it does not settle", "%v %v", left, err)
}

// Recovered waits until all that was committed and sent by now has taken effect everywhere, while load goes on, and returns how long
// that took.
func (w *world) Recovered(t *testing.T, within time.Duration) time.Duration {
	t.Helper()
	began, ctx := time.Now(), t.Context()
	empty := func(what func() ([]string, error)) {
		t.Helper()
		for {
			left, err := what()
			if err == nil && len(left) == 0 {
				return
			}
			if time.Since(began) > within {
				require.Fail(t, "it does not recover in time", "after %s: %v %v", within, left, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	empty(func() (waiting []string, err error) {
		for _, s := range system.Services {
			var n int
			if err := w.DB.QueryRow(ctx, `select count(*) from `+s+`.outbox where created_at < $1 and `+unsent, began).Scan(&n); err != nil {
				return nil, err
			}
			if n > 0 {
				waiting = append(waiting, fmt.Sprint(n, " messages in the outbox of ", s))
			}
		}
		return waiting, nil
	})
	var ends map[place]int64
	empty(func() (_ []string, err error) { ends, err = w.ends(ctx); return nil, err })
	empty(func() ([]string, error) { return w.before(ctx, ends) })
	return time.Since(began)
}
