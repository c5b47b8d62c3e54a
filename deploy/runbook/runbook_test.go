// Package runbook runs commands of deploy/README.md as they stand there: those that need nothing but a running system.
package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/answer"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// sys is one running system with two replicas of booking.
var sys *system.System

func TestMain(m *testing.M) { os.Exit(withSystem(m)) }

func withSystem(m *testing.M) int {
	var err error
	if sys, err = system.Start(context.Background(), system.Options{Progress: os.Stderr, Env: []string{"SVC_REPLICAS=booking=2", "SVC_FETCH_ALLOW=127.0.0.1"}}); err != nil {
		fmt.Fprintln(os.Stderr, "runbook:", err)
		return 1
	}
	defer sys.Stop()
	code := m.Run()
	if code != 0 {
		sys.Logs(os.Stderr)
	}
	return code
}

// of returns the variables of a service as it runs, and a PATH on which its program and its neighbours are.
func of(t *testing.T, service string, more ...string) []string {
	t.Helper()
	program, env := sys.Program(t, service)
	return append(append(env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH")), more...)
}

// value of a variable in an environment.
func value(t *testing.T, env []string, name string) (v string) {
	t.Helper()
	for _, e := range env {
		if n, found, ok := strings.Cut(e, "="); ok && n == name {
			v = found
		}
	}
	require.NotEmpty(t, v, name)
	return v
}

// booked has a visitor book, and returns the address once its contact, its mail and its webhook are there.
func booked(t *testing.T, d system.Desk, slot int) (email string) {
	t.Helper()
	starts, token := d.Slots(t)
	system.Wait()
	email = system.Address("booker")
	sys.Visitor().Post(t, "/booking/book", d.Booking(starts[slot], token, email)).Is(201)
	system.Eventually(t, func() bool { return len(found(t, d, email)) == 1 }, "no contact "+email)
	sys.ManageToken(t, email, 1)
	system.Eventually(t, func() bool { return webhooks(d, email) == 1 }, "no webhook about "+email)
	d.Hook.NoneRefused(t)
	return email
}

func found(t *testing.T, d system.Desk, email string) []map[string]any {
	t.Helper()
	return d.Admin.Get(t, "/contacts?search="+email).Is(200).Items()
}

// webhooks counts those about a new contact with an address.
func webhooks(d system.Desk, email string) (n int) {
	for _, times := range d.Hook.Events(func(r system.Received) bool {
		contact, _ := r.Data["contact"].(map[string]any)
		return contact["email"] == email
	})["contact.created"] {
		n += times
	}
	return n
}

func person(t *testing.T, d system.Desk, name string) (id string) {
	t.Helper()
	return d.Admin.Post(t, "/contacts", map[string]any{"first_name": "An", "last_name": name, "email": system.Address("an")}).Is(201).Text("id")
}

func TestWhatMakeHasBackedUpComesBack(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	before := person(t, d, "Peeters")
	monday := filepath.Join(t.TempDir(), "monday")
	commands := strings.ReplaceAll(system.Commands(t, "Backup and restore", 1), "/backups/monday", monday)
	backup, restore, both := strings.Cut(commands, "make restore")
	require.True(t, both)
	env := []string{"SVC_DATA_DIR=" + sys.Data, "SVC_ADMIN_PASSWORD=" + system.Password, "DATABASE_URL=", "KAFKA_BROKERS="}
	system.Shell(t, "../..", backup, env...)
	some, err := filepath.Glob(filepath.Join(sys.Data, "backup", "*", "*.dump"))
	require.NoError(t, err)
	require.Len(t, some, 2, "one of each service that was named")
	after := person(t, d, "Maes")
	system.Shell(t, "../..", "make restore"+restore, env...)
	sys.Healthy(t)
	require.Equal(t, "Peeters", d.Admin.Get(t, "/contacts/"+before).Is(200).Text("last_name"))
	d.Admin.Get(t, "/contacts/"+after).Is(404)
	booked(t, d, 0)
}

func TestAServiceGoesBackInAPostgreSQLOfYourOwn(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	id := person(t, d, "Peeters")
	email := booked(t, d, 0)
	dir, admin := system.Elsewhere(t), sys.Now(t).Database
	env := of(t, "contacts")
	service, err := pgx.ParseConfig(value(t, env, "DATABASE_URL"))
	require.NoError(t, err)
	env = append(env, "ADMIN="+admin, "CONTACTS_DB_PASSWORD="+service.Password)
	system.Shell(t, dir, system.Commands(t, "Backup and restore", 2), env...)

	later := person(t, d, "Maes")
	d.Admin.Call(t, "PATCH", "/contacts/"+id, map[string]any{"mode": "overwrite", "last_name": "Claes"}).Is(200)
	second := booked(t, d, 4)
	version := contactVersion(t, id)
	begin := sys.StandIn(t, "contacts")
	said := system.Shell(t, dir, system.Commands(t, "Backup and restore", 3), env...)
	require.Contains(t, said, "contacts: ", "resync prints what it did")
	begin("")

	require.Equal(t, "Peeters", d.Admin.Get(t, "/contacts/"+id).Is(200).Text("last_name"))
	require.Greater(t, contactVersion(t, id), version, "versions only grow")
	d.Admin.Get(t, "/contacts/"+later).Is(404)
	for _, e := range []string{email, second} {
		system.Eventually(t, func() bool { return len(found(t, d, e)) == 1 }, "the contact that a booking promised is not there")
	}
	booked(t, d, 8)
	for _, e := range []string{email, second} {
		require.Len(t, sys.Mails(t, e), 1, "no mail goes out again")
		require.Equal(t, 1, webhooks(d, e), "no webhook goes out again")
	}
}

// engine stands in for Docker: it runs what a command runs inside of a container on the machine itself, where the environment names the servers.
const engine = `#!/bin/bash
set -euo pipefail
case "$*" in
"compose exec -T postgres "*) shift 4; exec "$@" ;;
"compose run --rm database") DATABASE_URL="$ADMIN" exec .run/bin/local provision ;;
"compose run --rm contacts contacts "*) shift 4; exec "$@" ;;
"compose stop contacts" | "compose start contacts") ;; # by the test
*) echo "docker $*: no container does this" >&2; exit 1 ;;
esac
`

// make compose-test runs the same in containers, which needs an engine.
func TestAServiceInContainersGoesBackByTheCommandsOfTheReadme(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	id, email := person(t, d, "Peeters"), booked(t, d, 0)
	dir, tools := system.Elsewhere(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "docker"), []byte(engine), 0o700))
	admin, err := pgx.ParseConfig(sys.Now(t).Database)
	require.NoError(t, err)
	env := of(t, "contacts")
	env = append(env, "PATH="+tools+":"+value(t, env, "PATH"), "ADMIN="+sys.Now(t).Database,
		"PGHOST="+admin.Host, fmt.Sprint("PGPORT=", admin.Port), "PGPASSWORD="+admin.Password)
	for _, name := range system.Services {
		service, err := pgx.ParseConfig(value(t, of(t, name), "DATABASE_URL"))
		require.NoError(t, err)
		env = append(env, strings.ToUpper(name)+"_DB_PASSWORD="+service.Password)
	}
	system.Shell(t, dir, system.Commands(t, "With Docker", 2), env...)
	dumps, err := filepath.Glob(filepath.Join(dir, "monday", "*.dump"))
	require.NoError(t, err)
	require.Len(t, dumps, len(system.Services))

	later := person(t, d, "Maes")
	second := booked(t, d, 4)
	begin := sys.StandIn(t, "contacts")
	said := system.Shell(t, dir, system.Commands(t, "With Docker", 3), env...)
	require.Contains(t, said, "contacts: ", "resync prints what it did")
	begin("")

	require.Equal(t, "Peeters", d.Admin.Get(t, "/contacts/"+id).Is(200).Text("last_name"))
	d.Admin.Get(t, "/contacts/"+later).Is(404)
	for _, e := range []string{email, second} {
		system.Eventually(t, func() bool { return len(found(t, d, e)) == 1 }, "the contact that a booking promised is not there")
	}
	booked(t, d, 8)
	for _, e := range []string{email, second} {
		require.Len(t, sys.Mails(t, e), 1, "no mail goes out again")
		require.Equal(t, 1, webhooks(d, e), "no webhook goes out again")
	}
}

