package chaos

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/db/pgserver"
)

// The commands of the runbook, as they stand in deploy/README.md, take booking to a PostgreSQL of its own.
func TestBookingMovesToMachinesOfItsOwn(t *testing.T) {
	w := start(t)
	booker, _ := w.visit(t, 0)
	w.Settled(t)
	system.Eventually(t, func() bool { return w.Mails.count(booker) == 1 }, "no mail to the client")
	appointments := len(w.Admin.Get(t, "/appointments").Is(200).Items())
	require.Positive(t, appointments)
	server, err := pgserver.Start(t.Context(), pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Tools: "../../.run/tools", Password: "admin", Durable: true})
	require.NoError(t, err)
	t.Cleanup(server.Stop)

	old, err := url.Parse(w.System.Now(t).Database)
	require.NoError(t, err)
	next, err := url.Parse(server.URL())
	require.NoError(t, err)
	next.User, next.Path = url.UserPassword(pgserver.Role("booking"), "secret"), "/"+pgserver.Database
	begin := w.System.StandIn(t, "booking")
	system.Shell(t, system.Elsewhere(t), system.Commands(t, "Booking on machines of its own", 1), "OLD_ADMIN="+old.String(), "OLD="+old.String(),
		"NEW_ADMIN="+server.URL(), "NEW="+next.String(), "BOOKING_DB_PASSWORD=secret")
	_, err = w.DB.Exec(t.Context(), `drop schema booking cascade`)
	require.NoError(t, err, "nobody misses what stays behind")
	begin("", "DATABASE_URL="+next.String())

	require.Len(t, w.Admin.Get(t, "/appointments").Is(200).Items(), appointments)
	second, writer := w.visit(t, 4)
	for _, email := range []string{second, writer} {
		system.Eventually(t, func() bool { return len(w.Admin.Get(t, "/contacts?search="+email).Is(200).Items()) == 1 }, "no contact "+email)
	}
	system.Eventually(t, func() bool { return w.Mails.count(second) == 1 }, "no mail to the second client")
	require.Equal(t, 1, w.Mails.count(booker), "nothing goes out again")
	conn, err := pgx.Connect(t.Context(), next.String())
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	var stored int
	require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from appointment`).Scan(&stored))
	require.Equal(t, appointments+1, stored)
}
