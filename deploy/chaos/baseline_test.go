package chaos

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

func TestWithoutAFaultNothingIsLost(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	from := time.Now()
	time.Sleep(lasts(30*time.Second, 5*time.Second))
	took := w.Recovered(t, 20*time.Second)
	require.Empty(t, l.Failed(from, time.Now()))
	w.Report(t, "none", l, took)
}

// The comparison finds what is missing, twice there, or different: a check that cannot fail proves nothing.
func TestTheComparisonFindsWhatIsWrong(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	time.Sleep(5 * time.Second)
	l.Stop(t)
	w.Settled(t)
	require.Equal(t, &findings{}, w.Check(t, l))
	change := func(sql string) {
		tag, err := w.DB.Exec(t.Context(), sql)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected(), sql)
	}
	change(`delete from contacts.activity where id = (select id from contacts.activity where data->>'event' = 'appointment.booked' limit 1)`)
	change(`delete from forms.submission where id = (select ref from contacts.activity where type = 'submission' order by id desc limit 1)`)
	change(`insert into contacts.activity select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).* from contacts.activity a where type = 'submission' order by a.id limit 1`)
	change(`update booking.contact set last_name = 'Other' where id = (select id from booking.contact limit 1)`)
	f := w.Check(t, l)
	require.NotEmpty(t, f.lost)
	require.NotEmpty(t, f.doubled)
	require.NotEmpty(t, f.unequal)
}

// A far replica is like any other until it is cut off; then neither side gets a word of the other.
func TestAFarReplicaCanBeCutOff(t *testing.T) {
	w := start(t)
	far := w.Far(t, "booking")
	l := w.Load(t, 2, 4)
	from := time.Now()
	far.CutOff(t)
	require.False(t, far.ready())
	time.Sleep(3 * time.Second)
	require.NoError(t, syscall.Kill(far.PID, 0), "it runs on")
	far.Connect(t)
	until.Holds(t, far.ready, 20*time.Second, 100*time.Millisecond)
	took := w.Recovered(t, time.Minute)
	require.Empty(t, l.Failed(from, time.Now()), "the gateway sends it nothing")
	w.Report(t, "one of two replicas of booking cut off for 5 s", l, took)
}