func contactVersion(t *testing.T, id string) (version int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	require.NoError(t, conn.QueryRow(t.Context(), `select version from contacts.contact where id = $1`, id).Scan(&version))
	return version
}

func TestUsersAndRightsAreGivenAtAKafkaOfYourOwn(t *testing.T) {
	sys.Healthy(t)
	now := sys.Now(t)
	raw, err := os.ReadFile(filepath.Join(sys.Data, "secrets.json"))
	require.NoError(t, err)
	var secrets struct {
		KafkaPasswords map[string]string `json:"kafka_passwords"`
	}
	require.NoError(t, json.Unmarshal(raw, &secrets))
	env := []string{"SVC_KAFKA_PARTITIONS=2", "KAFKA_BROKERS=" + now.Kafka, fmt.Sprint("SVC_KAFKA_TLS=", now.KafkaLogin.TLS), "SVC_KAFKA_CA=" + now.KafkaLogin.CA,
		"SVC_KAFKA_CERT=" + now.KafkaLogin.Cert, "SVC_KAFKA_CERT_KEY=" + now.KafkaLogin.Key, "SVC_KAFKA_USER=" + now.KafkaLogin.User, "SVC_KAFKA_PASSWORD=" + now.KafkaLogin.Password}
	for _, user := range proto.Users() {
		env = append(env, strings.ToUpper(user)+"_KAFKA_PASSWORD="+secrets.KafkaPasswords[user])
	}
	rights := system.Shell(t, system.Elsewhere(t), system.Commands(t, "Kafka with TLS, users and rights", 1), env...)
	for _, user := range proto.Users() {
		require.Contains(t, rights, "User:"+user, "the rights are printed")
	}
	booked(t, sys.SetUp(t), 0) // the users still have what they need
}

// The version to come is this one with one more migration, of the table that the load writes to. deploy/chaos upgrades all services, from
// an older commit.
func TestAServiceIsUpgradedUnderLoad(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	next := system.NextVersion(t, "booking", "appointment")
	starts, token := d.Slots(t)
	system.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	var mu sync.Mutex
	var booked, failed []string
	try := func(method, path string, body any) bool {
		a, err := sys.Visitor().Try(context.WithoutCancel(ctx), method, path, body)
		if err == nil && (a.Status == 200 || a.Status == 201) {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, fmt.Sprint(method, " ", path, ": ", a, err))
		return false
	}
	running.Go(func() {
		for _, start := range starts {
			if ctx.Err() != nil {
				return
			}
			if email := system.Address("upgrade"); try(http.MethodPost, "/booking/book", d.Booking(start, token, email)) {
				booked = append(booked, email)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	reads := 0
	running.Go(func() {
		for ; ctx.Err() == nil; reads++ {
			try(http.MethodGet, "/booking/services", nil)
			time.Sleep(5 * time.Millisecond)
		}
	})

	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	before := sys.Now(t).Processes
	system.Shell(t, t.TempDir(), system.Commands(t, "Upgrade", 1), of(t, "booking", "PATH="+filepath.Dir(next)+":"+os.Getenv("PATH"))...)
	var migrated bool
	require.NoError(t, conn.QueryRow(t.Context(), `select exists (select from information_schema.columns where table_schema = 'booking' and column_name = 'next_version')`).Scan(&migrated))
	require.True(t, migrated, "the schema is the next version's")
	for _, name := range []string{"booking", "booking-2"} {
		require.Equal(t, before[name].PID, sys.Now(t).Processes[name].PID, "the version before still serves")
	}
	began := time.Now()
	for _, name := range []string{"booking", "booking-2"} {
		sys.StandIn(t, name)(next)
	}
	took := time.Since(began)
	time.Sleep(time.Second)
	stop()
	running.Wait()
	require.Empty(t, failed)
	require.Greater(t, len(booked), 20)
	t.Logf("two replicas were replaced in %s, during %d bookings and %d reads", took.Round(10*time.Millisecond), len(booked), reads)
	for _, email := range booked {
		system.Eventually(t, func() bool { return len(found(t, d, email)) == 1 }, "no contact "+email)
		system.Eventually(t, func() bool { return len(sys.Mails(t, email)) == 1 && webhooks(d, email) == 1 }, "no mail or webhook about "+email)
	}
}

// The last test, because the launcher's processes have other keys than the data afterwards. The installation has one key for all, as the first
// versions had it, and none that is shared.
func TestZKeysAreChangedWithoutALoss(t *testing.T) {
	sys.Healthy(t)
	processes, launched, before := append([]string{proto.Gateway, "booking-2"}, system.Services...), map[string][]string{}, map[string][]string{}
	for _, p := range processes {
		launched[p] = of(t, p)
	}
	// The data have hashes already: the one key is the one that they were made with.
	one, signed := value(t, launched["settings"], "SVC_SHARED_KEY"), value(t, launched["settings"], "SVC_PUBLIC_KEYS")
	old := strings.Join(trust.RingOf(system.Services, func(string) []string { return []string{one} }).Strings(), ",") + "," + signed

	begin, stop := map[string]func(string, ...string) func(){}, map[string]func(){}
	// everywhere starts all processes anew, one after the other.
	everywhere := func(env func(process string) []string) {
		t.Helper()
		for _, p := range processes {
			if begin[p] == nil {
				begin[p] = sys.StandIn(t, p)
			} else {
				stop[p]()
			}
			stop[p] = begin[p]("", env(p)...)
		}
	}
	everywhere(func(p string) []string {
		env := []string{"SVC_PUBLIC_KEYS=" + old}
		if p != proto.Gateway {
			env = append(env, "SVC_MASTER_KEY="+one, "SVC_SHARED_KEY=", "SVC_OLD_KEYS=")
		}
		before[p] = slices.Concat(launched[p], env)
		return env
	})
	d := sys.SetUp(t)
	booked(t, d, 0)
	people := begun(t, d, value(t, launched["settings"], "SVC_PUBLIC_URL"))
	people.remain(t, d)
	waits := asked(t)

	printed := strings.Split(system.Shell(t, system.Elsewhere(t), system.Commands(t, "New keys", 1), "SVC_MASTER_KEY="+one, "SVC_PUBLIC_KEYS="+old), "\n")
	require.Equal(t, one, value(t, printed, "SVC_SHARED_KEY"))
	both := value(t, printed, "SVC_PUBLIC_KEYS")
	fresh, ok := strings.CutSuffix(both, ","+old)
	require.True(t, ok, "the new public keys stand in front of the old ones")
	with := func(process, public string, keys ...string) []string {
		env := []string{"SVC_PUBLIC_KEYS=" + public}
		if process == proto.Gateway {
			return env
		}
		return append(append(env, "SVC_SHARED_KEY="+one), keys...)
	}
	everywhere(func(p string) []string { return with(p, old+","+fresh, "SVC_MASTER_KEY="+one, "SVC_OLD_KEYS=") })
	booked(t, d, 2)
	master := func(process string) string {
		service, _, _ := strings.Cut(process, "-")
		return "SVC_MASTER_KEY=" + value(t, printed, strings.ToUpper(service)+"_KEY")
	}
	changed := func(p string) []string {
		if p == proto.Gateway {
			return with(p, both)
		}
		return with(p, both, master(p), "SVC_OLD_KEYS="+one)
	}
	everywhere(changed)
	booked(t, d, 4)
	for command := range strings.Lines(system.Commands(t, "New keys", 2)) {
		service, _, _ := strings.Cut(command, " ")
		said := system.Shell(t, t.TempDir(), command, append(before[service], changed(service)...)...)
		require.Contains(t, said, service+": ", "it prints what it did")
		require.NotRegexp(t, ` [1-9][0-9]* remain`, said)
		again := system.Shell(t, t.TempDir(), command, append(before[service], changed(service)...)...)
		require.NotRegexp(t, ` [1-9][0-9]* values`, again, "a second time nothing is left to seal")
	}

	// The old keys, private and public, are gone for good.
	everywhere(func(p string) []string {
		if p == proto.Gateway {
			return with(p, fresh)
		}
		return with(p, fresh, master(p), "SVC_OLD_KEYS=")
	})
	booked(t, d, 6)
	people.remain(t, d)
	waits.isMade(t)
}

// waiting is a call of a key that waits until a person approves it, and is sealed meanwhile.
type waiting struct {
	id, hash, email string
}

// asked has a new key of the administrator ask for a contact.
func asked(t *testing.T) waiting {
	t.Helper()
	made := sys.SignIn(t).Post(t, "/me/application-passwords", map[string]any{"name": "asking", "approval": "writes"}).Is(201)
	w := waiting{email: system.Address("asked")}
	needed := sys.Visitor().As("admin", made.Text("password")).Known(t).Post(t, "/contacts", map[string]any{"email": w.email}).Fails(202, "svc_approval_needed")
	w.id, w.hash = needed.Text("data.approval.id"), needed.Text("data.approval.hash")
	return w
}

// isMade approves the call, whose effects may be others by now, and requires that it was made as it was asked for. Nobody else could approve it.
func (w waiting) isMade(t *testing.T) {
	t.Helper()
	person := sys.SignIn(t)
	for {
		a := person.Post(t, "/approvals/"+w.id+"/approve", map[string]any{"hash": w.hash})
		if a.Status != 412 {
			require.Equal(t, []any{"approved", w.email}, []any{a.Is(200).Field("state"), a.Field("answer.email")})
			return
		}
		w.hash = a.Fails(412, "svc_effects_changed").Text("data.hash")
	}
}

// stored are people whom only hashes under the shared key find.
type stored struct {
	unsubscribed string
	passkey      virtualwebauthn.Credential
	device       virtualwebauthn.Authenticator
	site         virtualwebauthn.RelyingParty
}

// begun has somebody unsubscribe and be erased, and the administrator make a passkey.
func begun(t *testing.T, d system.Desk, address string) *stored {
	t.Helper()
	public, err := url.Parse(address)
	require.NoError(t, err)
	s := &stored{unsubscribed: system.Address("unsubscribed"), device: virtualwebauthn.NewAuthenticator(), passkey: virtualwebauthn.NewCredentialWithImportedKey(virtualwebauthn.KeyTypeEC2, answer.PasskeyKey(t)),
		site: virtualwebauthn.RelyingParty{ID: public.Hostname(), Name: public.Hostname(), Origin: public.Scheme + "://" + public.Host}}
	id := d.Admin.Post(t, "/contacts", map[string]any{"email": s.unsubscribed}).Is(201).Text("id")
	d.Admin.Post(t, "/contacts/"+id+"/marketing/unsubscribe", nil).Is(200)
	d.Admin.Post(t, "/privacy/erase", map[string]any{"email": s.unsubscribed}).Is(200)

	person := sys.SignIn(t)
	challenge := person.Post(t, "/auth/passkeys/options", nil).Is(200)
	options, err := virtualwebauthn.ParseAttestationOptions(optionsOf(t, challenge))
	require.NoError(t, err)
	s.device.Options.UserHandle = []byte(options.UserID)
	s.device.AddCredential(s.passkey)
	made := answerTo(t, challenge, virtualwebauthn.CreateAttestationResponse(s.site, s.device, s.passkey, *options))
	made["name"] = "Phone"
	person.Post(t, "/auth/passkeys", made).Is(201)
	return s
}

// remain requires that the address is known as unsubscribed once more, and that the passkey signs in.
func (s *stored) remain(t *testing.T, d system.Desk) {
	t.Helper()
	again := d.Admin.Post(t, "/contacts", map[string]any{"email": s.unsubscribed}).Is(201)
	require.Equal(t, "unsubscribed", again.Text("marketing"))
	require.EqualValues(t, 1, d.Admin.Post(t, "/privacy/erase", map[string]any{"email": s.unsubscribed}).Is(200).Field("erased"))

	challenge := sys.Visitor().Post(t, "/auth/login/options", nil).Is(200)
	options, err := virtualwebauthn.ParseAssertionOptions(optionsOf(t, challenge))
	require.NoError(t, err)
	s.passkey.Counter++
	sys.Visitor().Post(t, "/auth/login/passkey", answerTo(t, challenge, virtualwebauthn.CreateAssertionResponse(s.site, s.device, s.passkey, *options))).Is(200)
}

// optionsOf are the options of a challenge as a browser gives them to a device.
func optionsOf(t *testing.T, challenge *system.Answer) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"publicKey": challenge.Field("public_key")})
	require.NoError(t, err)
	return string(raw)
}

func answerTo(t *testing.T, challenge *system.Answer, credential string) map[string]any {
	t.Helper()
	var c map[string]any
	require.NoError(t, json.Unmarshal([]byte(credential), &c))
	return map[string]any{"state": challenge.Text("state"), "credential": c}
}
